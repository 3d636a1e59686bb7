/** Owners and what they own. Nothing makes Pods here, so each scenario makes what the workload controllers would have made. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { goes, pod, podTemplate, reaches, startCluster } from './cluster.ts'

const { api, namespace, faults } = await startCluster(t)
const path = await namespace('gc')
const APPS = '/apis/apps/v1/namespaces/gc'
const CONTROLLERS = `${path}/replicationcontrollers`
const JOBS = '/apis/batch/v1/namespaces/gc/jobs'

const owner = ({ apiVersion, kind, metadata }: KubeObject, more: object = {}): object => ({
  apiVersion,
  kind,
  name: metadata.name,
  uid: metadata.uid,
  ...more,
})
const make = (collection: string, object: object): Promise<KubeObject> => api.ok(api.post(collection, object))

function controller(name: string): Promise<KubeObject> {
  const labels = { gc: name }
  const spec = { replicas: 2, selector: labels, template: podTemplate(labels) }
  return make(CONTROLLERS, { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name }, spec })
}

function podsOf(owners: readonly object[], names: readonly string[]): Promise<KubeObject[]> {
  return Promise.all(names.map(name => make(`${path}/pods`, pod(name, {}, { ownerReferences: owners }))))
}

/** A Deployment with the ReplicaSet and the Pod that its controllers would have made. */
async function deployment(name: string): Promise<void> {
  const labels = { gc: name }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template: podTemplate(labels) }
  const top = await make(`${APPS}/deployments`, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec })
  const ownerReferences = [owner(top, { controller: true, blockOwnerDeletion: true })]
  const metadata = { name: `${name}-set`, ownerReferences }
  const set = await make(`${APPS}/replicasets`, { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec })
  await podsOf([owner(set, { controller: true, blockOwnerDeletion: true })], [`${name}-pod`])
}

const refs = ({ metadata }: KubeObject): number => metadata.ownerReferences?.length ?? 0
const deletion = (propagationPolicy: string): object => ({ kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy })

// Garbage collector should delete pods created by rc when not orphaning
t.test('background: the owner goes at once, its Pods after it', async t => {
  const rc = await controller('background')
  await podsOf([owner(rc)], ['background-0', 'background-1'])
  await api.ok(api.delete(`${CONTROLLERS}/background`, deletion('Background')))
  t.equal((await api.get(`${CONTROLLERS}/background`)).code, 404)
  for (const name of ['background-0', 'background-1']) await goes(api, `${path}/pods/${name}`)
})

// Garbage collector should orphan pods created by rc if delete options say so
t.test('orphan: the Pods stay, without the owner', async t => {
  const rc = await controller('orphan')
  const names = Array.from({ length: 10 }, (_, n) => `orphan-${n}`)
  await podsOf([owner(rc)], names)
  await api.ok(api.delete(`${CONTROLLERS}/orphan`, deletion('Orphan')))
  await goes(api, `${CONTROLLERS}/orphan`)
  for (const name of names) t.equal(refs(await api.ok(api.get(`${path}/pods/${name}`))), 0, name)
})

// Garbage collector should orphan pods created by rc if deleteOptions.OrphanDependents is nil
t.test('nothing said: the Pods of a ReplicationController and of a Job stay', async t => {
  const rc = await controller('unsaid')
  const job = await make(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'unsaid' },
    spec: { template: { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } } },
  })
  await podsOf([owner(rc)], ['unsaid-0'])
  await podsOf([owner(job)], ['unsaid-1'])
  const warnings: unknown[] = []
  for (const path of [`${CONTROLLERS}/unsaid`, `${JOBS}/unsaid`]) {
    const { body, headers } = await api.delete(path)
    t.match(body.metadata, { deletionTimestamp: String, finalizers: ['orphan'] })
    warnings.push(headers.warning)
    await goes(api, path)
  }
  for (const name of ['unsaid-0', 'unsaid-1']) {
    t.equal(refs(await api.ok(api.get(`${path}/pods/${name}`))), 0, name)
  }
  const why =
    '299 - "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning"'
  t.strictSame(warnings, [undefined, why])
})

// Garbage collector should delete RS created by deployment when not orphaning
t.test('background: what the owned own goes too', async t => {
  await deployment('chain')
  await api.ok(api.delete(`${APPS}/deployments/chain`, deletion('Background')))
  await goes(api, `${APPS}/replicasets/chain-set`)
  await goes(api, `${path}/pods/chain-pod`)
  t.pass()
})

