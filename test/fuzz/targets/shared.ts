/**
 * Changes of objects that every space shows without storing them, and labels of Pod Security. No other space sees a space's own changes,
 * and a refusal leaves nothing behind.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Fixture } from '../fixtures.ts'
import { hostileText, textOf } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'
import { type Patch, patchOf } from './patches.ts'

const SHARED = [
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/view',
  '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:discovery',
  '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:discovery',
  '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical',
  '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/catch-all',
  '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations/exempt',
  '/apis/apiregistration.k8s.io/v1/apiservices/v1.apps',
] as const

interface SharedCase {
  path: string
  patches: Patch[]
}

/** Small stand-ins: their places are what patches change. */
const shapes: fc.Arbitrary<Fixture> = fc.constantFrom<Fixture>(
  { path: '', object: { metadata: { name: 'view', labels: { a: 'b' }, finalizers: ['x.io/y'] }, rules: [] } as never },
  { path: '', object: { metadata: { name: 'x' }, value: 1, subjects: [], roleRef: { name: 'x' } } as never },
  { path: '', object: { metadata: { name: 'x' }, spec: { rules: [] }, status: { conditions: [] } } as never },
)
const sharedCases: fc.Arbitrary<SharedCase> = fc.record({
  path: fc.constantFrom(...SHARED),
  patches: shapes.chain(shape => fc.array(patchOf(shape), { minLength: 1, maxLength: 4 })),
})

async function changeShared(world: World, { path, patches }: SharedCase): Promise<void> {
  const [mine, other] = [world.spaces.one, world.spaces.two].map(space => `/clusters/${space}${path}`)
  for (const { query, subresource, type, body } of patches) {
    const before = await world.ask({ method: 'GET', path: mine! })
    const asked = query === '' ? '' : `?${query}`
    const { code } = await world.ask({ method: 'PATCH', path: mine! + subresource + asked, type, body })
    const { code: now, text, body: left } = await world.ask({ method: 'GET', path: mine! })
    if (now !== 200) throw new Error(`it is gone: ${now} ${text}`)
    if (code >= 300 && text !== before.text && !isDeepStrictEqual(told(before.body), told(left)))
      throw new Error(`a refusal (${code}) changed it:\n${before.text}\n${text}`)
  }
  const { body } = await world.ask({ method: 'GET', path: other! })
  const { resourceVersion } = body.metadata as Record<string, unknown>
  if (resourceVersion !== '1') throw new Error(`another space sees ${JSON.stringify(body)}`)
  const { code } = await world.ask({ method: 'DELETE', path: mine! })
  if (code !== 403) throw new Error(`a deletion was answered with ${code}`)
}

/** Writers' content of an object: the rules of an aggregated role are its controller's, who may write them at any time. */
function told({ metadata, ...rest }: Record<string, unknown>): unknown {
  if (rest.aggregationRule === undefined) return { metadata, ...rest }
  return { ...rest, rules: undefined, metadata: { ...(metadata as object), resourceVersion: undefined } }
}

const LEVELS = ['privileged', 'baseline', 'restricted']
const LABELS = ['enforce', 'audit', 'warn'].flatMap(mode => [mode, `${mode}-version`])
const labels = fc.dictionary(
  fc.constantFrom(...LABELS).map(label => `pod-security.kubernetes.io/${label}`),
  fc.oneof(fc.constantFrom(...LEVELS, 'latest', 'v1.0', 'v1.25', 'v1.99'), hostileText),
)
const POD: Fixture = {
  path: '',
  object: {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'guarded', annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' } },
    spec: {
      hostNetwork: true,
      securityContext: { sysctls: [{ name: 'a', value: 'b' }], seLinuxOptions: { type: 't' }, runAsUser: 0 },
      volumes: [{ name: 'h', hostPath: { path: '/' } }],
      containers: [
        {
          name: 'c',
          image: 'i',
          ports: [{ containerPort: 1, hostPort: 1 }],
          securityContext: { privileged: true, capabilities: { add: ['X'] }, procMount: 'Unmasked' },
        },
      ],
    },
  },
  parts: ['/resize', '/ephemeralcontainers'],
}
const guardedCases = fc.record({ labels, patches: fc.array(patchOf(POD), { minLength: 1, maxLength: 3 }) })

async function changeGuarded(world: World, one: { labels: object; patches: Patch[] }): Promise<void> {
  const namespace = `/clusters/${world.spaces.one}/api/v1/namespaces/guarded`
  const merge = 'application/merge-patch+json'
  const body = textOf({ metadata: { labels: { ...NONE, ...one.labels } } })
  await world.ask({ method: 'PATCH', path: namespace, type: merge, body })
  const post = { method: 'POST', path: `${namespace}/pods?dryRun=All`, type: 'application/json' }
  await world.ask({ ...post, body: textOf(POD.object) })
  for (const { query, subresource, type, body } of one.patches) {
    const asked = query === '' ? '' : `?${query}`
    await world.ask({ method: 'PATCH', path: `${namespace}/pods/plain${subresource}${asked}`, type, body })
  }
}
const NONE = Object.fromEntries(LABELS.map(label => [`pod-security.kubernetes.io/${label}`, null]))

export const shared: Target = {
  name: 'shared',
  runs: 40,
  async prepare({ api, spaces }) {
    const namespaces = `/clusters/${spaces.one}/api/v1/namespaces`
    await api.ok(api.post(namespaces, { metadata: { name: 'guarded' } }))
    // which controllers may have made first
    await api.post(`${namespaces}/guarded/serviceaccounts`, { metadata: { name: 'default' } })
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await api.ok(api.post(`${namespaces}/guarded/pods`, { metadata: { name: 'plain' }, spec }))
  },
  property: world =>
    fc.asyncProperty(fc.tuple(sharedCases, guardedCases), async ([one, other]) => {
      await changeShared(world, one)
      await changeGuarded(world, other)
    }) as ReturnType<Target['property']>,
}
