import t from 'tap'
import type { LogFields } from '../../src/apimachinery/logFields.ts'
import type { Logger as ServerLogger } from '../../src/apiserver/request/logger.ts'
import { createLog } from '../../src/cli/orrery/process/log.ts'
import type { Logger as ClientLogger } from '../../src/client/logger.ts'

t.test(
  'an error is logged under `err` with its cause; the types refuse other names, under which few would look for it',
  async t => {
    const lines: Record<string, unknown>[] = []
    const log = createLog({ component: 'c', write: line => lines.push(JSON.parse(line)) })
    for (const logger of [log satisfies ServerLogger as ServerLogger, log satisfies ClientLogger as ClientLogger]) {
      const error: unknown = new Error('no room')
      logger.warn({ err: error }, 'seen')
      // @ts-expect-error: errors have one name
      logger.warn({ error }, 'other')
      // @ts-expect-error: errors have one name
      logger.error({ cause: error }, 'other')
      t.match(lines.splice(0)[0], { err: { message: 'no room' } })
    }
    const fields: LogFields = { space: 'root', failures: 1, key: { name: 'a' } }
    t.ok(fields)
  },
)
