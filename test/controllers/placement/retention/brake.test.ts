// The limits of the brake, held to a model that remembers everything.

import t from 'tap'
import type { Clock } from '../../../../src/client/clock.ts'
import type { ObjectFact } from '../../../../src/controllers/placement/join/workload.ts'
import { Mailbox } from '../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { Brake } from '../../../../src/controllers/placement/retention/brake.ts'
import { namespaceKey, objectKey } from '../../../../src/placement/words/names.ts'
import * as fc from '../../../support/fastCheck.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const WINDOW_MS = 10_000

/** One space with one EdgePlacement, some mailboxes with as many copies each, and a brake; time stands still by itself. */
class Scene {
  now = 1_000_000_000_000
  readonly mailboxes = new Map<string, Mailbox>()
  /** Objects that are not placed any more, and those that are there no more. */
  readonly unselected = new Set<string>()
  readonly deleted = new Set<string>()
  /** Mailboxes whose SyncTarget is gone. */
  readonly left = new Set<string>()
  readonly brake: Brake
  /** How often somebody went through all mailboxes. */
  rounds = 0
  /** Not all of the mailboxes was looked at yet. */
  isOpen = false
  /** A judgement under way is overtaken once, when it reads what the name says. */
  readonly overtakes = new Map<'isOpen' | 'mailboxes', () => void>()
  readonly removed: { mailbox: string; key: string; atMs: number }[] = []
  #asked = false

  constructor(mailboxes: number, copies: number) {
    for (let m = 0; m < mailboxes; m++) {
      const mailbox = new Mailbox(`m${m}`, `s${m}`)
      mailbox.synced = true
      for (let i = 0; i < copies; i++) {
        const fact = {
          resource: MAPS,
          uid: `u${m}-${i}`,
          resourceVersion: '1',
          settled: true,
          terminating: false,
          owner: 'ws1',
        }
        mailbox.copies.set(keyOf(i), fact)
      }
      this.mailboxes.set(mailbox.name, mailbox)
    }
    this.brake = new Brake({
      join: {
        fact: (_, key) => (this.deleted.has(key) ? undefined : ({ key } as ObjectFact)),
        isWorkloadSpace: () => true,
        placementNames: () => ['ep'],
        carrying: () => [][Symbol.iterator]() as never,
        sourcesOf: () => [],
        workload: () => {
          throw new Error('no Namespace is deleted here')
        },
      },
      clock: { now: () => this.now } as Clock,
      mailboxes: () => {
        this.rounds++
        this.#overtake('mailboxes')
        return this.mailboxes.values()
      },
      mailbox: name => this.mailboxes.get(name),
      isWhole: () => true,
      isKnown: () => true,
      isOpen: () => {
        this.#overtake('isOpen')
        return this.isOpen
      },
      isGoing: () => false,
      isEvicted: () => false,
      isLeaving: name => this.left.has(name),
      isUnwanted: (mailbox, key) => mailbox.copies.has(key) && this.isUnwanted(key),
      ask: () => {
        this.#asked = true
      },
      again: () => {},
      keepsAll: () => false,
      stays: () => {},
      emptied: () => {},
      report: () => {},
    })
  }

  #overtake(at: 'isOpen' | 'mailboxes'): void {
    const change = this.overtakes.get(at)
    this.overtakes.delete(at)
    change?.()
  }

  isUnwanted(key: string): boolean {
    return this.unselected.has(key) || this.deleted.has(key)
  }

  /** As the translator does: all that changed is looked at, then judged, then looked at again. */
  async settle(): Promise<void> {
    for (let again = true; again; ) {
      this.#asked = false
      const before = this.removed.length
      for (const mailbox of this.mailboxes.values()) {
        for (const [key, copy] of [...mailbox.copies]) {
          if (!this.isUnwanted(key)) this.brake.settled(mailbox, key)
          else if (this.brake.submit(mailbox, key, copy)) {
            mailbox.copies.delete(key)
            this.brake.settled(mailbox, key)
            this.removed.push({ mailbox: mailbox.name, key, atMs: this.now })
          }
        }
      }
      const wasAsked = this.#asked
      if (wasAsked) await this.brake.judge('ws1')
      again = this.removed.length > before || wasAsked
    }
  }
}

const keyOf = (i: number) => objectKey(MAPS, 'ns', `c${i}`)

const step = fc.oneof(
  fc.record({ type: fc.constantFrom('unselect' as const, 'select' as const), from: fc.nat(70), count: fc.nat(70) }),
  fc.record({ type: fc.constant('delete' as const), from: fc.nat(70), count: fc.nat(4) }),
  fc.record({ type: fc.constant('wait' as const), from: fc.nat(15_000), count: fc.constant(0) }),
)

