/** Open reads end when their credential or right has gone, and only then; judging is bounded. */
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { Authentication, Permission } from '../../../src/apiserver/auth/types.ts'
import { OpenAccess } from '../../../src/apiserver/exchange/openAccess.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { FakeClock, settle } from '../../client/support/fakeClock.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

const NOBODY = statusError.unauthorized()

class Watch implements Permission {
  readonly space: string
  identity: Authentication
  /** Each time that it was judged: whether anew. */
  readonly judged: boolean[] = []
  refused: unknown
  ends = 0

  constructor(space: string, identity: Partial<Authentication> = {}) {
    this.space = space
    this.identity = { user: { name: 'u', groups: [] }, ...identity }
  }

  judge(anew: boolean): void {
    this.judged.push(anew)
    if (this.refused !== undefined) throw this.refused
  }
}

function scene() {
  const clock = new FakeClock()
  const access = new OpenAccess({ turns: endlessTurns(), clock })
  const open = (watch: Watch) => access.hold(watch, () => watch.ends++)
  return { clock, access, open }
}

t.test('the loss of a right ends what it opened, and nothing else', async t => {
  const { access, open } = scene()
  const [lost, kept, elsewhere] = [new Watch('s1'), new Watch('s1'), new Watch('s2')]
  const held = [lost, kept, elsewhere].map(open)
  lost.refused = NOBODY
  elsewhere.refused = NOBODY
  access.rightsChanged('s1')
  t.equal(lost.ends, 0, 'not inside the commit')
  await settle()
  t.same(
    [lost, kept, elsewhere].map(({ ends }) => ends),
    [1, 0, 0],
  )
  t.same(
    held.map(({ refusal }) => refusal),
    [NOBODY, undefined, undefined],
  )
  access.rightsChanged(undefined)
  await settle()
  t.equal(elsewhere.ends, 1, 'all are in doubt where nobody knows which')
  t.equal(lost.ends, 1, 'nothing ends twice')
})

t.test('a credential is shown anew where its own space changed, wherever it reads', async t => {
  const { access, open } = scene()
  const [own, guest, user] = [new Watch('s1', { space: 's1' }), new Watch('s2', { space: 's1' }), new Watch('s1')]
  for (const watch of [own, guest, user]) open(watch)
  t.same(own.judged, [true], 'at once: what it came with may have ended meanwhile')
  access.credentialsChanged('s1')
  await settle()
  t.same(
    [own, guest, user].map(({ judged }) => judged),
    [[true, true], [true, true], [true]],
  )
  own.refused = guest.refused = NOBODY
  access.credentialsChanged('s2')
  await settle()
  t.same([own.ends, guest.ends], [0, 0])
})

t.test('changes that come meanwhile cost one more round', async t => {
  const { access, open, clock } = scene()
  const watch = new Watch('s1')
  open(watch)
  for (let change = 0; change < 100; change++) {
    access.rightsChanged('s1')
    await settle()
  }
  t.equal(watch.judged.length, 2, 'the first at once')
  watch.refused = NOBODY
  await clock.advance(250)
  t.equal(watch.judged.length, 3, 'all others in one')
  t.equal(watch.ends, 1)
  await clock.advance(250)
  t.equal(clock.pending, 0)
})

t.test('thousands are judged in turns', async t => {
  let nowMs = 0
  let turns = 0
  const later = (turn: () => void): void => {
    setImmediate(() => {
      turns++
      turn()
    })
  }
  const access = new OpenAccess({
    turns: new WorkTurns({ clock: () => nowMs, later, sliceMs: 3 }),
    clock: new FakeClock(),
  })
  const watches = Array.from({ length: 300 }, () => new Watch('s1'))
  for (const watch of watches) access.hold(watch, () => watch.ends++)
  for (const watch of watches) watch.judge = () => void nowMs++
  turns = 0
  access.rightsChanged('s1')
  while (nowMs < 300) await settle()
  t.ok(turns >= 60, `no turn takes more than its slice: ${turns}`)
})

t.test('a credential that ends by its age ends what it opened', async t => {
  const { open, clock } = scene()
  const untilMs = clock.now() + 60_000
  const [short, long, renewed] = [
    new Watch('s1', { untilMs }),
    new Watch('s1', { untilMs: untilMs + 1e9 }),
    new Watch('s1', { untilMs }),
  ]
  for (const watch of [short, long, renewed]) open(watch)
  await clock.advance(59_999)
  t.same([short.ends, long.ends, renewed.ends], [0, 0, 0])
  short.refused = NOBODY
  renewed.identity = { ...renewed.identity, untilMs: untilMs + 5000 }
  await clock.advance(1)
  t.same([short.ends, long.ends, renewed.ends], [1, 0, 0])
  await clock.advance(5000)
  t.equal(renewed.ends, 1, 'also where it is remembered for longer')
  t.equal(clock.pending, 0)
})

t.test('what has ended by itself costs nothing more', async t => {
  const { access, open, clock } = scene()
  const watch = new Watch('s1', { untilMs: clock.now() + 60_000 })
  open(watch).release()
  t.equal(clock.pending, 0)
  watch.refused = NOBODY
  access.rightsChanged('s1')
  await settle()
  t.same([watch.judged.length, watch.ends], [1, 0])
})

t.test('a right that went before it was open', async t => {
  const { open } = scene()
  const watch = new Watch('s1')
  watch.refused = NOBODY
  t.equal(open(watch).refusal, NOBODY)
  t.equal(watch.ends, 1)
})
