/** The scenario: inventory, two workloads, customization, upsync, singleton status, troubles, a rollout; each expected outcome is checked. */
import { join } from 'node:path'
import { isRecord } from '../src/apimachinery/object.ts'
import {
  conditionOf,
  destinations,
  environment,
  executing,
  exists,
  mailboxOf,
  page,
  present,
  ready,
  reasonOf,
  syncerConfig,
} from './expectations.ts'
import type { Observer } from './observer.ts'
import { runRollout } from './rollout.ts'
import type { Stage } from './stage.ts'
import { runTroubles } from './troubles.ts'

export interface Timing {
  ms: number
  what: string
}
export interface Timings {
  down: Timing
  up: Timing
}

const MANIFESTS = join(import.meta.dirname, 'manifests')
const manifest = (name: string): string => join(MANIFESTS, name)

export async function runScenario(stage: Stage): Promise<Timings> {
  const { shell, kubeconfig, print, title } = stage
  const florin = stage.clusters.get('florin')!
  const guilder = stage.clusters.get('guilder')!

  title('Inventory: a SyncTarget and a Location for each cluster')
  await shell.plugin(kubeconfig, ['ws', 'root:imw1'])
  await shell.plugin(kubeconfig, ['kubestellar', 'ensure', 'location', 'florin', 'loc-name=florin', 'env=prod'])
  await shell.plugin(kubeconfig, [
    'kubestellar',
    'ensure',
    'location',
    'guilder',
    'loc-name=guilder',
    'env=prod',
    'extended=yes',
  ])
  const inventory = await stage.observeSpace('root:imw1')
  for (const kind of ['synctargets', 'locations'])
    await present(inventory, `${kind}.edge.kubestellar.io`, ['florin', 'guilder'])
  await shell.show(kubeconfig, 'get', 'synctargets,locations', '--show-labels')

  title('A syncer beside each cluster, with an identity of its own in its mailbox space')
  const core = await stage.observeSpace('root:espw')
  const mailboxes = new Map<string, Observer>()
  const syncerKubeconfig = (name: string): string => join(stage.dir, `${name}-syncer.kubeconfig`)
  for (const name of ['florin', 'guilder']) {
    const file = syncerKubeconfig(name)
    await shell.plugin(kubeconfig, [
      'kubestellar',
      'prep-for-syncer',
      name,
      '-o',
      join(stage.dir, `${name}-syncer.yaml`),
      '--kubeconfig-output',
      file,
    ])
    print(`$ orrery syncer --from-kubeconfig ${file} --to-kubeconfig ${stage.clusterKubeconfig(name)} &`)
    await stage.startSyncer(name, file)
    mailboxes.set(name, await stage.observeSpace(mailboxOf(core, name)))
  }
  for (const name of ['florin', 'guilder']) {
    await inventory.until(`the heartbeat of ${name}'s syncer`, () => {
      const target = inventory.get(`synctargets.edge.kubestellar.io ${name}`)?.object
      return conditionOf(target, 'Ready') === 'True'
        ? undefined
        : `SyncTarget ${name} is not Ready: ${JSON.stringify(target?.status)}`
    })
  }

  title('The common workload: one description, for every production cluster')
  await shell.plugin(kubeconfig, ['kubestellar', 'ensure', 'wmw', 'wmw-c'])
  const common = await stage.observeSpace('root:wmw-c')
  await shell.apply(kubeconfig, manifest('common.yaml'))
  await destinations(common, 'edge-placement-c', ['florin', 'guilder'])
  await shell.show(
    kubeconfig,
    'get',
    'singleplacementslice',
    'edge-placement-c',
    '-o',
    'jsonpath={range .destinations[*]}{.locationName}{"\\n"}{end}',
  )

  title('The special workload: with a kind of its own, for clusters with extended service')
  await shell.plugin(kubeconfig, ['ws', 'root'])
  await shell.plugin(kubeconfig, ['kubestellar', 'ensure', 'wmw', 'wmw-s'])
  const special = await stage.observeSpace('root:wmw-s')
  await shell.apply(kubeconfig, manifest('special-crd.yaml'))
  await special.until('the CRD', () =>
    conditionOf(
      special.get('customresourcedefinitions.apiextensions.k8s.io crontabs.stable.example.com')?.object,
      'Established',
    ) === 'True'
      ? undefined
      : 'it is not established',
  )
  await shell.apply(kubeconfig, manifest('special.yaml'))
  await destinations(special, 'edge-placement-s', ['guilder'])

  title('What the mailboxes ask of their syncers')
  await syncerConfig(mailboxes.get('florin')!, 'florin', {
    namespaced: ['configmaps commonstuff/httpd-htdocs', 'replicasets commonstuff/commond'],
    cluster: [],
    upsync: ['group1.test', 'group2.test'],
  })
  await syncerConfig(mailboxes.get('guilder')!, 'guilder', {
    namespaced: [
      'configmaps commonstuff/httpd-htdocs',
      'configmaps specialstuff/httpd-htdocs',
      'crontabs specialstuff/my-new-cron-object',
      'deployments specialstuff/speciald',
      'replicasets commonstuff/commond',
    ],
    cluster: [
      'apiservices v1090.example.my',
      'customresourcedefinitions crontabs.stable.example.com',
      'namespaces specialstuff',
    ],
    upsync: ['group1.test', 'group2.test', 'group3.test'],
  })
  print('florin and guilder: SyncerConfig the-one is as expected')

  title('In the clusters: everything has arrived, customized')
  for (const [name, cluster] of stage.clusters) {
    await page(cluster, name, 'commonstuff', `This web site is running in ${name}.`)
    await ready(cluster, name, 'replicasets.apps commonstuff/commond')
    await environment(cluster, name, 'replicasets.apps commonstuff/commond', 'env is prod')
  }
  await page(guilder, 'guilder', 'specialstuff', 'This special web site is running in guilder.')
  await ready(guilder, 'guilder', 'deployments.apps specialstuff/speciald')
  await environment(guilder, 'guilder', 'deployments.apps specialstuff/speciald', 'in prod env')
  await exists(guilder, 'guilder', 'crontabs.stable.example.com specialstuff/my-new-cron-object')
  await guilder.until('guilder: the explicit Namespace', () =>
    guilder.get('namespaces specialstuff')?.object.metadata.labels?.special === 'yes'
      ? undefined
      : 'its label special=yes is missing',
  )
  await guilder.until('guilder: the APIService', () => {
    const object = guilder.get('apiservices.apiregistration.k8s.io v1090.example.my')?.object
    return reasonOf(object, 'Available') === 'ServiceNotFound'
      ? undefined
      : `expected ServiceNotFound, found ${JSON.stringify(object?.status)}`
  })
  for (const key of [
    'deployments.apps specialstuff/speciald',
    'crontabs.stable.example.com specialstuff/my-new-cron-object',
    'namespaces specialstuff',
  ]) {
    if (florin.get(key)) throw new Error(`florin has ${key}, which belongs to guilder only`)
  }
  const children = guilder.keys().filter(key => key.startsWith('replicasets.apps specialstuff/speciald-'))
  if (children.length !== 1)
    throw new Error(
      `guilder: expected the Deployment's own ReplicaSet to be left alone, found ${children.join(', ') || 'none'}`,
    )
  await shell.show(stage.clusterKubeconfig('florin'), 'get', 'all,configmaps', '-n', 'commonstuff')
  await shell.show(stage.clusterKubeconfig('guilder'), 'get', 'deployments,replicasets,crontabs', '-A')

  title('Upsync: what is born in the clusters and was asked for comes inward')
  for (const name of ['florin', 'guilder']) {
    const file = stage.clusterKubeconfig(name)
    const cluster = stage.clusters.get(name)!
    await shell.apply(file, manifest('reports-crds.yaml'))
    for (const crd of ['sprockets.group1.test', 'cogs.group2.test', 'widgets.group3.test']) {
      await cluster.until(`${name}: CRD ${crd}`, () =>
        conditionOf(cluster.get(`customresourcedefinitions.apiextensions.k8s.io ${crd}`)?.object, 'Established') ===
        'True'
          ? undefined
          : 'not established',
      )
    }
    await shell.apply(file, manifest('reports.yaml'))
  }
  for (const [name, mailbox] of mailboxes) {
    await exists(mailbox, `mailbox of ${name}`, 'sprockets.group1.test orbital/george')
    await exists(mailbox, `mailbox of ${name}`, 'cogs.group2.test william')
  }
  await exists(mailboxes.get('guilder')!, 'mailbox of guilder', 'widgets.group3.test any-name-will-do')
  if (mailboxes.get('florin')!.get('widgets.group3.test any-name-will-do'))
    throw new Error("florin's widget was carried inward although nobody asked for it")
  if (mailboxes.get('florin')!.get('sprockets.group1.test orbital/astro'))
    throw new Error('sprocket astro was carried inward although nobody asked for it')
  await shell.show(kubeconfig, '--context', 'root', 'get', 'workspaces')

  title('Status: exact, back in the space, where the workload runs in exactly one cluster')
  await executing(common, 'wmw-c', 'replicasets.apps commonstuff/commond', '2')
  await executing(special, 'wmw-s', 'deployments.apps specialstuff/speciald', '1')
  await special.until('wmw-s: the status of speciald', () => {
    const status = special.get('deployments.apps specialstuff/speciald')?.object.status
    return isRecord(status) && status.readyReplicas === 1
      ? undefined
      : `readyReplicas is not 1: ${JSON.stringify(status)}`
  })
  const commonStatus = common.get('replicasets.apps commonstuff/commond')?.object.status
  if (isRecord(commonStatus) && commonStatus.readyReplicas)
    throw new Error('wmw-c: commond runs in two clusters, yet a status came back')
  await shell.show(kubeconfig, 'get', 'deployments', '-A')

  const timings = measure(stage, common, special)

  await shell.plugin(kubeconfig, ['ws', 'root:wmw-c'])
  await runTroubles(stage, common, {
    placement: 'edge-placement-c',
    back: name => stage.startSyncer(name, syncerKubeconfig(name)),
  })

  await runRollout(stage, common, 'edge-placement-c')

  title('Deleted in the space, gone from the clusters')
  await shell.delete(kubeconfig, 'configmaps', 'httpd-htdocs', 'commonstuff')
  for (const [name, cluster] of stage.clusters) {
    await cluster.until(`${name}: the deleted ConfigMap`, () =>
      cluster.get('configmaps commonstuff/httpd-htdocs') ? 'it is still there' : undefined,
    )
  }
  print('the ConfigMap is gone from florin and guilder')
  return timings
}