t.test(
  'nothing unasked goes over the limits, little goes at once, and what is deleted by name always goes',
  async () => {
    const world = fc.record({ mailboxes: fc.integer({ min: 1, max: 4 }), copies: fc.integer({ min: 1, max: 70 }) })
    await fc.assert(
      fc.asyncProperty(world, fc.array(step, { maxLength: 15 }), async ({ mailboxes, copies }, steps) => {
        const scene = new Scene(mailboxes, copies)
        await scene.brake.judge('')
        await scene.brake.judge('')
        for (const { type, from, count } of steps) {
          const keys = Array.from({ length: count }, (_, i) => keyOf(from + i))
          const sizes = new Map([...scene.mailboxes].map(([name, mailbox]) => [name, mailbox.copies.size]))
          const isCalm = scene.brake.holdOf('ws1', 'ep') === undefined
          const before = scene.removed.length
          if (type === 'wait') scene.now += from
          for (const key of keys) {
            if (type === 'unselect') scene.unselected.add(key)
            if (type === 'select') scene.unselected.delete(key)
            if (type === 'delete') {
              scene.deleted.add(key)
              scene.brake.sourceGone('ws1', key, true)
            }
          }
          await scene.settle()
          const gone = inferred(scene)
          if (gone.length > 50) return false
          for (const [name, mailbox] of scene.mailboxes) {
            const emptied = gone.filter(removal => removal.mailbox === name).length
            if (emptied > 10 && mailbox.copies.size === 0 && sizes.get(name)! > 0 && scene.removed.length > before) {
              // unless what went last was deleted by name
              if (type !== 'delete') return false
            }
            for (const key of scene.deleted) if (mailbox.copies.has(key)) return false
          }
          if (type !== 'unselect' || !isCalm || copies <= 10) continue
          const asked = sizes.size * keys.filter((_, i) => from + i < copies).length
          const isFirst = before === 0 && scene.deleted.size === 0 && scene.unselected.size === keys.length
          if (!isFirst || keys.length > copies / 2 || asked > 50) continue
          for (const { copies: left } of scene.mailboxes.values()) if (keys.some(key => left.has(key))) return false
        }
        return true
      }),
      { numRuns: 250 },
    )
  },
)

/** Removals within the last ten seconds without a deletion by name. */
function inferred(scene: Scene) {
  return scene.removed.filter(({ key, atMs }) => !scene.deleted.has(key) && scene.now - atMs < WINDOW_MS)
}

t.test('what went lately counts, though all that was held was wanted again meanwhile', async t => {
  const scene = new Scene(1, 11)
  await scene.brake.judge('')
  const unselect = async (from: number, to: number): Promise<void> => {
    for (let i = from; i < to; i++) scene.unselected.add(keyOf(i))
    await scene.settle()
  }
  await unselect(0, 9)
  t.equal(scene.removed.length, 9)
  await unselect(9, 11)
  t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 2 })
  scene.unselected.clear()
  await scene.settle()
  t.equal(scene.brake.holdOf('ws1', 'ep'), undefined)
  await unselect(0, 11)
  t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 2 })
  t.equal(scene.removed.length, 9)
})

t.test('the hash of a plan changes with it, and a plan that shrinks stays held', async t => {
  const scene = new Scene(3, 60)
  await scene.brake.judge('')
  for (let i = 0; i < 60; i++) scene.unselected.add(keyOf(i))
  await scene.settle()
  const hold = () => {
    const told = scene.brake.holdOf('ws1', 'ep')
    if (told === 'unknown' || told === undefined) throw new Error('nothing is held')
    return told
  }
  t.match(hold(), { copies: 180, clusters: 3 })
  const { hash } = hold()
  for (let i = 5; i < 60; i++) scene.unselected.delete(keyOf(i))
  await scene.settle()
  t.match(hold(), { copies: 15 }, 'who puts things right step by step loses nothing on the way')
  t.not(hold().hash, hash)
  t.equal(scene.removed.length, 0)
})

t.test('what goes with its Namespace stays held whatever else bears the name of the Namespace', async t => {
  const scene = new Scene(2, 40)
  await scene.brake.judge('')
  const keys = Array.from({ length: 40 }, (_, i) => keyOf(i))
  scene.brake.namespaceGoing('ws1', 'ns', keys)
  scene.brake.sourceCame('ws1', objectKey(MAPS, 'elsewhere', 'ns'))
  for (const key of keys) {
    scene.deleted.add(key)
    scene.brake.sourceGone('ws1', key, true)
  }
  await scene.settle()
  t.equal(scene.removed.length, 0)
  t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 80 })

  t.comment('a Namespace that is there again ends that: what is gone was deleted by name')
  scene.brake.sourceCame('ws1', namespaceKey('ns'))
  await scene.settle()
  t.equal(scene.removed.length, 80)
})

