// Users, administrators and vandals act at random, many things at a time. Once all is at rest, every mailbox holds exactly the placements'
// objects, and nobody had to complain.

import t from 'tap'
import { isStatusError } from '../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { CONFIRM_DELETION_ANNOTATION } from '../../src/placement/words/placement.ts'
import { startCenter } from '../support/center.ts'
import * as fc from '../support/fastCheck.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import {
  configMap,
  heldBy,
  LOCATIONS,
  MAPS,
  NAMESPACES,
  namespace,
  PLACEMENTS,
  type Scene,
  WORKSPACES,
} from '../support/scene.ts'

const CLUSTERS = ['a', 'b', 'c']
const TEAMS = ['red', 'blue']
const center = await startCenter(t)
const { world, client } = center

type Act = (scene: Scene) => Promise<unknown>

const name = fc.constantFrom('m0', 'm1', 'm2', 'm3', 'm4')
const space = fc.constantFrom('n0', 'n1')
const team = fc.constantFrom(...TEAMS)
const cluster = fc.constantFrom(...CLUSTERS)
const ep = fc.constantFrom('ep0', 'ep1')
const where = fc
  .subarray([...CLUSTERS])
  .map(names => ({ locationSelectors: names.map(n => ({ matchLabels: { env: n } })) }))
const what = fc.oneof(
  team.map(by => ({ labelSelectors: [{ matchLabels: { team: by } }] })),
  team.map(by => ({ namespaceSelectors: [{ matchLabels: { team: by } }] })),
  space.map(namespace => ({ namespaces: [namespace] })),
  name.map(one => ({ namespaces: ['n0', 'n1'], objectNames: [one] })),
)
const spec = fc.record({ where, what, wants: fc.boolean() })
const labels = (by: string) => ({ metadata: { labels: { team: by } } })

/** Every act may come too early or too late: what it acts on is missing or there already. */
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.tuple(space, name, team).map(
    ([ns, n, by]): Act =>
      s =>
        s.wds.create(MAPS, map(ns, n, by)),
  ),
  fc.tuple(space, name, team).map(
    ([ns, n, by]): Act =>
      s =>
        s.wds.patch(MAPS, at(ns, n), 'merge', labels(by)),
  ),
  fc.tuple(space, name, fc.nat(9)).map(
    ([ns, n, v]): Act =>
      s =>
        s.wds.patch(MAPS, at(ns, n), 'merge', { data: { v: `${v}` } }),
  ),
  fc.tuple(space, name).map(
    ([ns, n]): Act =>
      s =>
        s.wds.delete(MAPS, at(ns, n)),
  ),
  fc.tuple(space, team).map(
    ([ns, by]): Act =>
      s =>
        s.wds.patch(NAMESPACES, { name: ns }, 'merge', labels(by)),
  ),
  fc.tuple(ep, spec).map(
    ([e, o]): Act =>
      s =>
        s.wds.create(PLACEMENTS, placed(s, e, o)),
  ),
  fc.tuple(ep, spec).map(
    ([e, o]): Act =>
      s =>
        s.replace(e, placed(s, e, o).spec as Record<string, unknown>),
  ),
  ep.map(
    (e): Act =>
      s =>
        s.wds.delete(PLACEMENTS, { name: e }),
  ),
  fc.tuple(cluster, cluster).map(
    ([c, env]): Act =>
      async s =>
        client.in(s.inventory).patch(LOCATIONS, { name: c }, 'merge', { metadata: { labels: { env } } }),
  ),
  fc.tuple(cluster, space, name).map(
    ([c, ns, n]): Act =>
      async s =>
        client.in(await s.mailbox(c)).delete(MAPS, at(ns, n)),
  ),
  fc.tuple(cluster, space, name).map(
    ([c, ns, n]): Act =>
      async s =>
        client.in(await s.mailbox(c)).patch(MAPS, at(ns, n), 'merge', { data: { v: 'vandal' } }),
  ),
  fc.tuple(cluster, space).map(
    ([c, ns]): Act =>
      async s =>
        client.in(await s.mailbox(c)).delete(NAMESPACES, { name: ns }),
  ),
  cluster.map(
    (c): Act =>
      async s =>
        client.in('root:espw').delete(WORKSPACES, { name: await s.mailboxName(c) }),
  ),
)

