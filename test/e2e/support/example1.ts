/**
 * KubeStellar's extended example, with its commands, names and manifests. Two clusters have a common workload, guilder a special one, with
 * upsync sets and its status back. The syncers run beside their clusters.
 * @see https://docs.kubestellar.io/release-0.14/Coding%20Milestones/PoC2023q1/example1/
 */
import { execFile, execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { httpClient } from '../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts'
import { pluginHere } from '../../support/runHere.ts'
import { clientOf, gone } from '../../syncer/support/installation.ts'
import { CONFIGS, CRDS, DEPLOYMENTS, MAPS, NAMESPACES } from '../../syncer/support/kinds.ts'
import { type Running, until } from '../../syncer/support/processes.ts'
import { COMMON, CRD, PLACE_COMMON, PLACE_SPECIAL, SPECIAL } from './example1Objects.ts'
import { typedIn } from './typedIn.ts'

const REPLICA_SETS = { group: 'apps', version: 'v1', resource: 'replicasets' }
const SLICES = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'singleplacementslices' }
const WORKSPACES = { group: 'tenancy.kcp.io', version: 'v1alpha1', resource: 'workspaces' }
const CRON_TABS = { group: 'stable.example.com', version: 'v1', resource: 'crontabs' }
const API_SERVICES = { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' }

/** Where it is played. */
export interface Ground {
  readonly dir: string
  /** Kubeconfigs of the administrator: who keeps the inventory and the common workload, and who keeps the special one. */
  readonly inventory: string
  readonly special: string
  /** Runs `orrery` with these arguments, as a cluster. */
  startCluster(args: readonly string[]): Running
  /** Starts a syncer between a mailbox and a cluster. */
  startSyncer(name: string, fromKubeconfig: string, toKubeconfig: string): void
  /** Runs a program of `bin/`, which must end well. */
  type(kubeconfig: string, program: string, ...args: string[]): Promise<string>
}

const status = (object: KubeObject | undefined): Record<string, unknown> => {
  const found = object?.status
  return isRecord(found) ? found : {}
}
const executing = (object: KubeObject | undefined): string | undefined =>
  object?.metadata.annotations?.['kubestellar.io/executing-count']
const locations = (slice: KubeObject | undefined): string[] =>
  ((slice?.destinations ?? []) as { locationName: string }[]).map(each => each.locationName).sort()
const text = (object: KubeObject | undefined): string => JSON.stringify(object?.data ?? {})

/** Why it cannot be played here, for `skip`. */
export function noKubectl(): string | false {
  try {
    execFileSync('kubectl', ['version', '--client'], { stdio: 'ignore' })
    return false
  } catch {
    return 'no kubectl in the PATH'
  }
}

/** Runs a plugin in the test's process, where that it starts is no promise. */
export async function typedHere(kubeconfig: string, program: string, ...args: string[]): Promise<string> {
  const plugin = program === 'kubectl-ws' ? 'ws' : 'kubestellar'
  const { code, out, err } = await pluginHere(plugin, ...args, '--kubeconfig', kubeconfig)
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}\n${err}`)
  return out
}

export async function playExample1(t: Test, ground: Ground): Promise<void> {
  const { options, base } = await loadKubeconfig(ground.inventory)
  const client = httpClient({ ...options, server: base })
  t.teardown(() => client.close())
  const kubectl = async (kubeconfig: string, ...args: string[]): Promise<void> => {
    await promisify(execFile)('kubectl', ['--kubeconfig', kubeconfig, ...args])
  }
  const apply = async (kubeconfig: string, ...objects: KubeObject[]): Promise<void> => {
    const file = join(ground.dir, 'apply.json')
    writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
    await kubectl(kubeconfig, 'apply', '-f', file)
  }
  const kubestellar = (...args: string[]) => ground.type(ground.inventory, 'kubectl-kubestellar', ...args)

  // stage 1: the inventory, and a syncer for each cluster
  await ground.type(ground.inventory, 'kubectl-ws', 'root:imw1')
  await kubestellar('ensure', 'location', 'florin', 'loc-name=florin', 'env=prod')
  await kubestellar('ensure', 'location', 'guilder', 'loc-name=guilder', 'env=prod', 'extended=yes')
  const core = client.in('root:espw')
  const { items: mailboxes } = await core.list(WORKSPACES)
  t.equal(mailboxes.filter(({ metadata }) => metadata.name?.includes('-mb-')).length, 2)
  const mailboxOf = (name: string): SpaceClient => {
    const found = mailboxes.find(
      ({ metadata }) => metadata.annotations?.['edge.kubestellar.io/sync-target-name'] === name,
    )
    return client.in(`root:espw:${found?.metadata.name}`)
  }
  const clusters = new Map<string, SpaceClient>()
  for (const name of ['florin', 'guilder']) {
    const wec = join(ground.dir, name)
    const cluster = ['simulate-wec', '--name', name, '--data-dir', wec, '--secure-port', '0']
    await ground.startCluster(cluster).said('ready')
    const fromCenter = join(ground.dir, `${name}-syncer.kubeconfig`)
    await kubestellar('prep-for-syncer', '--imw', 'root:imw1', name, '--kubeconfig-output', fromCenter)
    const toCluster = join(wec, 'admin.kubeconfig')
    ground.startSyncer(name, fromCenter, toCluster)
    clusters.set(name, await clientOf(t, toCluster))
  }
  const [florin, guilder] = [clusters.get('florin')!, clusters.get('guilder')!]

  // stage 2: the workloads, and where they go
  await kubestellar('ensure', 'wmw', 'wmw-c')
  await apply(ground.inventory, ...COMMON, PLACE_COMMON)
  await ground.type(ground.special, 'kubectl-kubestellar', 'ensure', 'wmw', 'wmw-s')
  await apply(ground.special, CRD)
  await kubectl(ground.special, 'wait', '--for=condition=Established', 'crd/crontabs.stable.example.com')
  await apply(ground.special, ...SPECIAL, PLACE_SPECIAL)
  const [common, special] = [client.in('root:wmw-c'), client.in('root:wmw-s')]
  const both = (slice: KubeObject | undefined): boolean => `${locations(slice)}` === 'florin,guilder'
  await until(common, SLICES, { name: 'edge-placement-c' }, both)
  await until(special, SLICES, { name: 'edge-placement-s' }, slice => `${locations(slice)}` === 'guilder')
  // as docs/travel.md says to find them
  const [find = ''] = typedIn(readFileSync(join(import.meta.dirname, '../../../docs/travel.md'), 'utf8'))
  const env = { ...process.env, KUBECONFIG: ground.special }
  const typed = find.replace('NAME', 'edge-placement-s')
  const { stdout: found } = await promisify(execFile)('bash', ['-ec', typed], { env })
  t.match(found, /^edge-placement-s\b/m)

  // stage 4: what the clusters hold
  for (const [name, cluster] of clusters) {
    const at = { namespace: 'commonstuff', name: 'httpd-htdocs' }
    await until(cluster, MAPS, at, map => text(map).includes(`hosted in ${name}.`))
    const commond = { namespace: 'commonstuff', name: 'commond' }
    await until(cluster, REPLICA_SETS, commond, set => JSON.stringify(set?.spec ?? {}).includes('"env is prod"'))
    await until(cluster, REPLICA_SETS, commond, set => status(set).readyReplicas === 1)
  }
  const speciald = { namespace: 'specialstuff', name: 'speciald' }
  await until(guilder, DEPLOYMENTS, speciald, each => JSON.stringify(each?.spec ?? {}).includes('"in prod env"'))
  await until(guilder, DEPLOYMENTS, speciald, each => status(each).readyReplicas === 1)
  await until(guilder, CRON_TABS, { namespace: 'specialstuff', name: 'my-new-cron-object' }, each => !gone(each))
  await until(guilder, API_SERVICES, { name: 'v1090.example.my' }, each => !gone(each))
  const ofSpecial = { namespace: 'specialstuff', name: 'httpd-htdocs' }
  await until(guilder, MAPS, ofSpecial, map => text(map).includes('Customized for guilder.'))
  const namespace = await guilder.get(NAMESPACES, { name: 'specialstuff' })
  t.equal(namespace.metadata.labels?.special, 'yes')
  await t.rejects(florin.get(NAMESPACES, { name: 'specialstuff' }), { message: /not found/ })
  await t.rejects(florin.get(CRDS, { name: 'crontabs.stable.example.com' }), { message: /not found/ })

  // stage 3: the content of their syncers
  const resourcesOf = (config: KubeObject): string[] =>
    ((config.spec as { namespacedObjects: { resource: string }[] }).namespacedObjects ?? [])
      .map(each => each.resource)
      .sort()
  const groupsOf = (config: KubeObject): string[] =>
    ((config.spec as { upsync: { apiGroup: string }[] }).upsync ?? []).map(each => each.apiGroup).sort()
  const forFlorin = await mailboxOf('florin').get(CONFIGS, { name: 'the-one' })
  t.same(resourcesOf(forFlorin), ['configmaps', 'replicasets'])
  t.same(groupsOf(forFlorin), ['group1.test', 'group2.test'])
  t.notOk((forFlorin.spec as { clusterScope?: unknown[] }).clusterScope?.length)
  const forGuilder = await mailboxOf('guilder').get(CONFIGS, { name: 'the-one' })
  t.same([...new Set(resourcesOf(forGuilder))], ['configmaps', 'crontabs', 'deployments', 'replicasets'])
  t.same(
    groupsOf(forGuilder),
    ['group1.test', 'group2.test', 'group3.test'],
    'the same set of two spaces is there once',
  )
  t.same((forGuilder.spec as { clusterScope: { resource: string }[] }).clusterScope.map(each => each.resource).sort(), [
    'apiservices',
    'customresourcedefinitions',
    'namespaces',
  ])

  // stage 5: the reports in the workload spaces
  const commond = { namespace: 'commonstuff', name: 'commond' }
  const counted = await until(common, REPLICA_SETS, commond, set => executing(set) === '2')
  t.same(status(counted).readyReplicas, undefined, 'two clusters have no one state')
  const told = await until(special, DEPLOYMENTS, speciald, each => status(each).readyReplicas === 1)
  t.equal(executing(told), '1')
}
