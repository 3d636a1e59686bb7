// After every random change the incremental join answers as a recomputation from scratch does. It has named every copy, SyncerConfig and
// source object whose outcome that change altered. A reader that draws the names in steps, while later changes come, ends with the present
// all the same.

import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { PlacementJoin } from '../../../../src/controllers/placement/join/placementJoin.ts'
import type { ObjectFact } from '../../../../src/controllers/placement/join/workload.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'
import { Allowance } from '../../../../src/placement/consent/allowance.ts'
import { compileGrant } from '../../../../src/placement/consent/grant.ts'
import { syncerConfigSpec } from '../../../../src/placement/desks/syncerConfig.ts'
import {
  compilePlacement,
  downsyncs,
  type PlacementSpec,
  upsyncs,
} from '../../../../src/placement/select/placementSpec.ts'
import { objectKey, resourceKey } from '../../../../src/placement/words/names.ts'
import type { Destination } from '../../../../src/placement/words/ways.ts'
import * as fc from '../../../support/fastCheck.ts'

/** Every object may go everywhere. */
const ALL_GRANTED = compileGrant({
  apiVersion: 'v1',
  kind: 'PlacementGrant',
  metadata: { name: 'all' },
  spec: { clusterScoped: true, grantingKinds: true, upsync: [{ apiGroup: '*', resources: ['*'] }] },
})
const ALLOWANCE = new Allowance([ALL_GRANTED])
/** But nothing is carried up from the third mailbox. */
const DOWN_ONLY = new Allowance([{ ...ALL_GRANTED, upsync: [] }])
const goesUp = (mailbox: string) => mailbox !== 'm3'
const ANYTHING = {
  allowance: (_space: string, { mailbox }: Destination) => (goesUp(mailbox) ? ALLOWANCE : DOWN_ONLY),
  anyUncertain: false,
}

const SPACES = ['ws1', 'ws2']
const GR = {
  configmaps: { group: '', version: 'v1', resource: 'configmaps' },
  namespaces: { group: '', version: 'v1', resource: 'namespaces' },
  crontabs: { group: 'stable.example.com', version: 'v1', resource: 'crontabs' },
  crds: { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
}

interface Model {
  objects: Map<string, ObjectFact>
  placements: Map<string, PlacementSpec>
  slices: Map<string, Destination[]>
}

/** The second space's placement p is the oldest, its q the newest. */
const CREATED: Record<string, string> = { 'ws1 p': '2', 'ws1 q': '3', 'ws2 p': '1', 'ws2 q': '4' }
const createdAt = (id: string, name: string): string => CREATED[`${id} ${name}`]!

const labels = fc.constantFrom<Record<string, string>>({}, { app: 'a' }, { app: 'b' })
const namespaced = fc.record({
  gr: fc.constantFrom('configmaps', 'crontabs'),
  ns: fc.constantFrom('n1', 'n2'),
  name: fc.constantFrom('x', 'y'),
})
const clustered = fc.oneof(
  fc.record({ gr: fc.constant('namespaces'), ns: fc.constant(''), name: fc.constantFrom('n1', 'n2') }),
  fc.record({
    gr: fc.constant('crds'),
    ns: fc.constant(''),
    name: fc.constantFrom('crontabs.stable.example.com', 'second'),
  }),
)
const object = fc.oneof({ arbitrary: namespaced, weight: 2 }, { arbitrary: clustered, weight: 1 })
const selector = fc.constantFrom({ matchLabels: { app: 'a' } }, { matchLabels: { app: 'b' } }, {})
const downsyncTest = fc.record(
  {
    apiGroup: fc.constantFrom('', 'stable.example.com', 'apiextensions.k8s.io'),
    resources: fc.constantFrom(['*'], ['configmaps'], ['crontabs'], ['namespaces', 'configmaps']),
    namespaces: fc.constantFrom(['*'], ['n1'], []),
    namespaceSelectors: fc.array(selector, { minLength: 1, maxLength: 1 }),
    objectNames: fc.constantFrom(['*'], ['x']),
    labelSelectors: fc.array(selector, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const spec = fc.record({
  downsync: fc.array(downsyncTest, { maxLength: 2 }),
  upsync: fc.constantFrom([], [{ apiGroup: '', resources: ['configmaps'], namespaces: ['n1'], names: ['*'] }]),
  wantSingletonReportedState: fc.boolean(),
  wantMultiWECReportedState: fc.boolean(),
})
const slice = fc.array(
  fc.record({
    mailbox: fc.constantFrom('m1', 'm2', 'm3'),
    cluster: fc.constant('inv'),
    locationName: fc.constantFrom('a', 'b'),
  }),
  { maxLength: 4 },
)
const space = fc.constantFrom(...SPACES)
const placement = fc.constantFrom('p', 'q')
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ type: fc.constant('set' as const), space, object, labels, defines: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('remove' as const), space, object }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('place' as const), space, placement, spec }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('unplace' as const), space, placement }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('slice' as const), space, placement, slice }) },
)

