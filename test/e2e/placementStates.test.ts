/**
 * A small fleet is led through the states of docs/reference/states.md. Checked are the state of a copy, the conditions of its
 * EdgePlacement, and the events of its watches. `applied` never covers an object that the cluster does not hold.
 */
import t, { type Test } from 'tap'
import { at as fieldAt } from '../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient, WatchEvent, WatchOptions } from '../../src/client/client.ts'
import { EVERYTHING, inventoryBinding, placementGrant } from '../../src/placement/consent/consentObjects.ts'
import { MAX_EXCEPTIONS } from '../../src/placement/outcome/outcome.ts'
import {
  COMBINED_STATUSES,
  CUSTOMIZER_ANNOTATION,
  EDGE_API_VERSION,
  EXECUTING_COUNT_ANNOTATION,
  EXPAND_ANNOTATION,
  INVENTORY_BINDINGS,
  LOCATION_LABEL,
  PAUSED_ANNOTATION,
  PLACEMENT_GRANTS,
  STATUS_COLLECTORS,
  WORK_STATUSES,
} from '../../src/placement/words/placement.ts'
import { FILE_LIMIT_MS, PATIENCE_MS } from '../support/patience.ts'
import { at, deployment, gone, is, map, there } from '../syncer/support/installation.ts'
import {
  AUTOSCALERS,
  CRDS,
  DEPLOYMENTS,
  LEASES,
  LOCATIONS,
  MAPS,
  NAMESPACES,
  PLACEMENTS,
  TARGETS,
  WORKSPACES,
} from '../syncer/support/kinds.ts'
import { until } from '../syncer/support/processes.ts'
import { condition, FLORIN, Florin, has, RECORD } from './support/florin.ts'
import { StandIn } from './support/standIn.ts'

const GUILDER = { name: 'guilder' }
const WEBHOOKS = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' }
const SERVICES = { group: '', version: 'v1', resource: 'services' }
const INGRESSES = { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' }

const service: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: at('front'),
  spec: { selector: { app: 'web' }, ports: [{ port: '%(port)' }] },
}
const ingress: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: at('front'),
  spec: {
    rules: [
      {
        host: '%(host)',
        http: {
          paths: [
            { path: '/', pathType: 'Prefix', backend: { service: { name: 'front', port: { number: '%(port)' } } } },
          ],
        },
      },
    ],
  },
}

type Wanted = (object: KubeObject | undefined) => boolean
const says =
  (...states: string[]): Wanted =>
  object =>
    states.join() === states.map((_, i) => fieldAt(object, 'status', ['state', 'reason'][i]!)).join()
const both =
  (...wanted: Wanted[]): Wanted =>
  object =>
    wanted.every(one => one(object))

