// After every random change a placement resolves to the result of a look at all Locations and SyncTargets. Each placement with a changed
// answer has been named, also when the names are drawn in steps.

import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { TopologyFacts } from '../../../src/controllers/placement/inventory/topologyFacts.ts'
import { type Touched, type TouchSink, WhereIndex } from '../../../src/controllers/where-resolver/whereIndex.ts'
import { countSteps } from '../../support/countSteps.ts'
import * as fc from '../../support/fastCheck.ts'
import { FakeServer } from '../placement/fakeServer.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
type Labels = Record<string, string>
interface Model {
  locations: Map<string, { labels: Labels; wanted: Labels }>
  targets: Map<string, Labels>
  placements: Map<string, Labels>
}

const name = fc.constantFrom('a', 'b', 'c')
const labels = fc.constantFrom<Labels>({}, { x: '1' }, { x: '2' }, { x: '1', y: '1' })
const wanted = fc.constantFrom<Labels>({}, { x: '1' }, { x: '2' }, { y: '1' })
const step = fc.record({
  draws: fc.nat(4),
  change: fc.oneof(
    fc.record({ type: fc.constant('location' as const), name, labels, wanted, gone: fc.boolean() }),
    fc.record({ type: fc.constant('target' as const), name, labels, ready: fc.boolean(), gone: fc.boolean() }),
    fc.record({ type: fc.constant('placement' as const), name, wanted, gone: fc.boolean() }),
  ),
})

function meaning({ locations, targets, placements }: Model): Map<string, string> {
  const includes = (all: Labels, some: Labels) => Object.entries(some).every(([key, value]) => all[key] === value)
  return new Map(
    [...placements].map(([placement, selector]) => {
      const rows = [...locations].flatMap(([location, one]) =>
        includes(one.labels, selector)
          ? [...targets].flatMap(([target, own]) => (includes(own, one.wanted) ? [`${location}>${target}`] : []))
          : [],
      )
      return [placement, rows.sort().join()]
    }),
  )
}

function edge(kind: string, name: string, labels: Labels, more: object): KubeObject {
  return { apiVersion: EDGE, kind, metadata: { name, labels, uid: `uid-${name}` }, ...more }
}

function joined(sink: TouchSink) {
  const places = new FakeServer()
  const facts = new TopologyFacts(places)
  const index = new WhereIndex(places, facts, sink)
  facts.read(index)
  return { facts, index }
}

t.test('selectors are compiled when they are first asked, and once for each content', async t => {
  const silent = { placement() {}, location() {}, binding() {}, all() {} }
  const { facts, index } = joined(silent)
  let keys = 0
  const placement = (env: string): KubeObject => {
    const operator = 'In'
    const expression = {
      get key() {
        keys++
        return 'env'
      },
      operator,
      values: [env],
    }
    return edge('EdgePlacement', 'ep', {}, { spec: { locationSelectors: [{ matchExpressions: [expression] }] } })
  }
  const id = { space: 'wds', name: 'ep' }
  const grant = { spec: { spaces: [{ path: 'root:wds' }] } }
  facts.setBinding('wds', 'inv', edge('InventoryBinding', 'inv', {}, { spec: { path: 'root:inv' } }))
  facts.setGrant('inv', 'g', edge('PlacementGrant', 'g', {}, grant))
  facts.setLocation({ space: 'inv', name: 'l' }, edge('Location', 'l', { env: 'prod' }, {}))
  index.setPlacement(id, placement('prod'))
  t.equal(keys, 0, 'a start that tells of thousands compiles none')
  t.equal(index.resolve(id, 0)?.matchingLocationCount, 1)
  const would = (env: string) => atOnce(index.wouldLead('wds', placement(env), 0)).matchingLocationCount
  t.same([would('prod'), would('test')], [1, 0], 'one that is not stored is asked of the same')
  const [once, stored] = [keys, placement('prod')]
  t.ok(once > 0)
  index.setPlacement(id, stored)
  const compared = keys
  t.equal(index.resolve(id, 0)?.matchingLocationCount, 1)
  t.equal(keys, compared, 'its status has changed')
  const before = atOnce(index.choices(id))
  t.equal(index.resolve(id, 0, before)?.matchingLocationCount, 1)
  facts.setLocation({ space: 'inv', name: 'other' }, edge('Location', 'other', { env: 'prod' }, {}))
  t.equal(index.resolve(id, 0, before)?.matchingLocationCount, 2, 'what came since is judged, too')
  facts.setLocation({ space: 'inv', name: 'l' }, edge('Location', 'l', { env: 'test' }, {}))
  t.equal(index.resolve(id, 0, before)?.matchingLocationCount, 1, 'and what changed since')
  index.setPlacement(id, placement('test'))
  t.equal(index.resolve(id, 0, before)?.matchingLocationCount, 1)
  t.equal(index.resolve(id, 0)?.matchingLocationCount, 1)
  t.equal(countSteps(index.choices(id)).steps, 2, 'others have their turn behind each Location')
})