// Garbage collector should orphan RS created by deployment when deleteOptions.PropagationPolicy is Orphan
t.test('orphan: only the owner itself is let go of', async t => {
  await deployment('let-go')
  await api.ok(api.delete(`${APPS}/deployments/let-go`, deletion('Orphan')))
  await goes(api, `${APPS}/deployments/let-go`)
  t.equal(refs(await api.ok(api.get(`${APPS}/replicasets/let-go-set`))), 0, 'the ReplicaSet is free')
  t.equal(refs(await api.ok(api.get(`${path}/pods/let-go-pod`))), 1, 'the Pod is still owned')
})

// Garbage collector should keep the rc around until all its pods are deleted if the deleteOptions says so
t.test('foreground: the owner is the last to go', async t => {
  const rc = await controller('foreground')
  const ownerReferences = [owner(rc, { blockOwnerDeletion: true })]
  await make(`${path}/pods`, pod('foreground-0', {}, { ownerReferences, finalizers: ['example.com/hold'] }))
  await podsOf(ownerReferences, ['foreground-1'])
  await api.ok(api.delete(`${CONTROLLERS}/foreground`, deletion('Foreground')))
  await goes(api, `${path}/pods/foreground-1`)
  await reaches(api, `${path}/pods/foreground-0`, ({ metadata }) => metadata.deletionTimestamp !== undefined)
  const { metadata } = await api.ok(api.get(`${CONTROLLERS}/foreground`))
  t.ok(metadata.deletionTimestamp && metadata.finalizers?.includes('foregroundDeletion'), 'it waits for its last Pod')
  await api.ok(api.patch(`${path}/pods/foreground-0`, 'merge', { metadata: { finalizers: null } }))
  await goes(api, `${CONTROLLERS}/foreground`)
})

// Garbage collector should not delete dependents that have both valid owner and owner that's waiting for dependents
t.test('a Pod with another living owner stays, and loses the one that goes', async t => {
  const [going, staying] = await Promise.all([controller('to-be-deleted'), controller('to-stay')])
  const first = owner(going, { blockOwnerDeletion: true })
  await podsOf([first], ['single-0', 'single-1'])
  await podsOf([first, owner(staying)], ['both-0', 'both-1'])
  await api.ok(api.delete(`${CONTROLLERS}/to-be-deleted`, deletion('Foreground')))
  await goes(api, `${CONTROLLERS}/to-be-deleted`)
  for (const name of ['single-0', 'single-1']) t.equal((await api.get(`${path}/pods/${name}`)).code, 404, name)
  for (const name of ['both-0', 'both-1']) {
    const { metadata } = await api.ok(api.get(`${path}/pods/${name}`))
    t.equal(metadata.deletionTimestamp, undefined, `${name} stays`)
    t.match(metadata.ownerReferences, [{ name: 'to-stay' }], `${name} has the living owner`)
  }
})

// Garbage collector should not be blocked by dependency circle
t.test('a circle of owners goes when one of it is deleted', async t => {
  const made = await podsOf([], ['pod1', 'pod2', 'pod3'])
  const own = (name: string, by: KubeObject): Promise<unknown> => {
    const ownerReferences = [owner(by, { controller: true, blockOwnerDeletion: true })]
    return api.ok(api.patch(`${path}/pods/${name}`, 'merge', { metadata: { ownerReferences } }))
  }
  await Promise.all([own('pod1', made[2]!), own('pod2', made[0]!), own('pod3', made[1]!)])
  await api.ok(api.delete(`${path}/pods/pod1`, deletion('Foreground')))
  for (const name of ['pod1', 'pod2', 'pod3']) await goes(api, `${path}/pods/${name}`)
  t.pass()
})

// Garbage collector should support cascading deletion of custom resources; should support orphan deletion of them
t.test('custom resources own and are owned like everything else', async t => {
  const group = 'gc.example.com'
  await api.ok(
    api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `owners.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'owners', kind: 'Owner' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }),
  )
  await reaches(api, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/owners.${group}`, ({ status }) =>
    JSON.stringify(status).includes('"type":"Established"'),
  )
  const owners = `/apis/${group}/v1/owners`
  for (const policy of ['Background', 'Orphan']) {
    const name = policy.toLowerCase()
    const top = await make(owners, { apiVersion: `${group}/v1`, kind: 'Owner', metadata: { name } })
    const metadata = { name: `${name}-dependent`, ownerReferences: [owner(top)] }
    await make(owners, { apiVersion: `${group}/v1`, kind: 'Owner', metadata })
    await api.ok(api.delete(`${owners}/${name}`, deletion(policy)))
    await goes(api, `${owners}/${name}`)
  }
  await goes(api, `${owners}/background-dependent`)
  t.equal(refs(await api.ok(api.get(`${owners}/orphan-dependent`))), 0)
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