t.setTimeout(FILE_LIMIT_MS)
t.test('a small fleet', async t => {
  const standIn = await StandIn.prepared()
  const florin = await Florin.beginWithProcess(t, { startCluster: standIn.begin })
  const { wds, inventory, cluster } = florin
  const guilder = await florin.join('guilder', { env: 'far' })
  const other = await space('other')

  await t.test('the status of what runs in one cluster comes back, follows, and is taken back', async t => {
    const web = (wanted: Wanted) => until(wds, DEPLOYMENTS, at('web'), wanted)
    const counted =
      (count: string | undefined): Wanted =>
      object =>
        object?.metadata.annotations?.[EXECUTING_COUNT_ANNOTATION] === count
    const ready =
      (count: number | undefined): Wanted =>
      object =>
        fieldAt(object, 'status', 'readyReplicas') === count
    await wds.create(DEPLOYMENTS, deployment)
    await web(both(counted('1'), ready(1)))
    await wds.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 3 } })
    const there = await web(both(counted('1'), ready(3)))
    const { status } = await cluster.get(DEPLOYMENTS, at('web'))
    t.same(there?.status, { ...(status as object), observedGeneration: there?.metadata.generation })
    await until(
      wds,
      WORK_STATUSES,
      row('web', DEPLOYMENTS),
      object => fieldAt(object, 'status', 'health') === 'Healthy',
    )

    const copy = async () => (await florin.space(florin.mailbox).get(DEPLOYMENTS, at('web'))).metadata.resourceVersion
    const before = await copy()
    await relabel(GUILDER, 'prod')
    await web(both(counted('2'), ready(undefined)))
    await until(guilder.cluster, DEPLOYMENTS, at('web'), ready(3))
    t.notOk(ready(3)(await wds.get(DEPLOYMENTS, at('web'))), 'two clusters say it')
    await t.test('a watch hears of the object, or the cluster, that it asks for, and of no other', hears)
    await relabel(GUILDER, 'far')
    await web(both(counted('1'), ready(3)))
    await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { wantSingletonReportedState: false } })
    await web(both(counted(undefined), ready(undefined)))
    t.equal(await copy(), before, 'counts are no change of the copy')
    await t.test('one collector sums up an object over the clusters of each of two placements', sumsUp)
  })

  await t.test('there is nowhere to place: each reason', async () => {
    await place(wds, 'nowhere', { locationSelectors: [{ matchLabels: { env: 'none' } }] })
    await other.create(NAMESPACES, namespace('shop'))
    await other.create(MAPS, map('page', { x: 'theirs' }))
    await place(other, 'page')
    const unresolved = (space: SpaceClient, name: string, reason: string) =>
      until(
        space,
        PLACEMENTS,
        { name },
        both(
          has('Resolved', 'False', reason),
          ...['Permitted', 'Projected', 'Applied', 'Healthy'].map(type => has(type, 'Unknown', 'NotResolved')),
        ),
      )
    await unresolved(wds, 'nowhere', 'NoLocation')
    await unresolved(other, 'page', 'NotBound')
    await other.create(INVENTORY_BINDINGS, inventoryBinding('imw1', 'root:imw1'))
    await unresolved(other, 'page', 'NotGranted')
    await inventory.create(PLACEMENT_GRANTS, placementGrant('other', { path: 'root:other' }, EVERYTHING))
    await until(other, PLACEMENTS, { name: 'page' }, has('Resolved', 'True', 'LocationsChosen'))
  })

  await t.test("what keeps a copy out or as it is, before its cluster's word", async t => {
    t.match((await until(other, WORK_STATUSES, row('page'), says('Conflict', 'ObjectConflict')))?.status, {
      message: /owns it there; use another name, or ask them to hand it over/,
    })
    await until(other, PLACEMENTS, { name: 'page' }, has('Applied', 'False', 'Conflict'))

    const grant = (await inventory.list(PLACEMENT_GRANTS)).items.find(({ metadata }) => metadata.name !== 'other')
    const grantNamespaces = (namespaces: string[] | null) =>
      inventory.patch(PLACEMENT_GRANTS, { name: grant!.metadata.name! }, 'merge', { spec: { namespaces } })
    await grantNamespaces(['shop'])
    await wds.create(NAMESPACES, namespace('depot'))
    await wds.create(MAPS, { ...map('stored', {}), metadata: { namespace: 'depot', name: 'stored' } })
    await place(wds, 'stored', { downsync: downsync('stored', 'depot') })
    await wds.create(MAPS, annotated(map('custom', {}), { [CUSTOMIZER_ANNOTATION]: 'missing' }))
    await place(wds, 'custom')
    await wds.create(MAPS, annotated(map('still', {}), { [PAUSED_ANNOTATION]: 'true' }))
    await place(wds, 'still')
    const stored = { ...row('stored'), namespace: 'depot' }
    await Promise.all([
      until(wds, WORK_STATUSES, stored, says('NotPlaced', 'NamespaceNotGranted')),
      until(
        wds,
        PLACEMENTS,
        { name: 'stored' },
        both(has('Permitted', 'False', 'NamespaceNotGranted'), has('Applied', 'False', 'NotPlaced')),
      ),
      until(wds, WORK_STATUSES, row('custom'), says('NotPlaced', 'CustomizationFailed')),
      until(wds, PLACEMENTS, { name: 'custom' }, has('Projected', 'False', 'CustomizationFailed')),
      until(wds, WORK_STATUSES, row('still'), says('Paused', 'ObjectPaused')),
      until(wds, PLACEMENTS, { name: 'still' }, has('Applied', 'False', 'Paused')),
    ])

    // a Namespace that came along leaves with what needed it
    await grantNamespaces(null)
    await until(cluster, MAPS, { namespace: 'depot', name: 'stored' }, there)
    await wds.delete(MAPS, { namespace: 'depot', name: 'stored' })
    await until(cluster, NAMESPACES, { name: 'depot' }, gone)
  })

  await t.test('what a cluster could not do', async t => {
    await cluster.create(WEBHOOKS, closing({ blocked: 'yes' }))
    const blocked = map('blocked', {})
    await wds.create(MAPS, { ...blocked, metadata: { ...blocked.metadata, labels: { blocked: 'yes' } } })
    for (const name of ['going', 'fought']) await wds.create(MAPS, map(name, { x: '1' }))
    for (const name of ['blocked', 'going', 'fought']) await place(wds, name)
    await wds.create(AUTOSCALERS, autoscaler('scaler'))
    await place(wds, 'scaler', {
      downsync: [{ apiGroup: 'autoscaling', resources: ['horizontalpodautoscalers'], namespaces: ['shop'] }],
    })
    for (const name of ['going', 'fought']) await until(cluster, MAPS, at(name), there)
    await cluster.patch(MAPS, at('going'), 'merge', { metadata: { finalizers: ['example.com/stays'] } })
    await cluster.delete(MAPS, at('going'))
    const fought = Promise.all([
      until(wds, WORK_STATUSES, row('fought'), says('Drifted', 'Fought')),
      until(
        wds,
        PLACEMENTS,
        { name: 'fought' },
        both(has('Applied', 'False', 'Waiting'), has('Healthy', 'False', 'NotApplied')),
      ),
    ])
    const [retrying, going] = await Promise.all([
      until(wds, WORK_STATUSES, row('blocked'), says('Retrying')),
      until(wds, WORK_STATUSES, row('going'), says('Terminating', 'Terminating')),
      until(wds, PLACEMENTS, { name: 'blocked' }, has('Applied', 'False', 'Retrying')),
      until(wds, PLACEMENTS, { name: 'going' }, has('Applied', 'False', 'Waiting')),
      until(
        wds,
        PLACEMENTS,
        { name: 'scaler' },
        both(has('Applied', 'True', 'AllApplied'), has('Healthy', 'False', 'Progressing')),
      ),
      fight(fought),
    ])
    t.match(fieldAt(retrying, 'status', 'message'), 'closing.example.com', "the cluster's own words")
    t.match(fieldAt(going, 'status', 'message'), 'example.com/stays')
    await cluster.delete(WEBHOOKS, { name: 'closing' })
    await cluster.patch(MAPS, at('going'), 'merge', { metadata: { finalizers: null } })
    for (const name of ['blocked', 'going', 'fought']) await until(wds, WORK_STATUSES, row(name), says('Applied'))
    t.same((await cluster.get(MAPS, at('going'))).data, { x: '1' })
  })

  await t.test('numbers and hosts that stand for parameters reach the cluster with its values', async t => {
    const parameters = (port: string) => ({ metadata: { annotations: { host: 'florin.example.com', port } } })
    await inventory.patch(LOCATIONS, FLORIN, 'merge', parameters('many'))
    for (const [resource, object] of [
      [SERVICES, service],
      [INGRESSES, ingress],
    ] as const)
      await wds.create(resource, annotated(object, { [EXPAND_ANNOTATION]: 'true' }))
    await place(wds, 'front', {
      downsync: ['', 'networking.k8s.io'].map(apiGroup => ({
        apiGroup,
        resources: ['services', 'ingresses'],
        namespaces: ['shop'],
      })),
    })
    await Promise.all([
      until(wds, PLACEMENTS, { name: 'front' }, has('Projected', 'False', 'NotTaken')),
      until(wds, WORK_STATUSES, row('front', SERVICES), says('NotPlaced', 'NotTaken')),
    ])
    await inventory.patch(LOCATIONS, FLORIN, 'merge', parameters('8080'))
    t.match((await until(cluster, SERVICES, at('front'), there))?.spec, { ports: [{ port: 8080 }] })
    t.match((await until(cluster, INGRESSES, at('front'), there))?.spec, {
      rules: [
        {
          host: 'florin.example.com',
          http: { paths: [{ backend: { service: { port: { number: 8080 } } } }] },
        },
      ],
    })
  })

  await t.test('of two definitions without a version in common the second comes when the first has left', async () => {
    const gears = (version: string) => ({ group: 'example.com', version, resource: 'gears' })
    const all = { downsync: [{ apiGroup: 'example.com', resources: ['gears'], namespaces: ['shop'] }] }
    for (const [space, version] of [
      [wds, 'v1'],
      [other, 'v2'],
    ] as const) {
      await space.create(CRDS, definition(version))
      await until(space, CRDS, { name: 'gears.example.com' }, isEstablished)
      await space.create(gears(version), {
        apiVersion: `example.com/${version}`,
        kind: 'Gear',
        metadata: at(version),
      })
    }
    await place(wds, 'gears', all)
    await until(cluster, gears('v1'), at('v1'), there)
    await place(other, 'gears', all)
    await until(other, WORK_STATUSES, row('v2', gears('v2')), says('NotPlaced', 'KindNotServed'))
    await wds.delete(PLACEMENTS, { name: 'gears' })
    await until(cluster, gears('v2'), at('v2'), there)
    await until(other, WORK_STATUSES, row('v2', gears('v2')), says('Applied'))
  })

  await t.test('what is not known of a cluster that has not heard yet, or holds still', async () => {
    for (const name of ['held', 'quiet']) {
      await wds.create(MAPS, map(name, { x: '1' }))
      await place(wds, name)
    }
    for (const name of ['held', 'quiet'])
      await until(wds, PLACEMENTS, { name }, both(has('Applied', 'True', 'AllApplied')))
    florin.syncer.freeze()
    await wds.patch(MAPS, at('quiet'), 'merge', { data: { x: '2' } })
    await until(wds, WORK_STATUSES, row('quiet'), says('Pending'))
    await until(wds, PLACEMENTS, { name: 'quiet' }, has('Applied', 'False', 'Pending'))
    florin.syncer.thaw()
    await until(wds, PLACEMENTS, { name: 'quiet' }, has('Applied', 'True', 'AllApplied'))

    const pause = (value: string | null) =>
      inventory.patch(TARGETS, FLORIN, 'merge', { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } })
    await pause('true')
    await until(inventory, TARGETS, FLORIN, has('Paused', 'True', 'SyncerPaused'))
    await wds.patch(MAPS, at('held'), 'merge', { data: { x: '2' } })
    await until(wds, WORK_STATUSES, row('held'), says('Held', 'Paused'))
    await until(wds, PLACEMENTS, { name: 'held' }, has('Applied', 'False', 'Held'))
    await Promise.all(Array.from({ length: MAX_EXCEPTIONS }, (_, i) => wds.create(MAPS, map(`many-${i}`, {}))))
    await until(wds, WORK_STATUSES, row('quiet'), says('Unknown'))
    await until(wds, PLACEMENTS, { name: 'quiet' }, has('Applied', 'Unknown', 'TooMuchTrouble'))
    await pause(null)
    await until(wds, PLACEMENTS, { name: 'held' }, has('Applied', 'True', 'AllApplied'))
  })

  await t.test('applied is never said of what the cluster does not hold', async t => {
    const put = (x: string) => wds.patch(MAPS, at('sure'), 'merge', { data: { x } })
    const isSo = async (x: string, what: string) => {
      await until(wds, WORK_STATUSES, row('sure'), says('Applied'))
      t.same((await cluster.get(MAPS, at('sure'))).data, { x }, what)
    }
    await wds.create(MAPS, map('sure', { x: '1' }))
    await isSo('1', 'new')
    const second = await florin.serve(florin.mailbox)
    await second.said('standing by')
    await put('2')
    await florin.syncer.end('SIGKILL')
    // else the other one waits until nobody can be writing any more
    await cluster.delete(LEASES, RECORD)
    await isSo('2', 'one of two syncers is killed while that is on its way')

    await wds.delete(MAPS, at('sure'))
    const { uid } = (await wds.create(MAPS, map('sure', { x: '4' }))).metadata
    await isSo('4', 'replaced at the center')
    t.equal(fieldAt(await wds.get(WORK_STATUSES, row('sure')), 'spec', 'sourceRef', 'uid'), uid)

    await standIn.keep()
    await put('5')
    await isSo('5', 'as ever')
    await standIn.end()
    await until(wds, WORK_STATUSES, row('sure'), says('Stale', 'ClusterUnreachable'))
    await standIn.bringBack()
    await standIn.start()
    await isSo('5', 'the cluster was rolled back')
  })

  /** Watches over two objects in two clusters. */
  async function hears(t: Test): Promise<void> {
    const { resourceVersion } = await wds.list(WORK_STATUSES, { namespace: 'shop' })
    const ofSeen = 'spec.sourceRef.name=seen'
    const ofGuilder = `${LOCATION_LABEL}=imw1.guilder`
    const watches = [
      { fieldSelector: ofSeen },
      { labelSelector: ofGuilder },
      { fieldSelector: `${ofSeen},status.state=Paused`, labelSelector: ofGuilder },
    ].map(selectors => new Hearing(t, wds, { namespace: 'shop', resourceVersion, ...selectors }))
    const [named, located, paused] = watches as [Hearing, Hearing, Hearing]
    const [seen, unseen] = ['seen', 'unseen'].map(name => row(name, MAPS, 'guilder').name) as [string, string]
    const all = (isSo: (watch: Hearing) => boolean) => Promise.all(watches.map(watch => watch.until(() => isSo(watch))))
    const pause = (value: string | null) =>
      wds.patch(MAPS, at('seen'), 'merge', { metadata: { annotations: { [PAUSED_ANNOTATION]: value } } })

    await wds.create(MAPS, annotated(map('seen', {}), { [PAUSED_ANNOTATION]: 'true' }))
    // changes before the watch may have been there at its request
    await all(watch => watch.isThere(seen))
    for (const watch of watches) watch.events.length = 0

    await wds.create(MAPS, map('unseen', {}))
    await located.until(() => located.isThere(unseen))
    await pause(null)
    await paused.until(() => paused.turns(seen).length > 0)
    await pause('true')
    await paused.until(() => paused.turns(seen).length > 1)
    for (const name of ['unseen', 'seen']) await wds.delete(MAPS, at(name))
    await Promise.all([
      named.until(() => named.turns(seen).length + named.turns(row('seen').name).length > 1),
      located.until(() => located.turns(seen).length > 0 && located.turns(unseen).length > 1),
      paused.until(() => paused.turns(seen).length > 2),
    ])
    // an absence may be reported late for changes just before they began it
    const ofOthers = ({ type, name }: Heard) => type === 'DELETED' && !name.endsWith(':seen')
    const names = named.events.flatMap(event => (ofOthers(event) ? [] : [event.name]))
    t.same([...new Set(names)].sort(), [row('seen').name, seen])
    const shown = located.events.flatMap(({ type, name }) => (type === 'DELETED' ? [] : [name]))
    t.ok(
      shown.every(name => name.startsWith('imw1.guilder:')),
      shown.join(),
    )
    t.same(located.turns(unseen), ['ADDED', 'DELETED'])
    t.same(paused.turns(seen), ['DELETED', 'ADDED', 'DELETED'], 'it begins to match, and ceases to')
  }

  async function space(name: string): Promise<SpaceClient> {
    const workspace = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name }, spec: {} }
    await florin.space('root').create(WORKSPACES, workspace)
    await until(florin.space('root'), WORKSPACES, { name }, object => fieldAt(object, 'status', 'phase') === 'Ready')
    return florin.space(`root:${name}`)
  }

  async function sumsUp(t: Test): Promise<void> {
    const collector = (name: string, spec: object): KubeObject => ({
      apiVersion: 'edge.kubestellar.io/v1alpha1',
      kind: 'StatusCollector',
      metadata: { name },
      spec,
    })
    const subject = 'returned.status.readyReplicas'
    const fields = [
      { name: 'clusters', type: 'COUNT' },
      { name: 'ready', type: 'SUM', subject },
    ]
    await t.rejects(
      wds.create(STATUS_COLLECTORS, collector('wrong', { filter: 'status.ready', combinedFields: fields })),
      { reason: 'Invalid', message: /spec\.filter: .*undeclared reference to 'status'/ },
    )
    await wds.create(STATUS_COLLECTORS, collector('ready', { combinedFields: fields }))
    await relabel(GUILDER, 'prod')
    const test = { apiGroup: 'apps', resources: ['deployments'], namespaces: ['shop'], statusCollectors: ['ready'] }
    const old = (await wds.get(PLACEMENTS, { name: 'p' })).spec as { downsync: object[] }
    await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { downsync: [...old.downsync, test] } })
    await inventory.patch(LOCATIONS, FLORIN, 'merge', { metadata: { labels: { near: 'yes' } } })
    await place(wds, 'near', { locationSelectors: [{ matchLabels: { near: 'yes' } }], downsync: [test] })
    const [web, ...both] = await Promise.all([
      wds.get(DEPLOYMENTS, at('web')),
      ...['p', 'near'].map(name => until(wds, PLACEMENTS, { name }, has('StatusCollected', 'True', 'AllCollected'))),
    ])
    const sums =
      (...numbers: string[]): Wanted =>
      object =>
        JSON.stringify(fieldAt(object, 'results', 0, 'rows', 0, 'columns')) ===
        JSON.stringify(numbers.map(float => ({ type: 'Number', float })))
    const [whole, near] = both.map(placement => at(`${web.metadata.uid}.${placement?.metadata.uid}`))
    await until(wds, COMBINED_STATUSES, whole!, sums('2', '6'))
    await until(wds, COMBINED_STATUSES, near!, sums('1', '3'))
    const changed = until(wds, COMBINED_STATUSES, whole!, sums('2', '4'))
    await wds.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 2 } })
    await changed
    await until(wds, COMBINED_STATUSES, near!, sums('1', '2'))
    const { items } = await wds.list(COMBINED_STATUSES, {
      namespace: 'shop',
      labelSelector: 'status.kubestellar.io/name=web,status.kubestellar.io/binding-policy=near',
    })
    t.same(
      items.map(({ metadata }) => metadata.name),
      [near!.name],
    )
    await wds.patch(DEPLOYMENTS, at('web'), 'merge', { spec: { replicas: 3 } })
    await until(wds, COMBINED_STATUSES, whole!, sums('2', '6'))
    await wds.delete(PLACEMENTS, { name: 'near' })
    await until(wds, COMBINED_STATUSES, near!, gone)
    await wds.patch(PLACEMENTS, { name: 'p' }, 'merge', { spec: { downsync: old.downsync } })
    await until(wds, COMBINED_STATUSES, whole!, gone)
    await relabel(GUILDER, 'far')
  }

  function relabel(location: { name: string }, env: string): Promise<KubeObject> {
    return inventory.patch(LOCATIONS, location, 'merge', { metadata: { labels: { env } } })
  }

  /** A client in the cluster does not give in until that is reported. */
  async function fight(told: Promise<unknown>): Promise<void> {
    let isTold = false
    void told.finally(() => {
      isTold = true
    })
    for (let i = 0; !isTold; i++) {
      await cluster.patch(MAPS, at('fought'), 'merge', { data: { x: `theirs-${i}` } })
      await Promise.race([told, until(cluster, MAPS, at('fought'), is('data', { x: '1' }))])
    }
    await told
  }
})