t.test('a placement is asked for when it says something else, and not for what others say in its status', async t => {
  let asked = 0
  const index = joined({ placement: () => asked++, location() {}, binding() {}, all() {} }).index
  const id = { space: 'wds', name: 'ep' }
  const first = edge('EdgePlacement', 'ep', {}, { spec: { locationSelectors: [{ matchLabels: { env: 'prod' } }] } })
  const { metadata } = first
  const own = { specGeneration: 1, matchingLocationCount: 2 }
  const next = (object: KubeObject): number => {
    const before = asked
    index.setPlacement(id, object)
    return asked - before
  }
  t.equal(next(first), 1)
  t.equal(next({ ...first, status: own }), 1)
  t.equal(next({ ...first, status: { ...own, counts: { applied: 1 } } }), 0, 'others tell of clusters')
  t.equal(next({ ...first, status: { ...own, counts: { applied: 2 }, broken: [{}] } }), 0)
  t.equal(next({ ...first, status: { counts: { applied: 2 } } }), 1, 'its own was taken away')
  const condition = (type: string, status: string): KubeObject => ({
    ...first,
    status: { conditions: [{ type, status }], counts: { applied: 2 } },
  })
  t.equal(next(condition('Scheduled', 'False')), 1, 'a condition of its own')
  t.equal(next(condition('Scheduled', 'True')), 1)
  t.equal(next(condition('Applied', 'True')), 1, 'it is there no more')
  t.equal(next(condition('Applied', 'False')), 0)
  const says = (more: object): KubeObject => ({ ...first, metadata: { ...metadata, ...more } })
  for (const more of [{ generation: 2 }, { uid: 'another' }, { annotations: { a: 'b' } }, { deletionTimestamp: 'now' }])
    t.equal(next(says(more)), 1, Object.keys(more).join())
  t.equal(next({ ...first, spec: {} }), 1)
})

t.test('the index answers as a look at everything does, and names what is another', async () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30, size: 'max' }), steps => {
      const pending: Iterator<string>[] = []
      function* placementsIn(touched: Iterable<Touched>): Generator<string> {
        for (const { type, id } of touched) if (type === 'placement') yield id.name
      }
      const { facts, index } = joined({
        placement: ({ name }) => void pending.push([name].values()),
        location: () => {},
        binding: () => {},
        all: touched => void pending.push(placementsIn(touched)),
      })
      facts.setBinding('wds', 'imw', edge('InventoryBinding', 'imw', {}, { spec: { path: 'root:inv' } }))
      facts.setGrant('inv', 'all', edge('PlacementGrant', 'all', {}, { spec: { spaces: [{ path: 'root:wds' }] } }))
      const model: Model = { locations: new Map(), targets: new Map(), placements: new Map() }
      const resolved = (name: string) =>
        index
          .resolve({ space: 'wds', name }, 0)
          ?.destinations.map(row => `${row.locationName}>${row.syncTargetName}`)
          .sort()
          .join()
      const applied = new Map<string, string | undefined>()
      const draw = (most: number): void => {
        for (; most > 0 && pending[0]; ) {
          const { value, done } = pending[0].next()
          if (done) pending.shift()
          else {
            most--
            applied.set(value, resolved(value))
          }
        }
      }
      for (const { change, draws } of steps) {
        const { name, gone } = change
        if (change.type === 'location') {
          const spec = { instanceSelector: { matchLabels: change.wanted } }
          facts.setLocation({ space: 'inv', name }, gone ? undefined : edge('Location', name, change.labels, { spec }))
          if (gone) model.locations.delete(name)
          else model.locations.set(name, change)
        } else if (change.type === 'target') {
          const status = { conditions: [{ type: 'Ready', status: change.ready ? 'True' : 'False' }] }
          facts.setTarget(
            { space: 'inv', name },
            gone ? undefined : edge('SyncTarget', name, change.labels, { status }),
          )
          if (gone) model.targets.delete(name)
          else model.targets.set(name, change.labels)
        } else {
          const spec = { locationSelectors: [{ matchLabels: change.wanted }] }
          index.setPlacement({ space: 'wds', name }, gone ? undefined : edge('EdgePlacement', name, {}, { spec }))
          if (gone) model.placements.delete(name)
          else model.placements.set(name, change.wanted)
        }
        for (const [placement, rows] of meaning(model)) {
          if (resolved(placement) !== rows) throw new Error(`${placement}: ${resolved(placement)}, not ${rows}`)
        }
        draw(draws)
      }
      draw(Infinity)
      for (const [placement, rows] of meaning(model)) {
        if (applied.get(placement) !== rows) throw new Error(`${placement} was left as ${applied.get(placement)}`)
      }
    }),
    { numRuns: 700 },
  )
})
