// How much is counted of what EdgePlacements would move, and whether it would be held: never with more work than is given.
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { atOnce } from '../../../../src/apimachinery/steps.ts'
import { factOf } from '../../../../src/controllers/placement/join/workloads.ts'
import type { ImaginedPlacement } from '../../../../src/controllers/placement/preview/imaginedPlacements.ts'
import { totalsOf } from '../../../../src/controllers/placement/preview/previewTotals.ts'
import { compilePlacement } from '../../../../src/placement/select/placementSpec.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'
import { EDGE_PLACEMENTS } from '../../../../src/placement/words/placement.ts'
import type { Destination, Ways } from '../../../../src/placement/words/ways.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const MAP_TEST = { apiGroup: '', resources: ['configmaps'], namespaces: ['ns'] }
const keyOf = (i: number) => objectKey(MAPS, 'ns', `o${i}`)
const placement = (...downsync: object[]) =>
  ({ apiVersion: 'v1', kind: 'EdgePlacement', metadata: { name: 'p' }, spec: { downsync } }) as KubeObject

/** `o0` has a copy in each cluster and is selected no more; of the others some have a way, as `hasWay` says. */
function count(
  { objects, clusters, pairs }: { objects: number; clusters: number; pairs: number },
  after: KubeObject,
  hasWay: (key: string, isThen: boolean) => boolean,
) {
  const ways: Ways = new Map(
    Array.from({ length: clusters }, (_, i) => {
      const way = { mailbox: `m${i}`, cluster: 'inv', locationName: `l${i}` } as Destination
      return [way.mailbox, [way]]
    }),
  )
  const facts = new Map(
    Array.from({ length: objects }, (_, i) => {
      const object: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'ns', name: `o${i}` } }
      const event = {
        type: 'ADDED' as const,
        space: 'ws',
        resource: MAPS,
        namespace: 'ns',
        name: `o${i}`,
        revision: 1,
        object,
      }
      return [keyOf(i), factOf(event, keyOf(i))] as const
    }),
  )
  const before = compilePlacement(placement(MAP_TEST))
  const imagined: ImaginedPlacement = {
    before,
    spec: compilePlacement(after),
    waysBefore: ways,
    ways,
    changed: new Set(),
    created: '',
  }
  let looks = 0
  const deps: Parameters<typeof totalsOf>[0] = {
    join: {
      spec: () => before,
      waysOf: () => ways,
      wayOn: ({ spec, ways: there }, { key }) => {
        looks++
        return hasWay(key, spec !== before) ? there[0] : undefined
      },
      carriersTo: () => [],
      placementNames: () => ['p'],
    },
    workload: {
      get: key => facts.get(key),
      keys: () => facts.keys(),
      selectionOf: () => ({ placements: ['p'] }) as never,
    },
    mailbox: () => ({ synced: true, copies: new Map([[keyOf(0), {}]]) as never, ownerOf: () => 'ws' }),
    keeps: () => false,
    wouldHold: () => false,
    pairs,
  }
  const one = { resource: EDGE_PLACEMENTS, object: after, operation: 'update' as const }
  const moves = { placements: new Map([['p', imagined]]), movers: [keyOf(0)], counts: new Map([[one, new Map()]]) }
  const total = atOnce(totalsOf(deps, 'ws', moves as never)).get(one)!
  return { looks, isPartial: total.isPartial, isHeld: total.isHeld, clusters: total.byMailbox.size }
}

const NARROWED = placement({ ...MAP_TEST, objectNames: ['o1', 'o2', 'o3', 'o4', 'o5', 'o6', 'o7', 'o8', 'o9'] })
const onlyBefore = (_key: string, isThen: boolean) => !isThen

t.test('a placement that carries nothing any more would be held, one that carries something would not', async t => {
  const size = { objects: 10, clusters: 3, pairs: 1000 }
  t.match(count(size, NARROWED, onlyBefore), { isHeld: true, isPartial: false, clusters: 3 })
  const last = (key: string, isThen: boolean) => !isThen || key === keyOf(9)
  t.match(count(size, NARROWED, last), { isHeld: false, isPartial: false, clusters: 3 })
})

t.test('objects without a way cost no more than is given, and then nobody says that it would be held', async t => {
  const size = { objects: 10, clusters: 100, pairs: 500 }
  const found = count(size, NARROWED, onlyBefore)
  t.match(found, { isHeld: false, isPartial: true, clusters: 100 })
  t.ok(found.looks < 1000, `${found.looks}`)
})

t.test('so do the tests of a placement that selects nothing', async t => {
  const nothing = placement(...Array.from({ length: 100 }, () => ({ ...MAP_TEST, objectNames: ['none'] })))
  t.match(count({ objects: 10, clusters: 2, pairs: 500 }, nothing, onlyBefore), { isHeld: false, isPartial: true })
  t.match(count({ objects: 10, clusters: 2, pairs: 2000 }, nothing, onlyBefore), { isHeld: true, isPartial: false })
  t.match(count({ objects: 10, clusters: 2, pairs: 10 }, placement(), onlyBefore), { isHeld: true, isPartial: false })
})
