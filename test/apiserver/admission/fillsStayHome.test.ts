/** Values of the space's own admission stay there; those of its authors, policies and webhooks travel. */
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { withoutDefaults } from '../../../src/placement/content/asDescribed.ts'
import { startTestServer } from '../../support/server.ts'

const { api, server } = await startTestServer(t, { serviceAccounts: true })
const client = embeddedClient({ ...server, component: 'test' }).in('root')
const HOME = '/api/v1/namespaces/default'
const PODS: GroupVersionResource = { group: '', version: 'v1', resource: 'pods' }
const CLAIMS = { ...PODS, resource: 'persistentvolumeclaims' }
const INGRESSES = { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' }
const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
type Fields = Record<string, unknown>
const containers = [{ name: 'c', image: 'i' }]
const OWN = { key: 'spot', operator: 'Exists', effect: 'NoSchedule' }
const NOT_READY = {
  key: 'node.kubernetes.io/not-ready',
  operator: 'Exists',
  effect: 'NoExecute',
  tolerationSeconds: 300,
}

const pod = (name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers, ...spec },
})

/** The spec as clusters are sent it. */
async function sent(kind: GroupVersionResource, name: string): Promise<Fields> {
  const object = await client.get(kind, { namespace: 'default', name })
  return withoutDefaults(object, object).spec as Fields
}
async function make(kind: GroupVersionResource, object: KubeObject): Promise<Fields> {
  await client.create(kind, { ...object, metadata: { ...object.metadata, namespace: 'default' } })
  return await sent(kind, object.metadata.name!)
}

await api.ok(
  api.post(`${HOME}/serviceaccounts`, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default' },
    imagePullSecrets: [{ name: 'pull' }],
  }),
)
const defaultOf = (apiVersion: string, kind: string, annotation: string, more: object) => ({
  apiVersion,
  kind,
  metadata: { name: 'house', annotations: { [annotation]: 'true' } },
  ...more,
})
await api.ok(
  api.post(
    '/apis/storage.k8s.io/v1/storageclasses',
    defaultOf('storage.k8s.io/v1', 'StorageClass', 'storageclass.kubernetes.io/is-default-class', { provisioner: 'p' }),
  ),
)
await api.ok(
  api.post(
    '/apis/networking.k8s.io/v1/ingressclasses',
    defaultOf('networking.k8s.io/v1', 'IngressClass', 'ingressclass.kubernetes.io/is-default-class', {
      spec: { controller: 'example.com/c' },
    }),
  ),
)
await api.ok(
  api.post('/apis/node.k8s.io/v1/runtimeclasses', {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'sandbox' },
    handler: 'h',
    overhead: { podFixed: { cpu: '1' } },
    scheduling: { nodeSelector: { sandbox: 'yes' }, tolerations: [{ key: 'sandbox', operator: 'Exists' }] },
  }),
)

t.test('of a Pod that says little, little travels', async t => {
  t.same(await make(PODS, pod('little')), { containers })
  const account = { serviceAccountName: 'default' }
  t.same(await make(PODS, pod('empty', { priorityClassName: '', serviceAccountName: '' })), { containers })
  t.same(await make(PODS, pod('said', { ...account, priority: 0 })), { containers, ...account, priority: 0 })
  const generated = (await api.ok(
    api.post(`${HOME}/pods`, { ...pod('x'), metadata: { generateName: 'g-' } }),
  )) as KubeObject
  t.same(await sent(PODS, generated.metadata.name!), { containers })
})

t.test('a default PriorityClass of the space stays there', async t => {
  const path = '/apis/scheduling.k8s.io/v1/priorityclasses'
  const object = { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'high' }, value: 7 }
  await api.ok(api.post(path, { ...object, globalDefault: true }))
  t.same(await make(PODS, pod('by-default')), { containers })
  const named = { priorityClassName: 'high' }
  t.same(
    await make(PODS, pod('named', named)),
    { containers, ...named },
    'a name that is said travels without its number',
  )
  await api.ok(api.delete(`${path}/high`))
})

t.test('the own parts of a list or map travel', async t => {
  const [nodeSelector, tolerations] = [{ disk: 'fast' }, [OWN]]
  const own = { runtimeClassName: 'sandbox', nodeSelector, tolerations }
  t.same(await make(PODS, pod('mixed', own)), { containers, ...own })
  const all = [OWN, NOT_READY]
  t.same((await make(PODS, pod('equal', { tolerations: all }))).tolerations, all, 'also where it is as the default')
  t.same(await make(PODS, pod('class', { runtimeClassName: 'sandbox' })), { containers, runtimeClassName: 'sandbox' })
  t.same(await make(PODS, pod('none', { tolerations: [] })), { containers })
})

