// Questions to syncers: only to those that support them, one after the other, few at a time, and none for ever.
import t from 'tap'
import { EXTRAS } from '../../../src/apiserver/auth/users.ts'
import { LiveQuestions } from '../../../src/apiserver/authority/liveQuestions.ts'
import { SYNCER_USER } from '../../../src/apiserver/authority/syncerReach.ts'
import { DEFAULT_TIMEOUT_MS } from '../../../src/client/http/options.ts'
import {
  LIVE_PACE_MS,
  LIVE_WAIT_MS,
  type LiveAnswer,
  type LiveQuestion,
  MAX_LIVE_BYTES,
  MAX_LIVE_WAITING,
  MAX_TENANT_WAITING,
  readLiveAnswer,
} from '../../../src/placement/desks/liveObjects.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

const MAILBOX = 'root:espw:abc-mb-11111111-1111-4111-8111-111111111111'
const syncer = { name: SYNCER_USER, uid: '', groups: [], extra: { [EXTRAS.clusterName]: ['m1'] } }
const asked = { group: '', resource: 'configmaps', namespace: 'shop', name: 'page', hashKey: 'k' }

function scene() {
  const clock = new FakeClock()
  const tenantOf = (space: string): string => space.split('/')[0]!
  const questions = new LiveQuestions({ tree: { pathOf: () => MAILBOX, tenantOf }, clock })
  const heard: LiveQuestion[] = []
  const read = (send: (question: LiveQuestion) => void = question => void heard.push(question)) =>
    questions.reading('m1', syncer, send)
  const answer = (id: string): LiveAnswer => ({ id, state: 'same', message: '' })
  return { clock, questions, heard, read, answer }
}

t.test('a question goes to a syncer that hears it, and its answer comes back', async t => {
  const { questions, heard, read, answer, clock } = scene()
  t.equal(await questions.ask('m1', 'wds', asked), 'NoSyncer')
  questions.reading('m1', { name: 'mia', uid: '', groups: [] }, () => t.fail('nobody else is asked'))
  t.equal(await questions.ask('m1', 'wds', asked), 'NoSyncer')
  const end = read()
  const told = questions.ask('m1', 'wds', asked)
  await clock.advance(0)
  t.match(heard, [{ ...asked, id: /^[0-9a-f-]{36}$/ }])
  const { id } = heard[0]!
  questions.take('m2', answer(id))
  questions.take('m1', answer('another'))
  questions.take('m1', { ...answer(id), state: 'missing' })
  questions.take('m1', answer(id))
  t.match(await told, { state: 'missing' }, 'the first word of the syncer that was asked')
  t.equal(clock.pending, 0)
  end()
  t.equal(await questions.ask('m1', 'wds', asked), 'NoSyncer')
})

t.test('a silent syncer is waited for so long; a space asks a cluster once in so long', async t => {
  const { questions, heard, read, clock, answer } = scene()
  read()
  const first = questions.ask('m1', 'wds', asked)
  const second = questions.ask('m1', 'wds', asked)
  const others = questions.ask('m1', 'wds2', asked)
  await clock.advance(LIVE_PACE_MS - 1)
  t.equal(heard.length, 2, 'another space is not kept waiting')
  await clock.advance(1)
  t.equal(heard.length, 3)
  questions.take('m1', answer(heard[2]!.id))
  t.match(await second, { state: 'same' })
  await clock.advance(LIVE_WAIT_MS)
  t.equal(await first, 'SilentSyncer')
  t.equal(await others, 'SilentSyncer')
  questions.take('m1', answer(heard[0]!.id))
})

t.test('whoever asks hears that nobody answered before their own client gives up', async t => {
  const { questions, heard, read, clock } = scene()
  read()
  const turns = LIVE_WAIT_MS / LIVE_PACE_MS
  const told = Array.from({ length: turns + 1 }, () => questions.ask('m1', 'wds', asked))
  await clock.advance(LIVE_WAIT_MS)
  t.equal(heard.length, turns + 1, 'the last one has waited for its turn as long as anybody may')
  await clock.advance((DEFAULT_TIMEOUT_MS * 3) / 4 - LIVE_WAIT_MS)
  t.equal(clock.pending, 0)
  t.strictSame(new Set(await Promise.all(told)), new Set(['SilentSyncer']))
})