let walks = 0

t.test('whatever happens, in the end mailboxes hold what placements say', { timeout: FILE_LIMIT_MS }, async t => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(act, { minLength: 1, maxLength: 6 }), { minLength: 5, maxLength: 15 }),
      async steps => {
        const scene = await center.scene(`walk-${walks++}`, [])
        await Promise.all(CLUSTERS.map(c => scene.addCluster(c, { env: c })))
        await Promise.all(['n0', 'n1'].map(n => scene.wds.create(NAMESPACES, namespace(n, { team: 'red' }))))
        await scene.place('ep0', {
          ...whole(scene, CLUSTERS),
          downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['n0'] }],
        })
        for (const acts of steps) await Promise.all(acts.map(one => tolerated(one(scene))))
        // lost races are tried again a little later: first all has to be as it should, then it has to stay so
        do {
          await world.until('convergence', () => {
            confirmHolds(scene)
            return differences(scene).join('\n')
          })
          await center.settled()
        } while (confirmHolds(scene))
        t.same(differences(scene), [])
        // gone, so that its placements do not slow down the walks to come
        await Promise.all(['imw', 'wmw'].map(n => client.in('root').delete(WORKSPACES, { name: `${scene.tag}-${n}` })))
      },
    ),
    // smaller counterexamples are not worth a patience each
    { numRuns: 12, endOnFailure: true },
  )
})

function whole(scene: Scene, clusters: readonly string[]): { locationSelectors: object[] } {
  return { locationSelectors: clusters.map(env => ({ matchLabels: { env, scene: scene.tag } })) }
}

function placed(
  scene: Scene,
  name: string,
  o: { where: { locationSelectors: object[] }; what: object; wants: boolean },
): KubeObject {
  return {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'EdgePlacement',
    metadata: { name },
    spec: {
      locationSelectors: o.where.locationSelectors.map(item => {
        const { matchLabels } = item as { matchLabels: Record<string, string> }
        return { matchLabels: { ...matchLabels, scene: scene.tag } }
      }),
      downsync: [{ apiGroup: '', resources: ['configmaps'], ...o.what }],
      wantSingletonReportedState: o.wants,
    },
  }
}

const at = (ns: string, n: string) => ({ namespace: ns, name: n })
const map = (ns: string, n: string, by: string): KubeObject => ({
  ...configMap(n, { v: `${ns}/${n}` }),
  metadata: { namespace: ns, name: n, labels: { team: by } },
})
const textOf = (object: KubeObject | undefined): string => (object?.data as { v?: string } | undefined)?.v ?? '?'

async function tolerated(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isStatusError(error, 'NotFound', 'AlreadyExists', 'Conflict', 'Forbidden')) throw error
  }
}

/** An emptied placement is intended. Answers whether a hold was not confirmed yet. */
function confirmHolds(scene: Scene): boolean {
  let isNews = false
  for (const name of ['ep0', 'ep1']) {
    const object = world.get(scene.wdsId, `edgeplacements.edge.kubestellar.io ${name}`)
    const hash = object && heldBy(object)
    if (!hash || object.metadata.annotations?.[CONFIRM_DELETION_ANNOTATION] === hash) continue
    const metadata = { annotations: { [CONFIRM_DELETION_ANNOTATION]: hash } }
    isNews = true
    void tolerated(scene.wds.patch(PLACEMENTS, { name }, 'merge', { metadata }))
  }
  return isNews
}

