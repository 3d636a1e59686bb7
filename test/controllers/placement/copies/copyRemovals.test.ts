// A copy that leaves waits until its object is in its new place. A change of that time counts.
import t from 'tap'
import { CopyRemovals } from '../../../../src/controllers/placement/copies/copyRemovals.ts'
import { Mailbox } from '../../../../src/controllers/placement/mailboxes/mailbox.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'

const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const KEY = objectKey(MAPS, 'ns', 'page')
const PLACES = ['guilder', 'franc'] as const

/** A copy at florin whose object goes to two other mailboxes now. `meanwhile`: it is being made in one of them. */
function scene(meanwhile: (world: { isClaimed: boolean; isPaused: boolean; isHeld: boolean }, place: string) => void) {
  const florin = new Mailbox('florin', 's0')
  const fact = { resource: MAPS, uid: 'u', resourceVersion: '1', settled: true, terminating: false, owner: 'ws' }
  florin.copies.set(KEY, fact)
  const others = new Map(PLACES.map(name => [name as string, new Mailbox(name, name)]))
  const world = { isClaimed: false, isPaused: false, isHeld: false }
  const done: string[] = []
  const join = {
    sourcesOf: () => (world.isClaimed ? [{ space: 'ws' }] : []),
    destinationsOf: () => new Map(PLACES.map(name => [name, []])),
    fact: () => undefined,
    spec: () => undefined,
    unsureOf: () => new Set(),
  }
  const deps = {
    join,
    facts: {
      join,
      rules: { isReleased: () => false, isSpace: () => false },
      pauses: { locationOf: () => undefined, holdsClaim: () => false, holdsCopy: () => world.isPaused },
      isLeaving: () => false,
      isUnschedulable: () => false,
      isFollowed: () => true,
      isNeeded: () => false,
    },
    mailbox: (name: string) => others.get(name),
    brake: { submit: () => !world.isHeld, isPreserved: () => false },
    again: (name: string, key: string) => name === 'florin' && key === KEY && done.push('decided again'),
    notes: { settled: () => done.push('settled') },
    writer: {
      remove: async () => {
        done.push('removed')
      },
    },
    converge: async ({ name }: Mailbox) => {
      done.push(`made at ${name}`)
      meanwhile(world, name)
      return {}
    },
  }
  const removals = new CopyRemovals(deps as never)
  return { done, remove: () => removals.remove(florin, KEY, fact) }
}
const MADE = PLACES.map(name => `made at ${name}`)

t.test('it is made in each of its new places before it goes', async t => {
  const { done, remove } = scene(() => {})
  t.same(await remove(), {})
  t.same(done, [...MADE, 'removed'])
})

for (const [what, meanwhile, then] of [
  ['the move is undone', (world: { isClaimed: boolean }) => (world.isClaimed = true), ['decided again']],
  ['a pause comes', (world: { isPaused: boolean }) => (world.isPaused = true), ['decided again']],
  ['it is held', (world: { isHeld: boolean }) => (world.isHeld = true), []],
] as const)
  t.test(`it stays where ${what} while it is being made in the second place`, async t => {
    const { done, remove } = scene((world, place) => place === 'franc' && meanwhile(world))
    t.same(await remove(), then.length > 0 ? { behind: true } : {})
    t.same(done, [...MADE, ...then])
  })

t.test('a place that does not take it is waited for, and then the copy goes all the same', async t => {
  const { done, remove } = scene((_, place) => {
    if (place === 'guilder') throw new Error('no room')
  })
  const waits: number[] = []
  for (let i = 0; i < 10; i++) {
    const { requeueAfterMs } = await remove()
    if (requeueAfterMs === undefined) break
    waits.push(requeueAfterMs)
  }
  t.same(waits, [20, 40, 80, 160, 320, 640])
  t.equal(done.at(-1), 'removed')
})
