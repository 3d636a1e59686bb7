/** Deletion: finalizers hold, preconditions protect, finalizers express propagation, namespaces take their content along. */
import t from 'tap'
import { CONFIGMAPS, configMap, startTestServer } from '../support/server.ts'

const { api, faults } = await startTestServer(t)

t.test('a deletion answers with a Status that names what is gone', async t => {
  const made = await api.ok(api.post(CONFIGMAPS, configMap('d-plain')))
  t.match(await api.delete(`${CONFIGMAPS}/d-plain`), {
    code: 200,
    body: {
      kind: 'Status',
      status: 'Success',
      details: { name: 'd-plain', kind: 'configmaps', uid: made.metadata.uid },
    },
  })
  t.equal((await api.get(`${CONFIGMAPS}/d-plain`)).code, 404)
  t.equal((await api.delete(`${CONFIGMAPS}/d-plain`)).code, 404)
})

t.test('options that are wrong delete nothing', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('d-kept')))
  const path = `${CONFIGMAPS}/d-kept`
  const cases: [options: object, code: number, message: RegExp][] = [
    [{ dryRun: 'All' }, 400, /cannot unmarshal string into Go struct field DeleteOptions\.dryRun of type \[\]string/],
    [{ dryRun: ['Some'] }, 422, /^DeleteOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: /],
    [
      { gracePeriodSeconds: '1' },
      400,
      /cannot unmarshal string into Go struct field DeleteOptions\.gracePeriodSeconds/,
    ],
    [{ preconditions: { uid: 3 } }, 400, /cannot unmarshal number into Go struct field .*preconditions\.uid of type /],
    [{ orphanDependents: 'no' }, 400, /orphanDependents of type bool/],
    [{ propagationPolicy: ['Orphan'] }, 400, /propagationPolicy of type /],
  ]
  for (const [options, code, message] of cases) {
    t.match(await api.send('DELETE', path, { body: options }), { code, body: { message } }, JSON.stringify(options))
  }
  t.equal((await api.send('DELETE', path, { body: { dryRun: ['All', 'All'] } })).code, 200)
  t.equal((await api.get(path)).code, 200)
})

t.test('finalizers hold an object until the last one is gone', async t => {
  const path = `${CONFIGMAPS}/d-held`
  const made = await api.ok(
    api.post(CONFIGMAPS, configMap('d-held', { a: '1' }, { finalizers: ['x.io/one', 'x.io/two'] })),
  )
  const watch = await api.watch(
    `${CONFIGMAPS}?watch=1&fieldSelector=metadata.name=d-held&resourceVersion=${made.metadata.resourceVersion}`,
  )
  const deleted = await api.ok(api.delete(path))
  t.match(deleted.metadata, { deletionTimestamp: String, deletionGracePeriodSeconds: 0 })
  const again = await api.ok(api.delete(path))
  t.strictSame(again.metadata, deleted.metadata, 'a second deletion changes nothing')
  t.equal((await api.post(CONFIGMAPS, configMap('d-held'))).code, 409, 'the name is still taken')
  const added = await api.patch(path, 'merge', { metadata: { finalizers: ['x.io/one', 'x.io/two', 'x.io/three'] } })
  t.match(added, { code: 422, body: { message: /no new finalizers can be added if the object is being deleted/ } })
  t.equal((await api.patch(path, 'merge', { data: { a: '2' } })).code, 200, 'it can still be changed')
  await api.ok(api.patch(path, 'merge', { metadata: { finalizers: ['x.io/two'] } }))
  const last = await api.patch(path, 'merge', { metadata: { finalizers: null } })
  t.equal(last.code, 200)
  t.equal((await api.get(path)).code, 404)
  const events = await watch.until(e => e.type === 'DELETED')
  watch.close()
  t.strictSame(
    events.map(e => e.type),
    ['MODIFIED', 'MODIFIED', 'MODIFIED', 'DELETED'],
  )
})