/** From the moment the space had an object to the moment the cluster had it, and back for status. */
function measure(stage: Stage, common: Observer, special: Observer): Timings {
  const down: Timing = { ms: 0, what: '' }
  const up: Timing = { ms: 0, what: '' }
  const workloads = [
    {
      space: common,
      clusters: ['florin', 'guilder'],
      keys: ['configmaps commonstuff/httpd-htdocs', 'replicasets.apps commonstuff/commond'],
    },
    {
      space: special,
      clusters: ['guilder'],
      keys: [
        'configmaps specialstuff/httpd-htdocs',
        'deployments.apps specialstuff/speciald',
        'crontabs.stable.example.com specialstuff/my-new-cron-object',
        'apiservices.apiregistration.k8s.io v1090.example.my',
      ],
    },
  ]
  for (const { space, clusters, keys } of workloads) {
    for (const key of keys) {
      for (const name of clusters) {
        const from = space.get(key)
        const to = stage.clusters.get(name)?.get(key)
        if (!from || !to) throw new Error(`${key} is missing where it was a moment ago`)
        const ms = to.appearedMs - from.appearedMs
        if (ms > down.ms) Object.assign(down, { ms, what: `${key} in ${name}` })
        if (space === special && key.startsWith('deployments'))
          Object.assign(up, { ms: Math.max(0, from.statusMs - to.statusMs), what: `${key} from ${name}` })
      }
    }
  }
  return { down, up }
}
