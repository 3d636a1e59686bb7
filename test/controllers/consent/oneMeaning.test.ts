// When a space may place on an inventory: the where-resolver and the placement-translator hold to the same table.
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { StreamEvent } from '../../../src/client/client.ts'
import { takeConsent } from '../../../src/controllers/consent/takeConsent.ts'
import { Consents } from '../../../src/controllers/placement/inventory/consents.ts'
import { TopologyFacts } from '../../../src/controllers/placement/inventory/topologyFacts.ts'
import { WhereIndex } from '../../../src/controllers/where-resolver/whereIndex.ts'
import { EVERYTHING, inventoryBinding, placementGrant } from '../../../src/placement/consent/consentObjects.ts'
import { INVENTORY_BINDINGS, mailboxName, PLACEMENT_GRANTS } from '../../../src/placement/words/placement.ts'
import { FakeServer } from '../placement/fakeServer.ts'
import { signalTo } from '../placement/signalTo.ts'

type Verdict = 'granted' | 'refused' | 'unknown'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const UID = '11111111-1111-4111-8111-111111111111'
const INVENTORY = 'inv1'
/** The space that places: `root:dept:team`. */
const SPACE = 'team'

/** Both, with one inventory of one cluster, and a placement that chooses all. */
class Both {
  readonly places = new FakeServer()
  readonly #facts = new TopologyFacts(this.places)
  readonly #where = new WhereIndex(this.places, this.#facts, {
    placement: () => {},
    location: () => {},
    binding: () => {},
    all: () => {},
  })
  readonly #consents = new Consents(
    this.places,
    this.#facts.inventory,
    this.#facts.consents,
    signalTo(() => this.changes++),
  )
  readonly #way = { cluster: INVENTORY, locationName: 'florin', mailbox: mailboxName(INVENTORY, UID) }
  changes = 0

  constructor() {
    this.places.place('dept', 'root:dept')
    this.places.place(SPACE, 'root:dept:team')
    for (const reader of [this.#where, this.#consents]) this.#facts.read(reader)
    this.#facts.consents.follow()
    const florin = { name: 'florin', uid: UID, labels: { env: 'prod' } }
    const location = { apiVersion: EDGE, kind: 'Location', metadata: florin, spec: { instanceSelector: {} } }
    const target = { apiVersion: EDGE, kind: 'SyncTarget', metadata: florin }
    const id = { space: INVENTORY, name: 'florin' }
    this.#facts.setLocation(id, location)
    this.#facts.setTarget(id, target)
    const placement = { apiVersion: EDGE, kind: 'EdgePlacement', metadata: {}, spec: { locationSelectors: [{}] } }
    this.#where.setPlacement({ space: SPACE, name: 'ep' }, placement)
  }

  bind(pinned?: string, metadata: object = {}): void {
    const { metadata: own, ...rest } = inventoryBinding('inv', 'root:inv1')
    const status = pinned === undefined ? {} : { status: { cluster: pinned } }
    this.#tell(INVENTORY_BINDINGS, SPACE, 'inv', { ...rest, metadata: { ...own, ...metadata }, ...status })
  }

  grant(to: { path?: string; cluster?: string }, spec: object = {}, metadata: object = {}): void {
    const { metadata: own, ...rest } = placementGrant('g', to, { ...EVERYTHING, ...spec })
    this.#tell(PLACEMENT_GRANTS, INVENTORY, 'g', { ...rest, metadata: { ...own, ...metadata } })
  }

  spoilBinding(): void {
    t.throws(() => this.#tell(INVENTORY_BINDINGS, SPACE, 'inv', 'spoilt'), /spoilt/)
  }

  spoilGrant(name = 'g'): void {
    t.throws(() => this.#tell(PLACEMENT_GRANTS, INVENTORY, name, 'spoilt'), /spoilt/)
  }

  remove(resource: typeof PLACEMENT_GRANTS, space: string, name: string): void {
    const ref = { resource, space, namespace: '', name }
    takeConsent(this.#facts, ref)
  }

  /** Verdicts of both. */
  verdicts(): { where: Verdict; translator: Verdict } {
    const { destinations, isUncertain } = this.#where.resolve({ space: SPACE, name: 'ep' }, 0)!
    const allowance = this.#consents.allowance(SPACE, this.#way)
    const page = { group: '', resource: 'configmaps', namespace: 'n', name: 'page' }
    return {
      where: verdict(destinations.length > 0, isUncertain(INVENTORY)),
      translator: verdict(allowance.refusal(page) === undefined, allowance.isUncertain),
    }
  }

  /** @throws what taking it in throws, once both have */
  #tell(resource: typeof PLACEMENT_GRANTS, space: string, name: string, object: KubeObject | 'spoilt'): void {
    const event: StreamEvent = {
      type: 'ADDED',
      space,
      resource,
      namespace: '',
      name,
      revision: 1,
      get object(): KubeObject {
        if (object === 'spoilt') throw new Error('spoilt')
        return object
      },
      mentions: () => true,
    }
    takeConsent(this.#facts, event)
  }
}

function verdict(isGranted: boolean, isUncertain: boolean): Verdict {
  return isGranted ? 'granted' : isUncertain ? 'unknown' : 'refused'
}

const BY_PATH = { path: 'root:dept:team' }
const GOING = { deletionTimestamp: '2026-01-01T00:00:00Z' }

/** Steps, each with what holds after it. */
const TABLE: Record<string, readonly [step: (both: Both) => void, then: Verdict][]> = {
  'neither has consented': [[() => {}, 'refused']],
  'a binding alone': [[both => both.bind(), 'refused']],
  'a grant alone': [[both => both.grant(BY_PATH), 'refused']],
  'a binding that is not pinned': [
    [both => both.grant(BY_PATH), 'refused'],
    [both => both.bind(), 'granted'],
    [both => both.bind(''), 'granted'],
    [both => both.bind(INVENTORY), 'granted'],
    [both => both.bind(INVENTORY, GOING), 'refused'],
  ],
  'an inventory that replaced the one that granted': [
    [both => both.grant(BY_PATH), 'refused'],
    [both => both.bind('earlier'), 'refused'],
    [both => both.remove(INVENTORY_BINDINGS, SPACE, 'inv'), 'refused'],
    [both => both.bind(), 'granted'],
  ],
  'an inventory whose place becomes known, and that goes': [
    [both => both.places.unplaced.add(INVENTORY), 'refused'],
    [both => both.grant(BY_PATH), 'refused'],
    [both => both.bind(INVENTORY), 'refused'],
    [both => both.places.place(INVENTORY), 'granted'],
    [both => both.places.leave(INVENTORY), 'refused'],
  ],
  'a grant by id': [
    [both => both.bind(), 'refused'],
    [both => both.grant({ cluster: SPACE }), 'granted'],
    [both => both.grant({ cluster: 'earlier', ...BY_PATH }), 'refused'],
  ],
  'a grant by path': [
    [both => both.bind(), 'refused'],
    [both => both.grant(BY_PATH), 'granted'],
    [both => both.grant({ path: 'root:dept:te' }), 'refused'],
    [both => both.grant(BY_PATH), 'granted'],
    [both => both.grant(BY_PATH, {}, GOING), 'refused'],
  ],
  'a grant by an ancestor': [
    [both => both.bind(), 'refused'],
    [both => both.grant({ path: 'root:dept' }), 'granted'],
    [both => both.grant({ path: 'root:other' }), 'refused'],
    [both => both.grant({ cluster: 'dept' }), 'granted'],
  ],
  'a grant that cannot be read': [
    [both => both.bind(), 'refused'],
    [both => both.spoilGrant(), 'unknown'],
    [both => both.remove(PLACEMENT_GRANTS, INVENTORY, 'g'), 'refused'],
    [both => both.grant(BY_PATH), 'granted'],
    [both => both.spoilGrant('other'), 'granted'],
    [both => both.remove(PLACEMENT_GRANTS, INVENTORY, 'g'), 'unknown'],
    [both => both.spoilGrant(), 'unknown'],
    [both => both.grant(BY_PATH), 'granted'],
    [both => both.spoilGrant(), 'granted'],
  ],
  'a binding that cannot be read': [
    [both => both.grant(BY_PATH), 'refused'],
    [both => both.spoilBinding(), 'unknown'],
    [both => both.bind(), 'granted'],
    [both => both.spoilBinding(), 'granted'],
    [both => both.remove(INVENTORY_BINDINGS, SPACE, 'inv'), 'refused'],
  ],
  'a selector of a grant that cannot be read': [
    [both => both.bind(), 'refused'],
    [both => both.grant(BY_PATH, { locations: { matchLabels: { env: 'prod' } } }), 'granted'],
    [both => both.grant(BY_PATH, { locations: { matchLabels: { env: 'test' } } }), 'refused'],
    [both => both.grant(BY_PATH, { locations: { matchExpressions: [{ key: 'env', operator: 'Odd' }] } }), 'refused'],
  ],
  'a selector of a grant that is too much work': [
    [both => both.bind(), 'refused'],
    [
      both => both.grant(BY_PATH, { locations: { matchExpressions: [{ key: 'env', operator: 'In', values: MANY }] } }),
      'refused',
    ],
  ],
}
const MANY = ['prod', ...Array.from({ length: 10_001 }, (_, i) => `e${i}`)]

for (const [name, steps] of Object.entries(TABLE)) {
  t.test(name, async t => {
    const both = new Both()
    let before = both.verdicts()
    for (const [i, [step, then]] of steps.entries()) {
      both.changes = 0
      step(both)
      const after = both.verdicts()
      t.same(after, { where: then, translator: then }, `after step ${i + 1}`)
      if (after.translator !== before.translator && after.translator !== 'unknown') t.ok(both.changes > 0, 'it is told')
      before = after
    }
  })
}
