/** Log lines for a person at a terminal. */
import t from 'tap'
import { createLog } from '../../../../src/cli/orrery/process/log.ts'
import { logChoice } from '../../../../src/cli/orrery/process/logLevel.ts'
import { textLine } from '../../../../src/cli/orrery/process/textLine.ts'

const PLAIN = { component: 'orrery', coloured: false }
const NOON = new Date(2026, 0, 31, 12, 0, 0, 7).getTime()

t.test('time, level, text, and what it is about', async t => {
  const about = { pid: 1, name: 'orrery', space: 'root:a', count: 3, cause: 'no such host', kinds: ['a', 'b'] }
  t.equal(
    textLine({ level: 40, time: NOON, ...about, msg: 'it is slow' }, PLAIN),
    '12:00:00.007 WARN  it is slow  space=root:a count=3 cause="no such host" kinds=["a","b"]\n',
  )
  t.match(
    textLine({ level: 30, time: NOON, name: 'a-secret', msg: 'x' }, PLAIN),
    / x {2}name=a-secret\n$/,
    "an object's",
  )
  t.equal(textLine({ level: 30, time: NOON, msg: 'ready' }, PLAIN), '12:00:00.007 INFO  ready\n')
  t.ok(
    textLine({ level: 50, time: NOON, msg: 'x' }, { ...PLAIN, coloured: true }).includes('\u001b[31mERROR\u001b[0m x'),
  )
})

t.test('an error is its message', async t => {
  const lines: string[] = []
  const log = createLog({ component: 'c', format: 'text', write: line => lines.push(line), now: () => NOON })
  log.error({ err: new Error('refused', { cause: new Error('by rule') }), token: 'eyJ' }, 'not written')
  t.match(lines[0], /ERROR not written {2}err="refused: by rule" token="\[Redacted\]"\n$/)
})

t.test('what others chose cannot order the terminal about, or begin a line', async t => {
  const line = textLine(
    { level: 30, time: NOON, msg: 'a\u001b[2Jb\nc', what: 'x\u001b]0;t\u0007', z: 'a\u202eb' },
    PLAIN,
  )
  t.notMatch(line.slice(0, -1), /[\p{Cc}\u202e]/u)
  t.ok(line.includes('a\\u001b[2Jb\\u000ac'), line)
  t.ok(textLine({ level: 30, time: NOON, msg: '', long: 'y'.repeat(9000) }, PLAIN).length < 2100)
})

t.test('people get text, programs JSON, unless somebody says otherwise', async t => {
  t.same(logChoice({}, true), { level: 'info', format: 'text' })
  t.same(logChoice({}, false), { level: 'info', format: 'json' })
  t.same(logChoice({ logFormat: 'json', logLevel: 'debug' }, true), { level: 'debug', format: 'json' })
  t.same(logChoice({ logFormat: 'auto', logLevel: '' }, true), { level: 'info', format: 'text' })
  t.throws(() => logChoice({ logLevel: 'loud' }), {
    message: /^--log-level: "loud" is no level; it must be one of trace/,
  })
  t.throws(() => logChoice({ logFormat: 'xml' }), {
    message: '--log-format: "xml" is no format; it must be one of auto, text, json',
  })
})