t.test('what a deleted Namespace had stays held when all its mailboxes are closed and opened again', async t => {
  const scene = new Scene(2, 40)
  await scene.brake.judge('')
  const keys = Array.from({ length: 40 }, (_, i) => keyOf(i))
  scene.brake.namespaceGoing('ws1', 'ns', keys)
  for (const key of keys) {
    scene.deleted.add(key)
    scene.brake.sourceGone('ws1', key, true)
  }
  await scene.settle()
  t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 80 })
  const mailboxes = [...scene.mailboxes]
  scene.mailboxes.clear()
  await scene.brake.judge('ws1')
  t.comment('until their snapshots are there they are empty')
  for (const [name, { space }] of mailboxes) scene.mailboxes.set(name, new Mailbox(name, space))
  await scene.brake.judge('ws1')
  for (const [name, mailbox] of mailboxes) scene.mailboxes.set(name, mailbox)
  await scene.settle()
  t.equal(scene.removed.length, 0)
  t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 80 })
})

for (const at of ['isOpen', 'mailboxes'] as const) {
  t.test(`a small app that is lost while a judgement is under way is held by the next one (${at})`, async t => {
    const scene = new Scene(2, 40)
    const [first, ...app] = [0, 1, 2, 3].map(keyOf)
    await scene.brake.judge('')
    scene.brake.namespaceGoing('ws1', 'ns', [keyOf(39)])
    const lose = (keys: readonly string[], how: 'left' | 'taken') => {
      for (const key of keys) scene.unselected.add(key)
      scene.brake.lost('ws1', 'ep', { mailboxes: ['m0', 'm1'], keys, how })
    }
    const mayGo = (keys: readonly string[]) =>
      [...scene.mailboxes.values()].flatMap(mailbox =>
        keys.map(key => scene.brake.submit(mailbox, key, mailbox.copies.get(key)!)),
      )
    lose([first!], 'left')
    scene.overtakes.set(at, () => {
      lose(app, 'taken')
      mayGo(app)
    })
    await scene.brake.judge('ws1')
    t.equal(scene.overtakes.size, 0)
    t.notOk(mayGo(app).includes(true))
    t.notOk(mayGo([first!]).includes(false), 'the judgement frees nevertheless what was there when it began')
    await scene.settle()
    t.strictSame(new Set(scene.removed.map(({ key }) => key)), new Set([first]))
    t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 6 })
  })
}

t.test('what is held of a small app stays held when its mailbox is closed and opened again', async t => {
  const scene = new Scene(2, 3)
  const keys = [0, 1, 2].map(keyOf)
  const hold = () => scene.brake.holdOf('ws1', 'ep')
  const lose = () => {
    for (const key of keys) scene.unselected.add(key)
    scene.brake.lost('ws1', 'ep', { mailboxes: ['m0', 'm1'], keys, how: 'taken' })
  }
  await scene.brake.judge('')
  lose()
  await scene.settle()
  t.match(hold(), { copies: 6 })
  const m0 = scene.mailboxes.get('m0')!
  scene.mailboxes.delete('m0')
  await scene.brake.judge('ws1')
  scene.mailboxes.set('m0', m0)
  await scene.settle()
  t.match(hold(), { copies: 6 })
  t.equal(scene.removed.length, 0)

  t.comment('and so does what it lost while the mailbox was closed')
  scene.unselected.clear()
  await scene.settle()
  t.equal(hold(), undefined)
  scene.mailboxes.delete('m0')
  lose()
  await scene.settle()
  t.match(hold(), { copies: 3 })
  scene.mailboxes.set('m0', m0)
  await scene.settle()
  t.match(hold(), { copies: 6 })
  t.equal(scene.removed.length, 0)

  t.comment('a mailbox whose SyncTarget is gone takes its copies with it')
  scene.mailboxes.delete('m0')
  scene.left.add('m0')
  scene.brake.mailboxLeaves('m0')
  await scene.brake.judge('ws1')
  t.match(hold(), { copies: 3 })
})

