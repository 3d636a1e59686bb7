/** Work of a change of webhooks, and of a request beside many of them: counted, not timed. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Expression } from '../../../src/apiserver/admission/admissionCel.ts'
import type { SettingsListener } from '../../../src/apiserver/admission/configurationLog.ts'
import { WebhookConfigurations } from '../../../src/apiserver/admission/webhookConfigurations.ts'
import { validatingWebhooks, type WebhookDeps } from '../../../src/apiserver/admission/webhooks.ts'

const RESOURCE = 'validatingwebhookconfigurations'

/** Configurations `c0`, `c1`, … of a space, and which parts of their webhooks were read. */
function world(count: number, each: number) {
  const read: string[] = []
  const configuration = (name: string): KubeObject => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: Array.from({ length: each }, (_, i) => ({
      name: `w${i}.example.com`,
      get rules() {
        read.push(`${name}/${i}`)
        return [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }]
      },
      matchConditions: [{ name: 'c', expression: 'true' }],
    })),
  })
  const objects = Array.from({ length: count }, (_, i) => configuration(`c${i}`))
  let listener: SettingsListener = () => {}
  const log = {
    has: () => true,
    list: () => objects,
    onChange: (_: unknown, tell: SettingsListener) => {
      listener = tell
    },
  }
  const configurations = new WebhookConfigurations(log, { later: source => ({ source }) as Expression }, RESOURCE)
  return {
    configurations,
    read: () => read.splice(0),
    change: (at: number) => {
      objects[at] = configuration(`c${at}`)
      listener('s', [`c${at}`])
    },
  }
}

t.test('who changes one of many webhook configurations has that one compiled anew', t => {
  const { configurations, change } = world(3, 2)
  const before = configurations.in('s')
  t.same(
    before.map(({ id }) => id),
    ['c0', 'c1', 'c2'].flatMap(name => [`${name}/w0.example.com/0`, `${name}/w1.example.com/1`]),
  )
  const parts = before.map(({ match, conditions }) => ({ match, conditions }))
  change(1)
  const after = configurations.in('s')
  t.same(
    after.map((webhook, i) => webhook === before[i] && webhook.match === parts[i]!.match),
    [true, true, false, false, true, true],
  )
  t.equal(configurations.in('s'), after)
  t.end()
})

t.test('rules of webhooks are compiled when a request is held against them, once', t => {
  const { configurations, read } = world(2, 2)
  const [first] = configurations.in('s')
  t.same(read(), [])
  t.equal(first!.match, first!.match)
  t.ok(read().every(at => at === 'c0/0'))
  t.end()
})

t.test('of thousands of webhooks it is not found out at once whether a request concerns one', t => {
  const type = { group: '', version: 'v1', resource: 'configmaps', namespaced: true }
  const types = { in: () => ({ versions: () => [type] }) }
  const target = {
    space: 's',
    namespace: 'default',
    subresource: '',
    user: { name: 'u', uid: '', groups: [], extra: {} },
  }
  for (const [count, reached, looks] of [
    [10, false, true],
    [2000, true, false],
  ] as const) {
    const { configurations, read } = world(1, count)
    const step = validatingWebhooks({ configurations, types } as unknown as WebhookDeps)
    t.equal(step.reaches!(target, type as never, 'CREATE'), reached, `${count}`)
    t.equal(read().length > 0, looks, `${count}`)
  }
  t.end()
})