/** Tells each that is named, when it is drawn. */
class Names {
  readonly #pending: Iterator<string>[] = []
  readonly signals = new Signals()
  constructor() {
    this.signals.claimsChanged.on((_, mailboxes, keys) =>
      this.#take(mailboxes.flatMap(mailbox => keys.map(key => `copy ${mailbox} ${key}`))),
    )
  }
  configs(mailboxes: readonly string[]): void {
    this.#take(mailboxes.map(mailbox => `config ${mailbox}`))
  }
  sources(id: string, keys: readonly string[]): void {
    this.#take(keys.map(key => `source ${id} ${key}`))
  }
  report(): void {}
  reports(): void {}

  /** The next ones, at most so many. */
  *draw(most = Infinity): Generator<string> {
    for (; most > 0 && this.#pending[0]; ) {
      const { value, done } = this.#pending[0].next()
      if (done) this.#pending.shift()
      else {
        most--
        yield value
      }
    }
  }

  #take(names: readonly string[]): void {
    this.#pending.push(names.values())
  }
}

t.test('the incremental join agrees with a recomputation after every change', async () => {
  const paced = fc.record({ change: step, draws: fc.nat(6) })
  fc.assert(
    fc.property(fc.array(paced, { minLength: 1, maxLength: 40, size: 'max' }), fc.boolean(), (steps, atOnce) => {
      const touched = new Set<string>()
      const names = new Names()
      const join = new PlacementJoin(names, names.signals, ANYTHING)
      /** The outcome of each as it was when it was drawn last. */
      const applied = new Map<string, string | undefined>()
      const models = new Map<string, Model>(
        SPACES.map(id => [id, { objects: new Map(), placements: new Map(), slices: new Map() }]),
      )
      let before = expected(models)
      let revision = 0
      for (const { change: one, draws } of steps) {
        touched.clear()
        revision++
        const model = models.get(one.space)!
        switch (one.type) {
          case 'set': {
            const fact = factOf(one.object, one.labels, one.defines, revision)
            model.objects.set(fact.key, fact)
            join.workload(one.space).setObject(fact)
            break
          }
          case 'remove': {
            const { key } = factOf(one.object, {}, false, 0)
            model.objects.delete(key)
            join.workload(one.space).removeObject(key)
            break
          }
          case 'place': {
            const compiled = compilePlacement({ spec: one.spec } as unknown as KubeObject)
            model.placements.set(one.placement, compiled)
            join.setPlacement(one.space, one.placement, compiled, createdAt(one.space, one.placement))
            break
          }
          case 'unplace':
            model.placements.delete(one.placement)
            join.removePlacement(one.space, one.placement)
            break
          case 'slice':
            model.slices.set(one.placement, one.slice)
            join.setDestinations(one.space, one.placement, one.slice)
        }
        const after = expected(models)
        assertEqual(answers(join, after, before), after)
        for (const name of names.draw(atOnce ? Infinity : draws)) {
          touched.add(name)
          applied.set(name, after.get(name))
        }
        for (const key of atOnce ? new Set([...before.keys(), ...after.keys()]) : []) {
          if (before.get(key) !== after.get(key) && !touched.has(key))
            throw new Error(`${one.type} did not name ${key}`)
        }
        before = after
      }
      for (const name of names.draw()) applied.set(name, before.get(name))
      for (const key of new Set([...before.keys(), ...applied.keys()])) {
        if (applied.get(key) !== before.get(key)) throw new Error(`${key} was left as ${applied.get(key)}`)
      }
    }),
    { numRuns: 300 },
  )
})

t.test('a change names no more than it may have altered', async t => {
  const names = new Names()
  const join = new PlacementJoin(names, names.signals, ANYTHING)
  join.setPlacement('ws1', 'p', compilePlacement({ spec: { downsync: [{ apiGroup: '' }] } } as unknown as KubeObject))
  join.setDestinations('ws1', 'p', [{ mailbox: 'm1', cluster: 'inv', locationName: 'a' }])
  for (let i = 0; i < 100; i++) {
    join.workload('ws1').setObject(factOf({ gr: 'configmaps', ns: 'n1', name: `c${i}` }, {}, false, i))
  }
  for (const _ of names.draw());
  join.workload('ws1').setObject(factOf({ gr: 'configmaps', ns: 'n1', name: 'c7' }, {}, false, 200))
  t.same([...names.draw()].sort(), ['copy m1 |configmaps|n1|c7', 'source ws1 |configmaps|n1|c7'], 'one edit, one copy')
})

function factOf(
  { gr, ns, name }: { gr: string; ns: string; name: string },
  labels: Record<string, string>,
  defines: boolean,
  revision: number,
): ObjectFact {
  const resource = GR[gr as keyof typeof GR]
  return {
    key: objectKey(resource, ns, name),
    resource,
    namespace: ns,
    name,
    labels,
    revision,
    customized: false,
    customizer: '',
    annotated: false,
    uid: '',
    defines: gr === 'crds' && defines ? [GR.crontabs] : [],
  }
}

