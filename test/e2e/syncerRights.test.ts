/**
 * The manifest's own rights, beside a real kube-apiserver. The syncer has no more than its lists name and can do all of that. With
 * impersonation the cluster's RBAC decides about each space. Skipped where KUBEBUILDER_ASSETS is not set.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../src/apimachinery/object.ts'
import { LOGICAL_CLUSTERS } from '../../src/apimachinery/resources.ts'
import { syncerId, syncerManifest, toYaml } from '../../src/cli/kubestellar/syncers/syncerManifest.ts'
import { limitArguments, type SyncerLimits } from '../../src/cli/kubestellar/syncers/syncerRights.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { temporaryDir } from '../support/server.ts'
import { at, Center, clientOf, deployment, gone, is, map, register, there } from '../syncer/support/installation.ts'
import { ACCOUNTS, CONFIGS, DEPLOYMENTS, MAPS, NAMESPACES } from '../syncer/support/kinds.ts'
import { Command, until } from '../syncer/support/processes.ts'
import { assetsDir, startRealCluster } from '../syncer/support/realCluster.ts'

const RESOURCES: Record<string, string> = {
  Namespace: 'namespaces',
  ServiceAccount: 'serviceaccounts',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  Role: 'roles',
  RoleBinding: 'rolebindings',
}
const SYNC_TARGET = { name: 'florin', uid: '98df7462-f835-499a-a37d-6d416031763c' }

/** Gives the cluster the manifest's identity; a kubeconfig of it. */
async function identityIn(dir: string, cluster: SpaceClient, admin: string, limits: SyncerLimits): Promise<string> {
  const access = { server: 'https://unused', token: 'unused' }
  const numbers = { replicas: 1, qps: 0, burst: 1 }
  for (const object of syncerManifest({ syncTarget: SYNC_TARGET, access, image: 'i', limits, ...numbers })) {
    const resource = RESOURCES[object.kind]
    if (resource === undefined) continue
    const [group = '', version = ''] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : ['', 'v1']
    const { name = '', namespace } = object.metadata
    const ref = { name, ...(namespace && { namespace }) }
    await cluster.patch({ group, version, resource }, ref, 'apply', object, { fieldManager: 'test', force: true })
  }
  const id = syncerId(SYNC_TARGET)
  const request = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata: { namespace: id, name: id },
  }
  const { status } = await cluster.create(ACCOUNTS, { ...request, spec: {} } as KubeObject, { subresource: 'token' })
  const config = JSON.parse(admin) as { users: unknown }
  config.users = [{ name: 'admin', user: { token: isRecord(status) ? status.token : '' } }]
  const path = join(dir, `${limits.impersonate ? 'impersonating' : 'limited'}.kubeconfig`)
  writeFileSync(path, toYaml(config))
  return path
}

const refusals = (reason: string, count: number) => (object: KubeObject | undefined) =>
  isRecord(object?.status) &&
  isRecord(object.status.refused) &&
  isRecord(object.status.refused.reasons) &&
  object.status.refused.reasons[reason] === count

const noAssets = assetsDir() === undefined && 'KUBEBUILDER_ASSETS is not set'
t.test('a real cluster', { skip: noAssets }, async whole => {
  const dir = temporaryDir(whole)
  const center = new Center(whole, join(dir, 'center'))
  const [asAdmin] = await Promise.all([startRealCluster(whole, join(dir, 'real')), center.start()])
  const admin = readFileSync(asAdmin, 'utf8')
  const cluster = await clientOf(whole, asAdmin)
  const mailbox = await register(center)
  const fromCenter = join(dir, 'syncer.kubeconfig')
  await center.syncerKubeconfig(fromCenter, mailbox)
  const wds = center.in('root:wmw1')
  const syncer = (t: Test, toCluster: string, limits: SyncerLimits): Command =>
    new Command(t, ['syncer', '--from-kubeconfig', fromCenter, '--to-kubeconfig', toCluster, ...limitArguments(limits)])
  const theOne = { name: 'the-one' }

  await whole.test('its rights are enough for what the lists name, and it says what they do not', async t => {
    const limits = { namespaces: ['shop'], kinds: ['configmaps'] }
    const limited = syncer(t, await identityIn(dir, cluster, admin, limits), limits)
    await wds.create(MAPS, map('page', { x: '1' }))
    await wds.create(DEPLOYMENTS, deployment)
    await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
    await until(center.in(mailbox), CONFIGS, theOne, refusals('NotAllowed', 1))
    t.notOk(await until(cluster, DEPLOYMENTS, at('web'), gone))
    await cluster.patch(MAPS, at('page'), 'merge', { data: { x: 'drifted' } })
    await until(cluster, MAPS, at('page'), is('data', { x: '1' }))
    await wds.delete(MAPS, at('page'))
    await until(cluster, MAPS, at('page'), gone)
    t.equal(await limited.end(), 0)
    const forbidden = limited.lines.filter(line => line.includes('forbidden'))
    t.same(forbidden, [], 'it asks for nothing that it may not')
  })

  await whole.test("with impersonation the cluster's RBAC decides about each space", async t => {
    const { metadata } = await wds.get(LOGICAL_CLUSTERS, { name: 'cluster' })
    const user = `orrery:space:${metadata.annotations?.['kcp.io/cluster']}`
    const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
    const subjects = [{ apiGroup: rbac.group, kind: 'User', name: user }]
    const rules = [{ apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['create', 'patch', 'delete'] }]
    const named = { apiVersion: `${rbac.group}/v1`, metadata: { name: 'a-space' } }
    await cluster.create({ ...rbac, resource: 'clusterroles' }, { ...named, kind: 'ClusterRole', rules })
    await cluster.create(
      { ...rbac, resource: 'clusterrolebindings' },
      {
        ...named,
        kind: 'ClusterRoleBinding',
        roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: 'a-space' },
        subjects,
      },
    )
    const limits = { impersonate: true }
    const acting = syncer(t, await identityIn(dir, cluster, admin, limits), limits)
    await wds.create(MAPS, map('page', { x: '1' }))
    const page = await until(cluster, MAPS, at('page'), there)
    t.equal(spaceIn(page), user)
    await until(center.in(mailbox), CONFIGS, theOne, refusals('Forbidden', 1))
    t.notOk(await until(cluster, DEPLOYMENTS, at('web'), gone))
    await acting.said(`User \\"${user}\\" cannot create resource \\"deployments\\"`)
    await wds.delete(MAPS, at('page'))
    await until(cluster, MAPS, at('page'), gone)
    await until(cluster, NAMESPACES, { name: 'shop' }, there)
    t.equal(await acting.end(), 0)
  })
})

function spaceIn(object: KubeObject | undefined): string {
  return `orrery:space:${object?.metadata.annotations?.['edge.kubestellar.io/owner']}`
}
