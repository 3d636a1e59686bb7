/** The brake of a syncer, alone: which removals it frees, which it holds, and what ends a hold. */
import t, { type Test } from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { PROJECTED_LABEL, PROJECTED_VALUE } from '../../../src/placement/words/placement.ts'
import { RemovalBrake } from '../../../src/syncer/down/removalBrake.ts'
import { keyOf, type Mirrored, type SyncKey } from '../../../src/syncer/mailbox/mirror.ts'
import { ADOPTED } from '../../../src/syncer/whose/clusterRecord.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { configMap, MAPS, NAMESPACES, namespace } from '../support/kinds.ts'
import { recordingLogger } from '../support/recordingLogger.ts'

const placed = { labels: { [PROJECTED_LABEL]: PROJECTED_VALUE } }
const aMap = (name: string): KubeObject => configMap(name, {}, placed)

/** A brake whose first search of the cluster is over. */
function braking(present: readonly Mirrored[] = [], isRestored = false) {
  const { logger, lines } = recordingLogger()
  const clock = new FakeClock()
  const freed: string[] = []
  const obeyed: string[] = []
  const again: string[] = []
  const brake = new RemovalBrake({
    mirror: { values: () => present },
    isRestored: () => isRestored,
    free: ({ name }) => freed.push(name),
    again: ({ name }) => again.push(name),
    obeyed: hash => obeyed.push(hash),
    logger,
    clock,
  })
  brake.searched()
  const leave = (resource: GroupVersionResource, objects: readonly KubeObject[]): SyncKey[] => {
    const keys = objects.map(object => keyOf(resource, object))
    for (const [i, key] of keys.entries()) brake.left(key, objects[i])
    brake.judge()
    return keys
  }
  const holds = (): number => brake.keys().length
  const hash = async (): Promise<string> => {
    await clock.advance(1000)
    return /confirm-deletion=(\w+)$/.exec(lines.at(-1)?.message ?? '')?.[1] ?? ''
  }
  return { brake, freed, obeyed, again, leave, holds, hash }
}

const maps = (count: number, from = 0): KubeObject[] => Array.from({ length: count }, (_, i) => aMap(`m${from + i}`))

function isHeld(t: Test, count: number, present: readonly Mirrored[], expected: boolean): void {
  const { leave, freed, holds } = braking(present)
  leave(MAPS, maps(count))
  t.strictSame([freed.length, holds()], expected ? [0, count] : [count, 0], `${count} beside ${present.length}`)
}

t.test('ten may leave a cluster empty and fifty may go from a full one; one more is held', async t => {
  const other = [{ resource: MAPS, object: aMap('stays') }]
  const around = [{ resource: NAMESPACES, object: { ...namespace('app'), metadata: { name: 'app', ...placed } } }]
  const carriedUp = [{ resource: MAPS, object: configMap('born-there') }]
  for (const nothing of [[], around, carriedUp]) {
    isHeld(t, 10, nothing, false)
    isHeld(t, 11, nothing, true)
  }
  isHeld(t, 50, other, false)
  isHeld(t, 51, other, true)
})

t.test('where the center was restored however little is held', async t => {
  const { brake, leave, freed, holds, hash, obeyed } = braking([{ resource: MAPS, object: aMap('stays') }], true)
  leave(MAPS, maps(1))
  t.strictSame([freed.length, holds()], [0, 1])
  const confirmed = await hash()
  brake.confirmed(confirmed)
  t.strictSame([freed, holds(), obeyed], [['m0'], 0, [confirmed]], 'until it is confirmed')
})

t.test('each object that is held reports the plan of now', async t => {
  const { brake, leave, again, hash } = braking([], true)
  const [first, second] = leave(MAPS, maps(2))
  const before = await hash()
  again.length = 0
  brake.over(first!)
  const now = await hash()
  t.not(now, before)
  t.strictSame(again, ['m1'])
  const hold = brake.holdOf(second!)
  t.match(typeof hold === 'object' && hold.message, new RegExp(`^1 objects .*=${now}$`))
})

t.test('Namespaces go along without being counted', async t => {
  const { leave, freed } = braking()
  leave(
    NAMESPACES,
    Array.from({ length: 60 }, (_, i) => namespace(`n${i}`)),
  )
  t.equal(freed.length, 60)
})

t.test('while something is held, however little goes beside it is held, too, and the plan is another one', async t => {
  const { brake, leave, freed, holds, hash } = braking([{ resource: MAPS, object: aMap('stays') }])
  leave(MAPS, maps(51))
  const before = await hash()
  const [late] = leave(MAPS, maps(1, 51))
  t.strictSame([freed.length, holds()], [0, 52])
  t.match(brake.holdOf(late!), { state: 'held', reason: 'DeletionHeld' })
  const now = await hash()
  t.not(now, before)
  brake.confirmed(before)
  t.equal(holds(), 52, 'who confirms the earlier plan does not confirm this one')
  brake.confirmed(now)
  t.strictSame([freed.length, holds()], [52, 0])
})

t.test('a hold ends with what returns, and a confirmation is obeyed once', async t => {
  const { brake, leave, freed, obeyed, holds, hash } = braking()
  const keys = leave(MAPS, maps(12))
  for (const key of keys.slice(0, 2)) brake.over(key)
  t.equal(holds(), 10)
  t.equal(brake.holdOf(keys[0]!), undefined)
  const confirmed = await hash()
  brake.confirmed(confirmed)
  t.strictSame(obeyed, [confirmed])
  t.equal(freed.length, 10)
  brake.confirmed(undefined)
  leave(MAPS, maps(12))
  t.equal(holds(), 12, 'the same copies are held anew')
})

t.test('who hands a cluster over holds nothing', async t => {
  const { brake, leave, freed } = braking()
  brake.confirmed(ADOPTED)
  leave(MAPS, maps(60))
  t.equal(freed.length, 60)
})
