import { Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import type { LogFields } from '../../src/apimachinery/logFields.ts'
import type { Logger as ServerLogger } from '../../src/apiserver/request/logger.ts'
import type { Logger as ClientLogger } from '../../src/client/logger.ts'

t.test('an error is told under `err`; the types refuse the names under which it would print {}', async t => {
  const lines: Record<string, unknown>[] = []
  const to = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  })
  const log = pino(to)
  for (const logger of [log satisfies ServerLogger as ServerLogger, log satisfies ClientLogger as ClientLogger]) {
    const error: unknown = new Error('no room')
    logger.warn({ err: error }, 'seen')
    // @ts-expect-error: it would be logged unseen
    logger.warn({ error }, 'unseen')
    // @ts-expect-error: it would be logged unseen
    logger.error({ cause: error }, 'unseen')
    const [seen, ...unseen] = lines.splice(0)
    t.match(seen, { err: { message: 'no room' } })
    t.match(unseen, [{ error: {} }, { cause: {} }])
    t.notMatch(JSON.stringify(unseen), 'no room', 'why the types refuse them')
  }
  const fields: LogFields = { space: 'root', failures: 1, key: { name: 'a' } }
  t.ok(fields)
})
