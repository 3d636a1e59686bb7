/** The default plug-ins for Pods, claims, ingresses and nodes: their changes and refusals. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t, { serviceAccounts: true })
const HOME = '/api/v1/namespaces/default'
const ACCOUNT = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
const pod = (name: string, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
const refusal = async (object: object): Promise<string | undefined> =>
  (await api.post(`${HOME}/pods?dryRun=All`, object)).body.message

t.test('a Pod runs as an account that exists; the default one is waited for', async t => {
  t.equal(
    await refusal(pod('p', { serviceAccountName: 'robot' })),
    'pods "p" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found',
  )
  const [made] = await Promise.all([
    api.ok(api.post(`${HOME}/pods`, pod('early'))),
    api.ok(api.post(`${HOME}/serviceaccounts`, { ...ACCOUNT, imagePullSecrets: [{ name: 'pull' }] })),
  ])
  t.match(made.spec, {
    serviceAccountName: 'default',
    serviceAccount: 'default',
    imagePullSecrets: [{ name: 'pull' }],
  })
})

t.test('priority comes from the class, or from the default class', async t => {
  const classes = '/apis/scheduling.k8s.io/v1/priorityclasses'
  const priorityClass = (name: string, value: number, more: object = {}) => ({
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name },
    value,
    ...more,
  })
  const specOf = async (spec: object) => (await api.ok(api.post(`${HOME}/pods?dryRun=All`, pod('p', spec)))).spec
  t.match(await specOf({}), { priority: 0, preemptionPolicy: 'PreemptLowerPriority' })
  t.match(await specOf({ priorityClassName: 'system-node-critical' }), { priority: 2000001000 })
  t.equal(
    await refusal(pod('p', { priorityClassName: 'nope' })),
    'pods "p" is forbidden: no PriorityClass with name nope was found',
  )
  t.equal(
    await refusal(pod('p', { priority: 5 })),
    'pods "p" is forbidden: the integer value of priority (5) must not be provided in pod spec; ' +
      'priority admission controller computed 0 from the given PriorityClass name',
  )
  await api.ok(api.post(classes, priorityClass('high', 10, { globalDefault: true, preemptionPolicy: 'Never' })))
  t.match(await specOf({}), { priorityClassName: 'high', priority: 10, preemptionPolicy: 'Never' })
  t.equal(
    (await api.post(classes, priorityClass('higher', 11, { globalDefault: true }))).body.message,
    'priorityclasses.scheduling.k8s.io "higher" is forbidden: PriorityClass high is already marked as default. Only one default can exist',
  )
  await api.ok(api.delete(`${classes}/high`))
})

t.test('Pods tolerate troubled nodes for five minutes, unless they say otherwise', async t => {
  const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }
  const { spec } = await api.ok(api.post(`${HOME}/pods?dryRun=All`, pod('p', { tolerations: [own] })))
  const added = {
    key: 'node.kubernetes.io/unreachable',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  }
  t.strictSame((spec as { tolerations: unknown }).tolerations, [own, added])
})

t.test('a Pod can be replaced by a client that knows nothing of what was added', async t => {
  // the volume with the token they have to know, as upstream
  const noToken = { automountServiceAccountToken: false }
  await api.ok(api.post(`${HOME}/pods`, pod('plain', noToken)))
  const again = pod('plain', {
    ...noToken,
    serviceAccountName: 'default',
    containers: [{ name: 'c', image: 'j' }],
    imagePullSecrets: [{ name: 'pull' }],
  })
  const { spec } = await api.ok(api.put(`${HOME}/pods/plain`, again))
  t.match(spec, { priority: 0, containers: [{ image: 'j' }], tolerations: [{}, {}] })
})

t.test('a runtime class must exist; it brings its overhead and says where Pods go', async t => {
  const kata = (spec: object = {}) => pod('p', { runtimeClassName: 'kata', ...spec })
  t.equal(await refusal(kata()), 'pods "p" is forbidden: pod rejected: RuntimeClass "kata" not found')
  const object = {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: { name: 'kata' },
    handler: 'kata',
    overhead: { podFixed: { cpu: '10m' } },
    scheduling: { nodeSelector: { vm: 'yes' }, tolerations: [{ key: 'vm', operator: 'Exists' }] },
  }
  await api.ok(api.post('/apis/node.k8s.io/v1/runtimeclasses', object))
  const asked = kata({ nodeSelector: { zone: 'a' }, tolerations: [{ key: 'own', operator: 'Exists' }] })
  const { spec } = await api.ok(api.post(`${HOME}/pods?dryRun=All`, asked))
  t.match(spec, { overhead: { cpu: '10m' }, nodeSelector: { zone: 'a', vm: 'yes' } })
  t.strictSame(
    (spec as { tolerations: { key: string }[] }).tolerations.map(({ key }) => key.split('/').at(-1)),
    ['own', 'not-ready', 'unreachable', 'vm'],
  )
  t.equal(
    await refusal(kata({ nodeSelector: { vm: 'no' } })),
    'pods "p" is forbidden: conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no',
  )
})

t.test('an overhead is that of the runtime class', async t => {
  const kata = { runtimeClassName: 'kata' }
  t.equal(
    await refusal(pod('p', { ...kata, overhead: { cpu: '20m' } })),
    "pods \"p\" is forbidden: pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  )
  t.equal((await api.post(`${HOME}/pods?dryRun=All`, pod('p', { ...kata, overhead: { cpu: '0.01' } }))).code, 201)
  t.equal(
    await refusal(pod('p', { overhead: { cpu: '10m' } })),
    'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  )
})

t.test('claims and ingresses get the default class, new nodes their taint', async t => {
  const isDefault = (prefix: string) => ({ annotations: { [`${prefix}.kubernetes.io/is-default-class`]: 'true' } })
  const storage = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'x/y' }
  await api.ok(
    api.post('/apis/storage.k8s.io/v1/storageclasses', {
      ...storage,
      metadata: { name: 'fast', ...isDefault('storageclass') },
    }),
  )
  const claim = (more: object) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'c' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
  })
  const classOf = async (more: object) =>
    (
      (await api.ok(api.post(`${HOME}/persistentvolumeclaims?dryRun=All`, claim(more)))).spec as {
        storageClassName?: string
      }
    ).storageClassName
  t.equal(await classOf({}), 'fast')
  t.equal(await classOf({ storageClassName: '' }), '', 'none on purpose')
  const ingressClass = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IngressClass',
    spec: { controller: 'x.example.com/y' },
  }
  await api.ok(
    api.post('/apis/networking.k8s.io/v1/ingressclasses', {
      ...ingressClass,
      metadata: { name: 'web', ...isDefault('ingressclass') },
    }),
  )
  const ingress = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name: 'i' },
    spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
  }
  const made = await api.ok(api.post('/apis/networking.k8s.io/v1/namespaces/default/ingresses', ingress))
  t.match(made.spec, { ingressClassName: 'web' })
  const node = await api.ok(api.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }))
  t.match(node.spec, { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] })
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
