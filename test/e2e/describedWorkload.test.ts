/**
 * A policy engine is installed into a workload space. It acts nowhere in the center, harms nobody there, and arrives whole in a cluster,
 * where it does act. With a simulated cluster, and with a real one where KUBEBUILDER_ASSETS is set.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { temporaryDir } from '../support/server.ts'
import { Center, clientOf, gone, register, there } from '../syncer/support/installation.ts'
import { MAPS, PLACEMENTS } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'
import { HOME, PART_OF, type Part, POLICIES, POLICY_ENGINE } from './support/policyEngine.ts'

const BINDINGS = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }
const ROLES = { ...BINDINGS, resource: 'clusterroles' }
const PODS = { group: '', version: 'v1', resource: 'pods' }
const REVIEWS = { group: 'authorization.k8s.io', version: 'v1', resource: 'subjectaccessreviews' }

const refOf = ({ object }: Part): { namespace?: string; name: string } => {
  const { namespace, name = '' } = object.metadata
  return { ...(namespace !== undefined && { namespace }), name }
}

/** Whether all that one says the other says, too. */
function holds(actual: unknown, described: unknown): boolean {
  if (Array.isArray(described))
    return (
      Array.isArray(actual) &&
      actual.length === described.length &&
      described.every((each, i) => holds(actual[i], each))
    )
  if (!isRecord(described)) return actual === described
  return isRecord(actual) && Object.entries(described).every(([field, value]) => holds(actual[field], value))
}

async function mayGetPods(space: SpaceClient, who: { user?: string; groups?: string[] }): Promise<unknown> {
  const resourceAttributes = { verb: 'list', resource: 'pods', namespace: 'shop' }
  const spec = { user: 'somebody', ...who, resourceAttributes }
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec }
  const { status } = await space.create(REVIEWS, review)
  return isRecord(status) && status.allowed
}
const engine = { user: `system:serviceaccount:${HOME}:guardian-admission` }
const operators = { groups: ['guardian-operators'] }

/** Installs the engine and sees it arrive; `parts`: what the cluster can hold. */
async function installs(t: Test, o: { toCluster: string; dir: string; parts: readonly Part[] }): Promise<void> {
  const { toCluster, dir, parts } = o
  const center = new Center(t, join(dir, 'center'))
  await center.start()
  const cluster = await clientOf(t, toCluster)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  new Command(t, ['syncer', '--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, '--qps', '0'])
  const wds = center.in('root:wmw1')
  for (const { resource, object } of parts) await create(wds, resource, object)
  // what acts in the space itself, and so stays
  const acting = { 'edge.kubestellar.io/natured': 'true' }
  await wds.create(BINDINGS, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'team', labels: { ...PART_OF, ...acting } },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'team' }],
  })
  await wds.create(PLACEMENTS, {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'EdgePlacement',
    metadata: { name: 'guardian' },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      downsync: [
        { labelSelectors: [{ matchLabels: PART_OF }] },
        { apiGroup: 'rbac.authorization.k8s.io', resources: ['clusterrolebindings'] },
      ],
    },
  })

  await t.test('in the center nothing of it acts', async t => {
    const pod = (name: string, namespace: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'of-the-cluster' },
    })
    for (const namespace of ['shop', HOME]) {
      const { spec } = await wds.create(PODS, pod('free', namespace))
      t.ok(isRecord(spec) && Array.isArray(spec.containers))
      t.same((spec as { containers: { resources?: object }[] }).containers[0]?.resources ?? {}, {})
    }
    for (const who of [engine, operators]) t.equal(await mayGetPods(wds, who), false)
    const token = { group: '', version: 'v1', resource: 'serviceaccounts/guardian-admission/token' }
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: { namespace: HOME },
      spec: {},
    }
    await t.rejects(wds.create(token, request), { reason: 'Forbidden', message: /describes an account of clusters/ })
    const old = await wds.get({ ...POLICIES, version: 'v1beta1' }, { name: 'no-latest' })
    t.match(old.spec, { match: 'pods', deny: ':latest' }, 'no webhook is asked to convert it')
  })

  await t.test('in the cluster all of it is as it was described', async () => {
    for (const part of parts) {
      const { apiVersion: _version, kind: _kind, metadata: _metadata, ...described } = part.object
      await until(cluster, part.resource, refOf(part), object => object !== undefined && holds(object, described))
    }
  })

  await t.test('there it acts, and what acts in the center is not there', async t => {
    t.equal(await mayGetPods(cluster, operators), true)
    for (const name of ['team', 'workspace-admin']) await until(cluster, BINDINGS, { name }, gone)
    t.equal(await mayGetPods(wds, { groups: ['team'] }), true)
    const copies = await center.in(mailbox).list(BINDINGS, { labelSelector: 'edge.kubestellar.io/projected=yes' })
    const names = copies.items.map(({ metadata }) => metadata.name)
    t.same(names.sort(), ['guardian:core', 'guardian:operators'])
    for (const who of [engine, operators]) t.equal(await mayGetPods(center.in(mailbox), who), false, 'nor on the way')
  })

  await t.test('what the cluster makes of it stays there, and it goes as it came', async t => {
    const core = await wds.get(ROLES, { name: 'guardian:core' })
    t.notOk(core.rules, 'a role that gathers is filled where it acts')
    const quota = await wds.get(
      { group: '', version: 'v1', resource: 'resourcequotas' },
      { namespace: HOME, name: 'guardian' },
    )
    t.notOk(isRecord(quota.status) && quota.status.used)
    await wds.delete(MAPS, { namespace: HOME, name: 'guardian' })
    await until(cluster, MAPS, { namespace: HOME, name: 'guardian' }, gone)
  })
}

/** A custom resource waits for its definition. */
async function create(space: SpaceClient, resource: Part['resource'], object: KubeObject): Promise<void> {
  if (resource.group === POLICIES.group) {
    const definitions = { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' }
    await until(space, definitions, { name: `${resource.resource}.${resource.group}` }, crd =>
      JSON.stringify(crd?.status ?? {}).includes('"Established"'),
    )
  }
  await space.create(resource, object)
}

t.test('a simulated cluster', async t => {
  const dir = temporaryDir(t)
  const args = ['simulate-wec', '--name', 'florin', '--data-dir', join(dir, 'wec'), '--secure-port', '0']
  const wec = new Command(t, args)
  await wec.said('ready')
  const toCluster = join(dir, 'wec', 'admin.kubeconfig')
  await installs(t, { toCluster, dir, parts: POLICY_ENGINE })
  const cluster = await clientOf(t, toCluster)
  await until(cluster, ROLES, { name: 'guardian:core' }, role => JSON.stringify(role?.rules ?? []).includes('"pods"'))
  t.equal(await mayGetPods(cluster, engine), true, 'the role that gathers is filled there')
  await t.rejects(
    cluster.create(PODS, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: HOME },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
    { message: /webhook/ },
  )
})

const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test('a real cluster of an older release', { skip: noAssets }, async t => {
  const dir = temporaryDir(t)
  const toCluster = await startRealCluster(t, join(dir, 'real'))
  const parts = POLICY_ENGINE.filter(({ recent }) => recent !== true)
  await installs(t, { toCluster, dir, parts })
  const cluster = await clientOf(t, toCluster)
  await until(
    cluster,
    { group: 'apps', version: 'v1', resource: 'deployments' },
    { namespace: HOME, name: 'guardian-admission' },
    there,
  )
})