t.test('updates of every sort keep that', async t => {
  const path = `${HOME}/pods/edited`
  await make(PODS, pod('edited', { tolerations: [OWN] }))
  const read = (await api.ok(api.get(path))) as KubeObject
  const more = { key: 'more', operator: 'Exists' }
  const spec = read.spec as { tolerations: object[] }
  await api.ok(api.put(path, { ...read, spec: { ...spec, tolerations: [...spec.tolerations, more] } }))
  t.same(await sent(PODS, 'edited'), { containers, tolerations: [OWN, more] }, 'an edit of the same list')
  await api.ok(api.patch(path, 'merge', { metadata: { labels: { a: 'b' } } }))
  t.same(await sent(PODS, 'edited'), { containers, tolerations: [OWN, more] })
  const named = [OWN, more, NOT_READY]
  const [, seconds] = spec.tolerations.slice(1)
  await api.ok(api.patch(path, 'merge', { spec: { tolerations: [...named, seconds] } }))
  t.same((await sent(PODS, 'edited')).tolerations, [...named, seconds], 'who names the list says all of it')
  await api.ok(api.patch(path, 'merge', { metadata: { labels: { a: 'c' } } }))
  t.same((await sent(PODS, 'edited')).tolerations, [...named, seconds])

  for (const tolerations of [[OWN], [OWN, more]]) {
    await api.ok(api.patch(`${HOME}/pods/applied?fieldManager=me`, 'apply', pod('applied', { tolerations })))
    t.same(await sent(PODS, 'applied'), { containers, tolerations })
  }
})

t.test('default classes stay; named ones travel', async t => {
  const resources = { requests: { storage: '1Gi' } }
  const claim = (name: string, spec: object = {}): KubeObject => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources, ...spec },
  })
  t.equal((await make(CLAIMS, claim('bare'))).storageClassName, undefined)
  t.equal((await make(CLAIMS, claim('same', { storageClassName: 'house' }))).storageClassName, 'house')
  t.equal((await make(CLAIMS, claim('static', { storageClassName: '' }))).storageClassName, '', 'no class at all')
  const ingress = (name: string, spec: object = {}): KubeObject => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec },
  })
  t.equal((await make(INGRESSES, ingress('bare'))).ingressClassName, undefined)
  t.equal((await make(INGRESSES, ingress('same', { ingressClassName: 'house' }))).ingressClassName, 'house')
})

t.test(
  'what a policy of the space says travels, also in the place of a default or of what admission filled in',
  async t => {
    const spec = (resource: string, group: string, expression: string) => ({
      failurePolicy: 'Fail',
      reinvocationPolicy: 'Never',
      matchConstraints: {
        resourceRules: [{ apiGroups: [group], apiVersions: ['*'], operations: ['CREATE'], resources: [resource] }],
      },
      mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
    })
    const policies = {
      pods: spec('pods', '', 'Object{spec: Object.spec{terminationGracePeriodSeconds: 5, hostNetwork: true}}'),
      tolerations: {
        ...spec('pods', '', ''),
        mutations: [
          {
            patchType: 'JSONPatch',
            jsonPatch: {
              expression: `[JSONPatch{op: "replace", path: "/spec/tolerations/0/tolerationSeconds", value: 7}]`,
            },
          },
        ],
      },
      deployments: spec('deployments', 'apps', 'Object{spec: Object.spec{replicas: 3}}'),
    }
    const path = '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic'
    for (const [name, policy] of Object.entries(policies)) {
      const apiVersion = 'admissionregistration.k8s.io/v1'
      await api.ok(
        api.post(`${path}ies`, { apiVersion, kind: 'MutatingAdmissionPolicy', metadata: { name }, spec: policy }),
      )
      await api.ok(
        api.post(`${path}ybindings`, {
          apiVersion,
          kind: 'MutatingAdmissionPolicyBinding',
          metadata: { name },
          spec: { policyName: name },
        }),
      )
    }
    t.same(await make(PODS, pod('by-policy')), {
      containers,
      terminationGracePeriodSeconds: 5,
      hostNetwork: true,
      tolerations: [{ ...NOT_READY, tolerationSeconds: 7 }],
    })
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers } }
    const deployment: KubeObject = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'by-policy' },
      spec: { selector: { matchLabels: { a: 'b' } }, template },
    }
    t.same(await make(DEPLOYMENTS, deployment), { ...(deployment.spec as object), replicas: 3 })
  },
)