t.test('the deletion of a Namespace is over with the last copy of what it held', async t => {
  const scene = new Scene(3, 40)
  await scene.brake.judge('')
  const keys = Array.from({ length: 4 }, (_, i) => keyOf(i))
  const [m0, ...others] = scene.mailboxes.values()
  for (const mailbox of others) for (const key of keys) mailbox.copies.delete(key)
  const fact = m0!.copies.get(keys[0]!)!
  const goesByName = async (isDue: boolean) => {
    for (const key of keys) scene.brake.sourceGone('ws1', key, true)
    await scene.settle()
    t.equal(m0!.copies.has(keys[0]!), !isDue)
  }
  scene.brake.namespaceGoing('ws1', 'ns', keys)
  for (const key of keys) scene.deleted.add(key)
  scene.rounds = 0
  await goesByName(true)
  t.ok(scene.rounds < 6, `all mailboxes are gone through once in a judgement, not for each key: ${scene.rounds}`)

  t.comment('they come again, and the EdgePlacement carries nothing: what is deleted by name then goes all the same')
  for (const key of keys) m0!.copies.set(key, { ...fact, uid: `again ${key}` })
  scene.brake.lost('ws1', 'ep', { mailboxes: ['m0'], keys, how: 'taken' })
  await goesByName(true)
  t.equal(scene.removed.length, 8)
})

t.test('the first of many does not pass for little while a mailbox is looked through', async t => {
  const scene = new Scene(1, 12)
  const [mailbox] = scene.mailboxes.values()
  await scene.brake.judge('')
  for (let i = 0; i < 12; i++) scene.unselected.add(keyOf(i))
  const ask = (from: number, to: number): boolean[] =>
    Array.from({ length: to - from }, (_, i) => {
      const key = keyOf(from + i)
      return scene.brake.submit(mailbox!, key, mailbox!.copies.get(key)!)
    })
  scene.isOpen = true
  ask(0, 5)
  await scene.brake.judge('ws1')
  t.notOk(ask(0, 5).includes(true))
  ask(5, 12)
  scene.isOpen = false
  await scene.brake.judge('ws1')
  t.notOk(ask(0, 12).includes(true))
  t.ok(scene.brake.staysAs('ws1', 'm0', keyOf(0)) === 'held')
})

t.test('what was free to go and is paused before it went is judged with what else the pause kept', async t => {
  const scene = new Scene(1, 12)
  const [mailbox] = scene.mailboxes.values()
  const mayGo = (i: number): boolean => scene.brake.submit(mailbox!, keyOf(i), mailbox!.copies.get(keyOf(i))!)
  await scene.brake.judge('')
  for (let i = 0; i < 6; i++) scene.unselected.add(keyOf(i))
  for (let i = 0; i < 6; i++) mayGo(i)
  await scene.brake.judge('ws1')
  t.ok(mayGo(0))
  for (let i = 0; i < 6; i++) scene.brake.paused(mailbox!, keyOf(i))
  for (let i = 6; i < 12; i++) scene.unselected.add(keyOf(i))
  scene.now += 2 * WINDOW_MS
  for (let i = 0; i < 12; i++) t.notOk(mayGo(i))
  await scene.brake.judge('ws1')
  for (let i = 0; i < 12; i++) t.notOk(mayGo(i), `${i}`)
})

t.test('what an earlier run held is not known before somebody has looked', async t => {
  const scene = new Scene(1, 60)
  const condition = { type: 'DeletionHeld', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' }
  const placement = {
    apiVersion: 'v1',
    kind: 'EdgePlacement',
    metadata: { name: 'ep' },
    status: { conditions: [condition] },
  }
  for (let i = 0; i < 60; i++) scene.unselected.add(keyOf(i))
  t.notOk(scene.brake.isUnsure('ws1'))
  scene.brake.placementSeen('ws1', 'ep', placement)
  t.ok(scene.brake.isUnsure('ws1'))
  t.equal(scene.brake.holdOf('ws1', 'ep'), 'unknown')
  await scene.brake.judge('ws1')
  await scene.settle()
  t.notOk(scene.brake.isUnsure('ws1'))
  t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 60 })
})

t.test('held objects that were withdrawn go when they are deleted by name', async t => {
  const scene = new Scene(2, 40)
  await scene.brake.judge('')
  const keys = Array.from({ length: 40 }, (_, i) => keyOf(i))
  for (const key of keys) {
    scene.deleted.add(key)
    scene.brake.sourceGone('ws1', key, false)
  }
  await scene.settle()
  t.match(scene.brake.holdOf('ws1', 'ep'), { copies: 80 })
  for (const key of keys) scene.brake.sourceGone('ws1', key, true)
  await scene.settle()
  t.equal(scene.removed.length, 80)
})

t.test('a preview counts a copy that only a pause keeps as nothing that stays in its cluster', async t => {
  const { brake } = new Scene(1, 12)
  const keys = Array.from({ length: 12 }, (_, i) => keyOf(i))
  const going = new Map([['m0', new Set(keys.slice(1))]])
  t.equal(brake.wouldHold('ws1', going, new Map()), false, 'one stays')
  t.equal(brake.wouldHold('ws1', going, new Map([['m0', new Set(keys.slice(0, 1))]])), true)
})
