/** Histories whose answers keep the promises, and for each way to break one a history that does: the checker says which. */
import t from 'tap'
import { type AnswerRecord, brokenAnswers, type StateAt } from './answerHistory.ts'
import type { Change } from './watchHistory.ts'

const change = (revision: number, type: Change['type'], key: string, content = ''): Change => ({
  revision,
  type,
  key,
  content,
})
const log = [
  change(1, 'put', 'a', 'red'),
  change(3, 'put', 'a', 'blue'),
  change(4, 'put', 'right'),
  change(6, 'delete', 'right'),
  change(7, 'delete', 'a', 'blue'),
]
const is =
  (content: string | undefined) =>
  (state: StateAt): boolean =>
    state('a')?.content === content
const allowed = (state: StateAt): boolean => state('right') !== undefined
const refused = (state: StateAt): boolean => !allowed(state)
const answer = (name: string, begun: number, to: number, rest: Partial<AnswerRecord> = {}): AnswerRecord => ({
  name,
  begun,
  to,
  ...rest,
})

t.test('histories that keep them', async t => {
  const fine: Record<string, AnswerRecord[]> = {
    nothing: [],
    'each instant between question and answer will do': [
      answer('write', 0, 1, { tells: 1 }),
      answer('early', 1, 3, { suits: is('red') }),
      answer('late', 1, 3, { suits: is('blue') }),
    ],
    'who asked before an answer need not know of it': [
      answer('write', 0, 3, { tells: 3 }),
      answer('read', 0, 3, { suits: is('red') }),
    ],
    'a right that goes meanwhile': [
      answer('given', 0, 4, { tells: 4 }),
      answer('allowed', 1, 6, { suits: allowed }),
      answer('taken', 1, 6, { tells: { deleted: 'right' } }),
      answer('refused', 3, 6, { suits: refused }),
    ],
    'an answer about a revision': [answer('list', 0, 7, { tells: 3, at: 3, suits: is('blue') })],
  }
  for (const [name, answers] of Object.entries(fine)) t.strictSame(brokenAnswers(log, answers), [], name)
})

t.test('histories that do not', async t => {
  const given = answer('given', 0, 4, { tells: 4 })
  const taken = answer('taken', 1, 6, { tells: { deleted: 'right' } })
  const wrong: Record<string, [why: RegExp, answers: AnswerRecord[]]> = {
    'older than what somebody else was told': [
      /read, asked at 3 .* no instant/,
      [answer('write', 0, 3, { tells: 3 }), answer('read', 1, 6, { suits: is('red') })],
    ],
    'never so': [/read, .* no instant/, [answer('read', 0, 7, { suits: is('green') })]],
    'not so yet': [/read, .* no instant/, [answer('read', 0, 2, { suits: is('blue') })]],
    'allowed behind the answer that took the right away': [
      /allowed, asked at 6 .* no instant/,
      [given, taken, answer('allowed', 2, 7, { suits: allowed })],
    ],
    'refused while the right was there': [
      /refused, asked at 4 .* no instant/,
      [given, answer('refused', 1, 5, { suits: refused })],
    ],
    'a list of before': [/list, .* about 1/, [given, answer('list', 1, 5, { tells: 1, at: 1 })]],
    'a list of later': [/list, .* about 3/, [answer('list', 0, 2, { at: 3 })]],
    'another state than that of its revision': [
      /list, .* no instant/,
      [answer('list', 0, 7, { at: 3, suits: is('red') })],
    ],
    'told before it happened': [/write, .* tells of 3/, [answer('write', 0, 2, { tells: 3 })]],
    'a deletion that is lost': [/gone, .* not in the log/, [answer('gone', 0, 7, { tells: { deleted: 'b' } })]],
  }
  for (const [name, [why, answers]] of Object.entries(wrong)) {
    const broken = brokenAnswers(log, answers)
    t.equal(broken.length, 1, name)
    t.match(broken[0], why, name)
  }
})
