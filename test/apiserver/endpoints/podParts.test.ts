/** Parts of pods that change through a door of their own, for `kubectl debug` and `kubectl patch --subresource resize`. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const PODS = '/api/v1/namespaces/default/pods'
type Spec = Record<string, unknown>
const amounts = (cpu: string, memory: string) => ({ cpu, memory })
const container = (more: object = {}) => ({
  name: 'c',
  image: 'i',
  resources: { requests: amounts('1', '1Gi'), limits: amounts('2', '2Gi') },
  ...more,
})
const create = async (name: string, spec: object = {}, metadata: object = {}): Promise<KubeObject> =>
  api.ok(
    api.post(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, ...metadata },
      spec: { containers: [container()], ...spec },
    }),
  )
const debug = (name: string, more: object = {}) => ({
  spec: { ephemeralContainers: [{ name, image: 'busybox', ...more }] },
})
const sized = (resources: object, name = 'c') => ({ spec: { containers: [{ name, resources }] } })

t.test('both are announced', async t => {
  const { resources } = (await api.ok(api.get('/api/v1'))) as unknown as {
    resources: { name: string; verbs: string[] }[]
  }
  for (const name of ['pods/ephemeralcontainers', 'pods/resize']) {
    t.match(
      resources.find(each => each.name === name),
      { kind: 'Pod', namespaced: true, verbs: ['get', 'patch', 'update'] },
      name,
    )
  }
})

t.test('ephemeral containers are added, and stay as they are', async t => {
  const made = await create('p', {}, { labels: { a: 'b' } })
  const path = `${PODS}/p/ephemeralcontainers`
  const change = {
    ...debug('d1', { targetContainerName: 'c', stdin: true, tty: true }),
    metadata: { labels: { a: 'x' } },
  }
  const after = await api.ok(api.patch(path, 'strategic-merge', change))
  t.match((after.spec as Spec).ephemeralContainers, [
    {
      name: 'd1',
      imagePullPolicy: 'Always',
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      targetContainerName: 'c',
    },
  ])
  t.equal(after.metadata.generation, 2)
  t.same(after.metadata.labels, { a: 'b' }, 'nothing else changes')
  t.match(after.metadata.managedFields?.at(-1), { subresource: 'ephemeralcontainers', operation: 'Update' })
  const two = await api.ok(api.patch(path, 'strategic-merge', debug('d2')))
  const names = (two.spec as { ephemeralContainers: { name: string }[] }).ephemeralContainers.map(each => each.name)
  t.same(names.sort(), ['d1', 'd2'])
  t.same(await api.ok(api.get(path)), two)

  const refused = async (patch: object): Promise<string | undefined> =>
    (await api.patch(path, 'merge', patch)).body.message
  t.equal(
    await refused({
      spec: {
        ephemeralContainers: (two.spec as { ephemeralContainers: Spec[] }).ephemeralContainers.filter(
          ({ name }) => name === 'd2',
        ),
      },
    }),
    'Pod "p" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "d1" may not be removed\n',
  )
  const other = structuredClone((two.spec as { ephemeralContainers: Spec[] }).ephemeralContainers)
  other.find(each => each.name === 'd1')!.image = 'other'
  t.equal(
    await refused({ spec: { ephemeralContainers: other } }),
    'Pod "p" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "d1" may not be changed',
  )
  t.equal(made.metadata.uid, two.metadata.uid)
})

t.test('what is no ephemeral container is refused', async t => {
  await create('q')
  const causes = async (more: object): Promise<unknown> => {
    const { body } = await api.patch(`${PODS}/q/ephemeralcontainers`, 'strategic-merge', debug('d', more))
    return body.details?.causes?.map(({ field, message }) => `${field}: ${message}`)
  }
  const not = 'Forbidden: cannot be set for an Ephemeral Container'
  t.same(await causes({ ports: [{ containerPort: 80 }] }), [`spec.ephemeralContainers[0].ports: ${not}`])
  t.same(await causes({ resources: { limits: { cpu: '1' } } }), [`spec.ephemeralContainers[0].resources: ${not}`])
  t.same(await causes({ targetContainerName: 'none' }), [
    'spec.ephemeralContainers[0].targetContainerName: Not found: "none"',
  ])
  t.same(await causes({ name: 'c' }), ['spec.ephemeralContainers[0].name: Duplicate value: "c"'])
  const created = await api.post(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'early' },
    spec: { containers: [container()], ...debug('d').spec },
  })
  t.equal(created.body.message, 'Pod "early" is invalid: spec.ephemeralContainers: Forbidden: cannot be set on create')
  const plain = await api.patch(`${PODS}/q`, 'strategic-merge', debug('d'))
  t.equal(plain.code, 422, 'not through the pod itself')
  t.match(plain.body.message, /^Pod "q" is invalid: spec: Forbidden: pod updates may not change fields other than /)
  const mirror = await create('static', { nodeName: 'n' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } })
  const answer = await api.patch(`${PODS}/${mirror.metadata.name}/ephemeralcontainers`, 'strategic-merge', debug('d'))
  t.equal(
    answer.body.message,
    'Pod "static" is invalid: []: Forbidden: static pods do not support ephemeral containers',
  )
})

t.test('resize changes cpu and memory of containers, and nothing else', async t => {
  await create('r', {
    initContainers: [
      { name: 'side', image: 'i', restartPolicy: 'Always' },
      { name: 'once', image: 'i' },
    ],
  })
  const path = `${PODS}/r/resize`
  const wanted = { requests: amounts('1500m', '1Gi'), limits: amounts('3', '1Gi') }
  const patch = { spec: { containers: [{ name: 'c', image: 'other', resources: wanted }], hostname: 'h' } }
  const after = await api.ok(api.patch(path, 'strategic-merge', patch))
  t.match(after.spec, { containers: [{ name: 'c', image: 'i', resources: wanted }] })
  t.notOk((after.spec as Spec).hostname)
  t.equal(after.metadata.generation, 2)
  t.match(after.metadata.managedFields?.at(-1), { subresource: 'resize' })

  const refused = async (patch: object): Promise<string[] | undefined> => {
    const { body } = await api.patch(path, 'strategic-merge', patch)
    return body.details?.causes?.map(({ field, message }) => `${field}: ${message}`)
  }
  t.same(await refused(sized({ requests: { cpu: '5' } })), [
    'spec.containers[0].resources.requests: Invalid value: "5": must be less than or equal to cpu limit of 3',
  ])
  t.same(await refused(sized({ limits: { cpu: null } })), [
    'spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed',
  ])
  t.same(await refused(sized({ limits: { 'example.com/gpu': '1' }, requests: { 'example.com/gpu': '1' } })), [
    'spec: Forbidden: only cpu and memory resources are mutable',
  ])
  t.same(
    await refused({
      spec: { containers: [{ name: 'c', resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }] },
    }),
    ['spec: Forbidden: only cpu and memory resources are mutable'],
  )
  t.same(await refused({ spec: { containers: [{ name: 'new', image: 'i' }] } }), [
    'spec.containers: Forbidden: containers may not be added or removed on resize',
  ])
  t.same(await refused({ spec: { initContainers: [{ name: 'once', resources: { requests: { cpu: '1' } } }] } }), [
    'spec: Forbidden: resources for non-sidecar init containers are immutable',
  ])
  await api.ok(
    api.patch(path, 'strategic-merge', {
      spec: { initContainers: [{ name: 'side', resources: { requests: { cpu: '1' } } }] },
    }),
  )
})

t.test('the quality of service stays', async t => {
  await create('qos')
  const limits = amounts('2', '2Gi')
  const answer = await api.patch(`${PODS}/qos/resize`, 'strategic-merge', sized({ requests: limits, limits }))
  t.equal(
    answer.body.message,
    'Pod "qos" is invalid: spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
  )
})

t.test('a node that does not know resizing is not asked to', async t => {
  await create('old-node')
  const status = {
    containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: true, restartCount: 0, state: { running: {} } }],
  }
  await api.ok(api.patch(`${PODS}/old-node/status`, 'merge', { status }))
  const answer = await api.patch(
    `${PODS}/old-node/resize`,
    'strategic-merge',
    sized({ requests: amounts('1500m', '1Gi') }),
  )
  t.equal(
    answer.body.message,
    'Pod "old-node" is invalid: spec: Forbidden: Pod running on node without support for resize',
  )
})

t.test('a resize is held to limit ranges and quotas', async t => {
  const home = '/api/v1/namespaces/tight'
  const make = (path: string, kind: string, name: string, spec: object) =>
    api.ok(api.post(path, { apiVersion: 'v1', kind, metadata: { name }, spec }))
  await make('/api/v1/namespaces', 'Namespace', 'tight', {})
  await make(`${home}/limitranges`, 'LimitRange', 'range', { limits: [{ type: 'Container', max: { cpu: '3' } }] })
  await make(`${home}/resourcequotas`, 'ResourceQuota', 'quota', { hard: { 'requests.cpu': '2' } })
  await make(`${home}/pods`, 'Pod', 'p', { containers: [container()] })
  const refused = async (requests: object, limits: object): Promise<string | undefined> =>
    (await api.patch(`${home}/pods/p/resize`, 'strategic-merge', sized({ requests, limits }))).body.message
  t.match(await refused({ cpu: '1' }, { cpu: '4' }), /maximum cpu usage per Container is 3, but limit is 4$/)
  t.equal(
    await refused({ cpu: '2500m' }, { cpu: '3' }),
    'pods "p" is forbidden: exceeded quota: quota, requested: requests.cpu=1500m, used: requests.cpu=1, limited: requests.cpu=2',
  )
  t.notOk(await refused({ cpu: '1500m' }, { cpu: '3' }))
  const quota = await api.ok(api.get(`${home}/resourcequotas/quota`))
  t.match(quota.status, { used: { 'requests.cpu': '1500m' } })
})

t.test('who applies through a sub-resource owns what it changes', async t => {
  await create('s')
  const config = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 's' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1200m' } } }] },
  }
  const after = await api.ok(api.patch(`${PODS}/s/resize?fieldManager=sizer&force=true`, 'apply', config))
  t.match(after.spec, { containers: [{ resources: { requests: { cpu: '1200m', memory: '1Gi' } } }] })
  t.strictSame(after.metadata.managedFields?.find(entry => entry.manager === 'sizer')?.fieldsV1, {
    'f:spec': {
      'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:resources': { 'f:requests': { 'f:cpu': {} } } } },
    },
  })
})

t.test('the server made no mistake of its own', async t => {
  t.same(faults, [])
})