t.test('preconditions', async t => {
  const path = `${CONFIGMAPS}/d-pre`
  const { uid, resourceVersion } = (await api.ok(api.post(CONFIGMAPS, configMap('d-pre')))).metadata
  t.equal((await api.delete(path, { preconditions: { uid: 'other' } })).code, 409)
  t.equal((await api.delete(path, { preconditions: { uid, resourceVersion: '1' } })).code, 409)
  t.equal((await api.delete(path, { preconditions: { uid, resourceVersion } })).code, 200)
})

t.test('propagation', async t => {
  for (const [policy, finalizer] of [
    ['Orphan', 'orphan'],
    ['Foreground', 'foregroundDeletion'],
  ] as const) {
    const name = `d-${policy.toLowerCase()}`
    await api.ok(api.post(CONFIGMAPS, configMap(name)))
    const deleted = await api.ok(api.delete(`${CONFIGMAPS}/${name}?propagationPolicy=${policy}`))
    t.strictSame(deleted.metadata.finalizers, [finalizer])
    t.ok(deleted.metadata.deletionTimestamp)
    await api.ok(api.patch(`${CONFIGMAPS}/${name}`, 'merge', { metadata: { finalizers: null } }))
    t.equal((await api.get(`${CONFIGMAPS}/${name}`)).code, 404)
  }
  await api.ok(api.post(CONFIGMAPS, configMap('d-background')))
  await api.ok(api.delete(`${CONFIGMAPS}/d-background`, { propagationPolicy: 'Background' }))
  t.equal((await api.get(`${CONFIGMAPS}/d-background`)).code, 404)
})

t.test('a Pod that runs is given its grace period', async t => {
  const pods = '/api/v1/namespaces/default/pods'
  const pod = (name: string, nodeName?: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { ...(nodeName && { nodeName }), containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 20 },
  })
  await api.ok(api.post(pods, pod('d-waiting')))
  await api.ok(api.delete(`${pods}/d-waiting`))
  t.equal((await api.get(`${pods}/d-waiting`)).code, 404, 'no node has it: it goes at once')
  await api.ok(api.post(pods, pod('d-running', 'node-1')))
  t.equal((await api.ok(api.delete(`${pods}/d-running`))).metadata.deletionGracePeriodSeconds, 20)
  t.equal((await api.ok(api.delete(`${pods}/d-running?gracePeriodSeconds=5`))).metadata.deletionGracePeriodSeconds, 5)
  await api.ok(api.delete(`${pods}/d-running?gracePeriodSeconds=0`))
  t.equal((await api.get(`${pods}/d-running`)).code, 404)
  await api.ok(api.post(pods, pod('d-patient', 'node-1')))
  const { metadata } = await api.ok(api.delete(`${pods}/d-patient?gracePeriodSeconds=${2n ** 63n - 1n}`))
  t.equal(
    metadata.deletionTimestamp,
    '9999-12-31T23:59:59Z',
    'more time than there are dates ends with the last of them',
  )
  await api.ok(api.delete(`${pods}/d-patient?gracePeriodSeconds=0`))
})

t.test('a namespace on its way out takes nothing new', async t => {
  await api.ok(api.post('/api/v1/namespaces', { metadata: { name: 'd-ns' } }))
  const inside = '/api/v1/namespaces/d-ns/configmaps'
  await api.ok(api.post(inside, configMap('inside')))
  const deleted = await api.ok(api.delete('/api/v1/namespaces/d-ns'))
  t.match(deleted, {
    metadata: { deletionTimestamp: String },
    status: { phase: 'Terminating' },
    spec: { finalizers: ['kubernetes'] },
  })
  const refused = await api.post(inside, configMap('late'))
  t.match(refused, {
    code: 403,
    body: {
      reason: 'Forbidden',
      message:
        'configmaps "late" is forbidden: unable to create new content in namespace d-ns because it is being terminated',
      details: {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace d-ns is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    },
  })
  t.equal(
    (await api.patch(`${inside}/inside`, 'merge', { data: { a: 'b' } })).code,
    200,
    'what is there can still be changed',
  )
  const finalized = await api.put('/api/v1/namespaces/d-ns/finalize', { ...deleted, spec: {} })
  t.equal(finalized.code, 200)
  t.equal((await api.get('/api/v1/namespaces/d-ns')).code, 404, 'its last finalizer lets it go')
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