/** The outcome from scratch: `copy`, `config` and `source` keys to text. */
function expected(models: Map<string, Model>): Map<string, string> {
  const sources = new Map<string, { id: string; fact: ObjectFact; location: string; since: string }[]>()
  const outcome = new Map<string, string>()
  const upsync = new Map<string, unknown[]>()
  for (const [id, { objects, placements, slices }] of models) {
    const destinations = new Map<string, Set<string>>()
    const wants = new Map<string, string>()
    // by whichever placement of the space
    const isCarried = (fact: ObjectFact, mailbox: string) =>
      goesUp(mailbox) &&
      [...placements].some(
        ([name, { upsyncTests }]) =>
          slices.get(name)?.some(way => way.mailbox === mailbox) && upsyncs(upsyncTests, fact),
      )
    for (const [name, spec] of placements) {
      const asked = (fact: ObjectFact) => upsyncs(spec.upsyncTests, fact)
      const heldEverywhere = (slices.get(name) ?? []).every(({ mailbox }) => goesUp(mailbox))
      const explicit = [...objects.values()].filter(
        fact =>
          downsyncs(spec, fact, objects.get(objectKey(GR.namespaces, '', fact.namespace))?.labels) &&
          !(asked(fact) && heldEverywhere),
      )
      const used = new Set(explicit.map(fact => resourceKey(fact.resource)))
      const selected = new Set([
        ...explicit,
        ...[...objects.values()].filter(fact => fact.defines.some(gr => used.has(resourceKey(gr)))),
      ])
      for (const { key } of explicit) {
        if (spec.wantMultiWECReportedState) wants.set(key, 'of all')
        else if (spec.wantSingletonReportedState && !wants.has(key)) wants.set(key, 'of one')
      }
      const byMailbox = new Map<string, string>()
      for (const { mailbox, locationName } of slices.get(name) ?? []) {
        if (!byMailbox.has(mailbox) || locationName < byMailbox.get(mailbox)!) byMailbox.set(mailbox, locationName)
      }
      for (const mailbox of byMailbox.keys()) {
        upsync.set(mailbox, [...(upsync.get(mailbox) ?? []), ...(goesUp(mailbox) ? spec.upsync : [])])
      }
      for (const fact of selected) {
        for (const [mailbox, location] of byMailbox) {
          if (isCarried(fact, mailbox)) continue
          const entries = sources.get(`${mailbox} ${fact.key}`) ?? []
          const old = entries.find(entry => entry.id === id)
          const since = createdAt(id, name)
          if (!old) entries.push({ id, fact, location, since })
          else {
            if (location < old.location) old.location = location
            if (since < old.since) old.since = since
          }
          sources.set(`${mailbox} ${fact.key}`, entries)
          destinations.set(fact.key, (destinations.get(fact.key) ?? new Set()).add(mailbox))
        }
      }
    }
    for (const key of new Set([...destinations.keys(), ...wants.keys()])) {
      outcome.set(`source ${id} ${key}`, `${[...(destinations.get(key) ?? [])].sort()} ${wants.get(key)}`)
    }
  }
  const contents = new Map<string, ObjectFact[]>()
  for (const [pair, entries] of sources) {
    entries.sort((a, b) => (a.since < b.since ? -1 : 1))
    outcome.set(`copy ${pair}`, entries.map(e => `${e.id} ${e.fact.revision} ${e.location}`).join())
    const mailbox = pair.slice(0, pair.indexOf(' '))
    contents.set(mailbox, [...(contents.get(mailbox) ?? []), entries[0]!.fact])
  }
  for (const mailbox of new Set([...contents.keys(), ...upsync.keys()])) {
    const sets = (upsync.get(mailbox) ?? []) as PlacementSpec['upsync']
    outcome.set(`config ${mailbox}`, JSON.stringify(syncerConfigSpec(sets)))
  }
  return outcome
}

/** The same outcome as the join tells it, for every key that is or was of interest. */
function answers(join: PlacementJoin, ...keys: ReadonlyMap<string, string>[]): Map<string, string> {
  const outcome = new Map<string, string>()
  for (const full of new Set(keys.flatMap(map => [...map.keys()]))) {
    const [type, at = '', ...rest] = full.split(' ')
    const key = rest.join(' ')
    if (type === 'copy') {
      const found = join.sourcesOf(at, key)
      if (found.length === 0) continue
      outcome.set(full, found.map(s => `${s.space} ${s.fact.revision} ${s.location.locationName}`).join())
    } else if (type === 'source') {
      const destinations = [...join.destinationsOf(at, key).keys()].sort()
      const wants = join.wantedState(at, key)
      if (destinations.length > 0 || wants) outcome.set(full, `${destinations} ${wants}`)
    } else if (join.isChosen(at)) {
      outcome.set(full, JSON.stringify(syncerConfigSpec(join.upsyncOf(at).sets)))
    }
  }
  return outcome
}

function assertEqual(actual: Map<string, string>, wanted: Map<string, string>): void {
  for (const key of new Set([...actual.keys(), ...wanted.keys()])) {
    if (actual.get(key) !== wanted.get(key)) {
      throw new Error(`${key}: the join says ${actual.get(key)}, recomputation says ${wanted.get(key)}`)
    }
  }
}
