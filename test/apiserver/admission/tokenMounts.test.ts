/** The volume by which a Pod's containers reach their API server, as kube-apiserver adds it. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t, { serviceAccounts: true })
const HOME = '/api/v1/namespaces/default'
const PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
interface Spec {
  volumes?: { name: string; projected?: { sources: unknown[] } }[]
  containers: { volumeMounts?: object[] }[]
  initContainers?: { volumeMounts?: object[] }[]
}
const pod = (spec: object, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const specOf = async (spec: object, metadata: object = {}): Promise<Spec> =>
  (await api.ok(api.post(`${HOME}/pods?dryRun=All`, pod(spec, metadata)))).spec as Spec
const account = (name: string, more: object = {}) =>
  api.ok(api.post(`${HOME}/serviceaccounts`, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name }, ...more }))
await account('default')
await account('shy', { automountServiceAccountToken: false })

t.test('every container without a mount there gets one, and the Pod the volume', async t => {
  const mine = { name: 'v', mountPath: PATH }
  const {
    volumes = [],
    containers,
    initContainers,
  } = await specOf({
    initContainers: [{ name: 'i', image: 'i' }],
    containers: [
      { name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: '/v' }] },
      { name: 'd', image: 'i', volumeMounts: [mine] },
    ],
    volumes: [{ name: 'v', emptyDir: {} }],
  })
  const name = volumes[1]?.name
  t.match(name, /^kube-api-access-[a-z0-9]{5}$/)
  t.strictSame(volumes, [
    { name: 'v', emptyDir: {} },
    {
      name,
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          {
            downwardAPI: {
              items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
            },
          },
        ],
      },
    },
  ])
  const added = { name, mountPath: PATH, readOnly: true }
  t.strictSame(
    [...containers, ...(initContainers ?? [])].map(({ volumeMounts }) => volumeMounts),
    [[{ name: 'v', mountPath: '/v' }, added], [mine], [added]],
  )
})

t.test('nobody comes to own what is added', async t => {
  const { metadata } = await api.ok(api.post(`${HOME}/pods?dryRun=All`, pod({})))
  t.notMatch(JSON.stringify(metadata.managedFields), /f:volume/)
})

t.test('a volume of that name is used; where nobody needs it there is none', async t => {
  const named = await specOf({ volumes: [{ name: 'kube-api-access-mine', emptyDir: {} }] })
  t.strictSame(named.volumes, [{ name: 'kube-api-access-mine', emptyDir: {} }])
  t.match(named.containers, [{ volumeMounts: [{ name: 'kube-api-access-mine', mountPath: PATH }] }])
  const covered = await specOf({
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: PATH }] }],
    volumes: [{ name: 'v', emptyDir: {} }],
  })
  t.equal(covered.volumes?.length, 1)
  const near = await specOf({
    containers: [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: `${PATH}/` }] }],
    volumes: [{ name: 'v', emptyDir: {} }],
  })
  t.equal(near.volumes?.length, 2, 'paths are compared as text, as upstream')
})

t.test('the Pod decides, then its account', async t => {
  const mounts = async (spec: object) => (await specOf(spec)).volumes?.length ?? 0
  t.equal(await mounts({}), 1)
  t.equal(await mounts({ automountServiceAccountToken: false }), 0)
  t.equal(await mounts({ serviceAccountName: 'shy' }), 0)
  t.equal(await mounts({ serviceAccountName: 'shy', automountServiceAccountToken: true }), 1)
})

t.test('a mirror of a static Pod is left alone', async t => {
  const mirrored = await specOf({ nodeName: 'n' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } })
  t.equal(mirrored.volumes, undefined)
})

t.test('what a webhook could add later gets one too: the second round repeats nothing', async t => {
  const once = await specOf({})
  const twice = await specOf(once)
  t.strictSame(twice.volumes, once.volumes)
  t.strictSame(twice.containers, once.containers)
})

t.test('nothing of this is a fault of the server', async t => t.strictSame(faults, []))