interface Heard {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly name: string
}

/** A watch of work statuses. */
class Hearing {
  readonly events: Heard[] = []
  readonly #batches: AsyncIterator<readonly WatchEvent[]>

  constructor(t: Test, client: SpaceClient, options: Omit<WatchOptions, 'signal'>) {
    const end = new AbortController()
    t.teardown(() => end.abort())
    const signal = AbortSignal.any([end.signal, AbortSignal.timeout(PATIENCE_MS)])
    this.#batches = client.watch(WORK_STATUSES, { ...options, signal })[Symbol.asyncIterator]()
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      const { value, done } = await this.#batches.next()
      if (done) throw new Error(`the watch ended after ${JSON.stringify(this.events)}`)
      for (const event of value)
        if (event.type !== 'BOOKMARK') this.events.push({ type: event.type, name: event.object.metadata.name ?? '' })
    }
  }

  isThere(name: string): boolean {
    const last = this.events.findLast(event => event.name === name)
    return last !== undefined && last.type !== 'DELETED'
  }

  /** How often it came and went. */
  turns(name: string): string[] {
    return this.events.flatMap(event => (event.name === name && event.type !== 'MODIFIED' ? [event.type] : []))
  }
}

function row(name: string, { group, resource }: GroupVersionResource = MAPS, location = 'florin') {
  return at(`imw1.${location}:${resource}${group && `.${group}`}:${name}`)
}

