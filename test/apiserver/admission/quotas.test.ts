/** ResourceQuotas and LimitRanges: what no longer fits is refused, in the words that users know, also under competition. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const core = (namespace: string, resource: string): string => `/api/v1/namespaces/${namespace}/${resource}`

async function namespace(name: string): Promise<string> {
  await api.ok(api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }))
  return name
}
const quota = (name: string, hard: Record<string, string>, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name },
  spec: { hard, ...more },
})
const configMap = (name: string): object => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
const pod = (name: string, resources: object = {}, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }], ...more },
})
const claim = (name: string, storage: string, storageClassName?: string): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage } },
    ...(storageClassName && { storageClassName }),
  },
})
const used = async (place: string, name: string): Promise<unknown> =>
  ((await api.ok(api.get(`${core(place, 'resourcequotas')}/${name}`))) as KubeObject & { status: { used: unknown } })
    .status.used

t.test('objects are counted; what is there already counts too', async t => {
  const ns = await namespace('counts')
  await api.ok(api.post(core(ns, 'configmaps'), configMap('old')))
  const hard = { configmaps: '2', 'count/deployments.apps': '0' }
  await api.ok(api.post(core(ns, 'resourcequotas'), quota('q', hard)))
  await api.ok(api.post(core(ns, 'configmaps'), configMap('new')))
  const { code, body } = await api.post(core(ns, 'configmaps'), configMap('newer'))
  t.equal(code, 403)
  t.equal(
    body.message,
    'configmaps "newer" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2',
  )
  t.strictSame(await used(ns, 'q'), { configmaps: '2', 'count/deployments.apps': '0' })
  t.equal((await api.post(core(ns, 'configmaps'), configMap('new'))).code, 409, 'a name that is taken is not charged')
  t.equal((await api.patch(`${core(ns, 'configmaps')}/new`, 'merge', { data: { a: 'b' } })).code, 200)
  const labels = { a: 'b' }
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  }
  t.match(
    (await api.post(`/apis/apps/v1/namespaces/${ns}/deployments`, deployment)).body.message,
    'count/deployments.apps=1',
  )
})

t.test('of many at the same time exactly as many pass as fit', async t => {
  const ns = await namespace('crowd')
  await api.ok(api.post(core(ns, 'resourcequotas'), quota('q', { secrets: '5' })))
  const secret = (i: number) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: `s-${i}` } })
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => api.post(core(ns, 'secrets'), secret(i))))
  t.equal(answers.filter(answer => answer.code === 201).length, 5)
  t.equal(answers.filter(answer => answer.code === 403).length, 15)
  t.strictSame(await used(ns, 'q'), { secrets: '5' })
})

t.test('a dry run is judged and not charged', async t => {
  const ns = await namespace('dry')
  await api.ok(api.post(core(ns, 'resourcequotas'), quota('q', { configmaps: '1' })))
  for (let i = 0; i < 2; i++)
    t.equal((await api.post(`${core(ns, 'configmaps')}?dryRun=All`, configMap('a'))).code, 201)
  t.strictSame(await used(ns, 'q'), { configmaps: '0' })
})

t.test('pods: what they ask for is summed, and they must say it', async t => {
  const ns = await namespace('pods')
  await api.ok(
    api.post(core(ns, 'resourcequotas'), quota('q', { 'requests.cpu': '1', 'limits.memory': '1Gi', pods: '5' })),
  )
  const silent = await api.post(core(ns, 'pods'), pod('silent'))
  t.equal(
    silent.body.message,
    'pods "silent" is forbidden: failed quota: q: must specify limits.memory for: c; requests.cpu for: c',
  )
  const asking = (cpu: string, memory: string) => ({ requests: { cpu }, limits: { memory } })
  await api.ok(api.post(core(ns, 'pods'), pod('a', asking('600m', '256Mi'))))
  const { body } = await api.post(core(ns, 'pods'), pod('b', asking('600m', '1Gi')))
  t.equal(
    body.message,
    'pods "b" is forbidden: exceeded quota: q, requested: limits.memory=1Gi,requests.cpu=600m, ' +
      'used: limits.memory=256Mi,requests.cpu=600m, limited: limits.memory=1Gi,requests.cpu=1',
  )
  t.strictSame(await used(ns, 'q'), { 'limits.memory': '256Mi', pods: '1', 'requests.cpu': '600m' })
})

t.test('scopes: a quota for best-effort pods leaves others alone', async t => {
  const ns = await namespace('scopes')
  await api.ok(api.post(core(ns, 'resourcequotas'), quota('q', { pods: '0' }, { scopes: ['BestEffort'] })))
  t.equal((await api.post(core(ns, 'pods'), pod('best'))).code, 403)
  t.equal((await api.post(core(ns, 'pods'), pod('better', { requests: { cpu: '1m' } }))).code, 201)
})

t.test('storage and ports: updates that use more are charged', async t => {
  const ns = await namespace('growth')
  const hard = {
    'requests.storage': '3Gi',
    'fast.storageclass.storage.k8s.io/requests.storage': '2Gi',
    'services.nodeports': '2',
  }
  await api.ok(api.post(core(ns, 'resourcequotas'), quota('q', hard)))
  const slow = await api.post(core(ns, 'persistentvolumeclaims'), claim('slow', '4Gi'))
  t.match(slow.body.message, 'requested: requests.storage=4Gi, used: requests.storage=0, limited: requests.storage=3Gi')
  const fast = await api.post(core(ns, 'persistentvolumeclaims'), claim('fast', '3Gi', 'fast'))
  t.match(fast.body.message, 'requested: fast.storageclass.storage.k8s.io/requests.storage=3Gi, used: ')
  const ports = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `p${i}`, port: i + 1 }))
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 's' },
    spec: { type: 'NodePort', ports: ports(1) },
  }
  await api.ok(api.post(core(ns, 'services'), service))
  t.equal((await api.patch(`${core(ns, 'services')}/s`, 'merge', { spec: { ports: ports(2) } })).code, 200)
  const third = await api.patch(`${core(ns, 'services')}/s`, 'merge', { spec: { ports: ports(3) } })
  t.match(
    third.body.message,
    'requested: services.nodeports=1, used: services.nodeports=2, limited: services.nodeports=2',
  )
})

t.test('a request that a second quota refuses is not charged to the first', async t => {
  const ns = await namespace('two')
  await api.ok(api.post(core(ns, 'resourcequotas'), quota('a', { configmaps: '5' })))
  await api.ok(api.post(core(ns, 'resourcequotas'), quota('b', { configmaps: '0' })))
  t.match((await api.post(core(ns, 'configmaps'), configMap('x'))).body.message, 'exceeded quota: b')
  t.strictSame(await used(ns, 'a'), { configmaps: '0' })
})

t.test('limit ranges give what was not said, and say that they did', async t => {
  const ns = await namespace('defaults')
  const limits = [{ type: 'Container', default: { cpu: '500m', memory: '1Gi' }, defaultRequest: { cpu: '100m' } }]
  const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'lr' }, spec: { limits } }
  await api.ok(api.post(core(ns, 'limitranges'), range))
  const made = await api.ok(api.post(core(ns, 'pods'), pod('p', { requests: { cpu: '200m' } })))
  t.match(made.spec, {
    containers: [{ resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '200m', memory: '1Gi' } } }],
  })
  t.equal(
    made.metadata.annotations?.['kubernetes.io/limit-ranger'],
    'LimitRanger plugin set: memory request for container c; cpu, memory limit for container c',
  )
})

t.test('limit ranges refuse what is too little, too much or too uneven', async t => {
  const ns = await namespace('bounds')
  const limits = [
    { type: 'Container', max: { cpu: '1' }, min: { memory: '10Mi' }, maxLimitRequestRatio: { cpu: '5' } },
    { type: 'Pod', max: { memory: '2Gi' } },
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } },
  ]
  const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'lr' }, spec: { limits } }
  await api.ok(api.post(core(ns, 'limitranges'), range))
  const uneven = { requests: { cpu: '100m', memory: '1Mi' }, limits: { cpu: '800m', memory: '3Gi' } }
  t.equal(
    (await api.post(core(ns, 'pods'), pod('p', uneven))).body.message,
    'pods "p" is forbidden: [minimum memory usage per Container is 10Mi, but request is 1Mi, ' +
      'cpu max limit to request ratio per Container is 5, but provided ratio is 8.000000, ' +
      'maximum memory usage per Pod is 2Gi, but limit is 3Gi]',
  )
  const large = { limits: { cpu: '2', memory: '1Gi' } }
  t.match(
    (await api.post(core(ns, 'pods'), pod('p', large))).body.message,
    'maximum cpu usage per Container is 1, but limit is 2',
  )
  const claims = core(ns, 'persistentvolumeclaims')
  t.match(
    (await api.post(claims, claim('c', '6Gi'))).body.message,
    'maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
  )
  t.match(
    (await api.post(claims, claim('c', '1Mi'))).body.message,
    'minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
  )
  t.equal((await api.post(claims, claim('c', '2Gi'))).code, 201)
})

t.test('limit ranges with many limits are not held against a Pod of many containers', async t => {
  const ns = await namespace('many-limits')
  const max = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`example.com/r${i}`, '1']))
  const limits = [{ type: 'Container', max, default: max, defaultRequest: max }]
  const range = { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'lr' }, spec: { limits } }
  await api.ok(api.post(core(ns, 'limitranges'), range))
  const containers = Array.from({ length: 20 }, (_, i) => ({ name: `c${i}`, image: 'i' }))
  const { code, body } = await api.post(core(ns, 'pods'), pod('p', {}, { containers }))
  t.equal(code, 403)
  t.equal(
    body.message,
    'pods "p" is forbidden: its containers times the limits of this namespace\'s LimitRanges are more than 5000, ' +
      'which is more than can be judged: have fewer containers, or fewer limits',
  )
  t.equal((await api.post(core(ns, 'pods'), pod('one'))).code, 201)
})

t.test('a quota names a thousand at most', async t => {
  const ns = await namespace('many-names')
  const hard = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`count/a${i}.e.com`, '5']))
  const quota = (count: number) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard: hard(count) },
  })
  t.match(await api.post(core(ns, 'resourcequotas'), quota(1001)), {
    code: 422,
    body: { message: /spec\.hard: Too many: 1001: must have at most 1000 items/ },
  })
  t.equal((await api.post(core(ns, 'resourcequotas'), quota(1000))).code, 201)
  t.equal((await api.post(core(ns, 'configmaps'), { metadata: { name: 'beside' } })).code, 201)
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
