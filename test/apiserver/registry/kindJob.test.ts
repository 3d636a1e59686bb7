/** Large objects of built-in kinds are judged in a thread: what comes of it is what would have come of it on the loop. */
import t, { type Test } from 'tap'
import { isStatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { kindJob } from '../../../src/apiserver/registry/kindJob.ts'
import { LongChecks } from '../../../src/apiserver/registry/longChecks.ts'
import { LoopShare } from '../../../src/program/loopShare.ts'
import { JobError } from '../../../src/program/threadPool.ts'
import { asking, countedTurns, heart, objectOf } from './support.ts'

const fail = async (): Promise<never> => {
  throw new Error('not asked for')
}

/** A registry with a thread, which is played here, and one without; `jobs` counts what the thread was given. */
async function both(t: Test) {
  const asked = { jobs: 0 }
  const runKind: ConstructorParameters<typeof LongChecks>[0]['runKind'] = async ({ input }) => {
    asked.jobs++
    return structuredClone(kindJob(structuredClone(input)))
  }
  const longChecks = new LongChecks({ run: fail, runKind, share: new LoopShare(() => 0) })
  const deps = { turns: countedTurns().turns, longChecks }
  return { asked, threaded: await heart(t, { deps }), plain: await heart(t) }
}

/** Result of a write: the object or the refusal, and the warnings. */
async function told(write: (context: ReturnType<typeof asking>) => Promise<KubeObject>) {
  const context = asking()
  try {
    return { object: await write(context), warnings: context.warnings }
  } catch (error) {
    if (!isStatusError(error)) throw error
    return { status: error.toStatus(), warnings: context.warnings }
  }
}

const ranges = (count: number, of: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => of(i))
const policy = (except: string[]): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'p' },
  spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '::/0', except } }] }] },
})
const service = (loadBalancerSourceRanges: string[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 's' },
  spec: { type: 'LoadBalancer', clusterIP: '10.96.0.9', ports: [{ port: 80 }], loadBalancerSourceRanges },
})
const hex = (i: number): string => `2001:db8:${i.toString(16)}::/48`

for (const [what, object, type] of [
  ['what is right', policy(ranges(5000, hex)), 'networking.k8s.io/v1/networkpolicies'],
  ['what is wrong', policy(ranges(5000, i => (i % 1000 ? hex(i) : 'x'))), 'networking.k8s.io/v1/networkpolicies'],
  ['what is warned of', service(ranges(5000, i => (i % 1000 ? hex(i) : '2001:DB8::/32'))), 'v1/services'],
] as const)
  t.test(what, async t => {
    const { asked, threaded, plain } = await both(t)
    const create = (one: typeof plain) =>
      told(async context => objectOf(await one.registry.create(context, one.type(type), 'n', structuredClone(object))))
    t.strictSame(await create(threaded), await create(plain))
    t.equal(asked.jobs, 1)
  })

t.test('a change', async t => {
  const { asked, threaded, plain } = await both(t)
  const answers = []
  for (const one of [threaded, plain]) {
    const type = one.type('apps/v1/deployments')
    const env = ranges(3000, i => `E${i}`).map(name => ({ name, value: 'v' }))
    const containers = [{ name: 'main', image: 'example.com/main:1', env }]
    const made = (app: string): KubeObject => ({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { app } }, template: { metadata: { labels: { app } }, spec: { containers } } },
    })
    await one.registry.create(asking(), type, 'n', made('a'))
    const change = { replacement: () => made('b') }
    answers.push(
      await told(async context => objectOf(await one.registry.update(context, type, 'n', 'd', change))),
      await told(async context =>
        objectOf(await one.registry.update(context, type, 'n', 'd', { replacement: () => made('a') })),
      ),
    )
  }
  t.match(answers[0], { status: { reason: 'Invalid', message: /field is immutable/ } })
  t.strictSame(answers.slice(0, 2), answers.slice(2))
  t.equal(asked.jobs, 3)
})

t.test('what a thread does not come to the end of is refused', async t => {
  const runKind = async (): Promise<never> => {
    throw new JobError('time', 'took more than 6 s')
  }
  const longChecks = new LongChecks({ run: fail, runKind, share: new LoopShare(() => 0) })
  const { registry, type } = await heart(t, { deps: { turns: countedTurns().turns, longChecks } })
  const object = policy(ranges(5000, hex))
  await t.rejects(registry.create(asking(), type('networking.k8s.io/v1/networkpolicies'), 'n', object), {
    reason: 'Invalid',
    message: /was not checked to its end/,
  })
})