interface Spec {
  locationSelectors: { matchLabels: Record<string, string> }[]
  downsync: {
    namespaces?: string[]
    objectNames?: string[]
    labelSelectors?: { matchLabels: Record<string, string> }[]
    namespaceSelectors?: { matchLabels: Record<string, string> }[]
  }[]
  wantSingletonReportedState?: boolean
}

/** The definition of placement, spelled out naively. */
function selected(scene: Scene, key: string, spec: Spec): boolean {
  const [ns = '', n = ''] = key.split('/')
  const own = world.get(scene.wdsId, `configmaps ${key}`)?.metadata.labels
  const around = world.get(scene.wdsId, `namespaces ${ns}`)?.metadata.labels
  return spec.downsync.some(
    test =>
      (test.namespaces?.includes(ns) ?? true) &&
      (test.objectNames?.includes(n) ?? true) &&
      (test.labelSelectors?.every(s => own?.team === s.matchLabels.team) ?? true) &&
      (test.namespaceSelectors?.every(s => around?.team === s.matchLabels.team) ?? true),
  )
}

function specs(scene: Scene): Spec[] {
  return world
    .names(scene.wdsId, 'edgeplacements.edge.kubestellar.io')
    .map(n => world.get(scene.wdsId, `edgeplacements.edge.kubestellar.io ${n}`)?.spec as unknown as Spec)
}

function chosen(scene: Scene, cluster: string, spec: Spec): boolean {
  const env = world.get(scene.inventory, `locations.edge.kubestellar.io ${cluster}`)?.metadata.labels?.env
  return (spec.locationSelectors ?? []).some(s => s.matchLabels.env === env)
}

function expected(scene: Scene, cluster: string): string[] {
  return center
    .mapsIn(scene.wdsId)
    .filter(key => specs(scene).some(spec => chosen(scene, cluster, spec) && selected(scene, key, spec)))
    .map(key => `${key}=${textOf(world.get(scene.wdsId, `configmaps ${key}`))}`)
}

function differences(scene: Scene): string[] {
  const found = CLUSTERS.flatMap(cluster => {
    const target = world.get(scene.inventory, `synctargets.edge.kubestellar.io ${cluster}`)
    const name = `${scene.inventory}-mb-${target?.metadata.uid}`
    const workspace = world.get(center.idOf('root:espw'), `workspaces.tenancy.kcp.io ${name}`)
    const mailbox = String((workspace?.spec as { cluster?: string } | undefined)?.cluster)
    const copies = center.mapsIn(mailbox).map(key => `${key}=${textOf(world.get(mailbox, `configmaps ${key}`))}`)
    const going = ['n0', 'n1']
      .map(ns => world.get(mailbox, `namespaces ${ns}`))
      .concat(workspace)
      .filter(isGoing)
    return [
      ...difference(`cluster ${cluster}`, copies, expected(scene, cluster)),
      ...going.map(object => `${object?.kind} ${object?.metadata.name} is being deleted`),
    ]
  })
  return [...found, ...difference('executing counts', counts(scene), expectedCounts(scene))]
}

const isGoing = (object: KubeObject | undefined): boolean => object?.metadata.deletionTimestamp !== undefined

function difference(what: string, found: string[], wanted: string[]): string[] {
  return found.join() === wanted.join() ? [] : [`${what}: found ${found.join(', ')}; wanted ${wanted.join(', ')}`]
}

const COUNT = 'kubestellar.io/executing-count'

function counts(scene: Scene): string[] {
  return center
    .mapsIn(scene.wdsId)
    .map(key => `${key} ${world.get(scene.wdsId, `configmaps ${key}`)?.metadata.annotations?.[COUNT]}`)
}

function expectedCounts(scene: Scene): string[] {
  return center.mapsIn(scene.wdsId).map(key => {
    const by = specs(scene).filter(spec => selected(scene, key, spec))
    const wanted = by.some(spec => spec.wantSingletonReportedState)
    return `${key} ${wanted ? CLUSTERS.filter(c => by.some(spec => chosen(scene, c, spec))).length : undefined}`
  })
}