function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
}

function annotated(object: KubeObject, annotations: Record<string, string>): KubeObject {
  return { ...object, metadata: { ...object.metadata, annotations } }
}

function downsync(name: string, namespace = 'shop'): object[] {
  return [{ apiGroup: '', resources: ['configmaps'], namespaces: [namespace], objectNames: [name] }]
}

/** Default: the ConfigMap of that name, to florin. */
async function place(space: SpaceClient, name: string, more: object = {}): Promise<void> {
  const spec = { locationSelectors: [{ matchLabels: { env: 'prod' } }], downsync: downsync(name), ...more }
  await space.create(PLACEMENTS, {
    apiVersion: EDGE_API_VERSION,
    kind: 'EdgePlacement',
    metadata: { name },
    spec,
  })
}

/** Nobody answers it, so it lets no ConfigMap with these labels be made. */
function closing(matchLabels: Record<string, string>): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'closing' },
    webhooks: [
      {
        name: 'closing.example.com',
        clientConfig: { url: 'https://127.0.0.1:9/closed' },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
        objectSelector: { matchLabels },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  }
}

/** Nothing in a stand-in looks at it. */
function autoscaler(name: string): KubeObject {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: at(name),
    spec: { scaleTargetRef, maxReplicas: 3 },
  }
}

function definition(version: string): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gears.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gears', singular: 'gear', kind: 'Gear' },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  }
}

function isEstablished(object: KubeObject | undefined): boolean {
  return condition(object, 'Established')?.status === 'True'
}
