/** Log of a syncer. */
import t from 'tap'
import { createLog } from '../../../../src/cli/orrery/process/log.ts'
import type { LogLevel } from '../../../../src/cli/orrery/process/logLevel.ts'

function written(level?: LogLevel) {
  const lines: Record<string, unknown>[] = []
  const log = createLog({
    component: 'c',
    about: { syncTarget: 'florin' },
    ...(level !== undefined && { level }),
    write: line => lines.push(JSON.parse(line)),
    now: () => 7,
  })
  return { lines, log }
}

t.test('a line of JSON with everything that is known', async t => {
  const { lines, log } = written('info')
  log.info({ resource: 'configmaps', name: 'a' }, 'deleted')
  log.debug({}, 'not worth a line')
  t.same(lines, [
    {
      level: 30,
      time: 7,
      pid: process.pid,
      name: 'c',
      syncTarget: 'florin',
      resource: 'configmaps',
      object: 'a',
      msg: 'deleted',
    },
  ])
  log.warn({}, 'w')
  log.error({}, 'e')
  t.same(
    lines.slice(1).map(line => line.level),
    [40, 50],
  )
  const { lines: few, log: quiet } = written('error')
  quiet.warn({}, 'w')
  t.same(few, [])
})

t.test('errors are told with their causes, and nothing secret is', async t => {
  const { lines, log } = written('debug')
  const cause = Object.assign(new Error('refused'), { headers: { authorization: 'Bearer x' } })
  const err = Object.assign(new Error('not reached', { cause }), {
    code: 503,
    reason: 'ServiceUnavailable',
    body: 'eyJ',
  })
  log.debug({ err, token: 'eyJ' }, 'm')
  t.match(lines[0], {
    token: '[Redacted]',
    err: { type: 'Error', message: 'not reached: refused', code: 503, reason: 'ServiceUnavailable' },
  })
  t.notMatch(JSON.stringify(lines), /eyJ|Bearer/)
  const circle = new Error('round')
  circle.cause = circle
  log.error({ err: circle }, 'm')
  t.match(lines[1], { err: { message: 'round: round: round: round: round' } })
})

t.test('a line for people names the object, too', async t => {
  const lines: string[] = []
  createLog({ component: 'c', format: 'text', write: line => lines.push(line) }).warn(
    { resource: 'configmaps', name: 'a' },
    'refused',
  )
  t.match(lines[0], /refused {2}resource=configmaps object=a\n$/)
})