t.test('who has gone is waited for no longer, nor is anything asked for them', async t => {
  const { questions, heard, read, clock, answer } = scene()
  read()
  const gone = new AbortController()
  const first = questions.ask('m1', 'wds', asked, gone.signal)
  const inLine = questions.ask('m1', 'wds', asked, gone.signal)
  await clock.advance(0)
  gone.abort()
  t.same(await Promise.all([first, inLine]), ['SilentSyncer', 'SilentSyncer'])
  t.equal(clock.pending, 0)
  questions.take('m1', answer(heard[0]!.id))
  t.equal(heard.length, 1)
})

t.test('few wait at a time', async t => {
  const { questions, heard, read, clock, answer } = scene()
  read()
  const all = Array.from({ length: MAX_LIVE_WAITING }, (_, i) => questions.ask('m1', `space${i}`, asked))
  await clock.advance(0)
  t.equal(heard.length, MAX_LIVE_WAITING)
  t.equal(await questions.ask('m1', 'wds', asked), 'TooMany')
  for (const { id } of heard) questions.take('m1', answer(id))
  await Promise.all(all)
  const again = questions.ask('m1', 'wds', asked)
  await clock.advance(0)
  questions.take('m1', answer(heard.at(-1)!.id))
  t.match(await again, { state: 'same' })
  const turns = Array.from({ length: 40 }, () => questions.ask('m1', 'greedy', asked))
  t.equal(await turns.at(-1), 'TooMany', 'who would wait too long for a turn hears so at once')
  await clock.advance(3 * LIVE_WAIT_MS)
  await Promise.all(turns)
})

t.test('a tenant leaves room for others, however many spaces it has', async t => {
  const { questions, heard, read, clock, answer } = scene()
  read()
  const all = Array.from({ length: MAX_TENANT_WAITING }, (_, i) => questions.ask('m1', `greedy/${i}`, asked))
  await clock.advance(0)
  t.equal(await questions.ask('m1', 'greedy/more', asked), 'TooMany')
  const other = questions.ask('m1', 'team/wds', asked)
  await clock.advance(0)
  for (const { id } of heard) questions.take('m1', answer(id))
  t.match(await other, { state: 'same' })
  await Promise.all(all)
})

t.test('a syncer that leaves is waited for no longer', async t => {
  const { questions, heard, read, clock } = scene()
  const ends = [read(), read()]
  const told = questions.ask('m1', 'wds', asked)
  await clock.advance(0)
  ends[0]!()
  t.equal(clock.pending, 1, 'one of its streams is still there')
  ends[1]!()
  t.equal(await told, 'NoSyncer')
  t.equal(heard.length, 1)
  t.equal(clock.pending, 0)
})

t.test('what a syncer says is bounded, and read before it counts', async t => {
  t.match(readLiveAnswer({ id: 'a', state: 'failed', message: 'one\nline\u001b[31m', live: { x: 1 } }), {
    message: /^one line/,
    live: { x: 1 },
    wanted: undefined,
  })
  t.notOk(readLiveAnswer({ id: 'a', state: 'failed', message: '\u001b[31m' }).message.includes('\u001b'))
  t.throws(() => readLiveAnswer(7), /answer: must be an object/)
  t.throws(() => readLiveAnswer({ id: '', state: 'same' }), /answer\.id/)
  t.throws(() => readLiveAnswer({ id: 'a', state: 'fine' }), /answer\.state: must be one of same, /)
  t.throws(() => readLiveAnswer({ id: 'a', state: 'same', live: [] }), /answer\.live: must be an object/)
  const large = { x: 'y'.repeat(MAX_LIVE_BYTES) }
  t.throws(() => readLiveAnswer({ id: 'a', state: 'same', wanted: large }), /answer\.wanted: has more than 65536 bytes/)
})
