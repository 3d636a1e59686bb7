/** Values of ORRERY_LOG_LEVEL. */
import t from 'tap'
import { createLog } from '../../../../src/cli/orrery/process/log.ts'
import { logLevel } from '../../../../src/cli/orrery/process/logLevel.ts'

t.test('a level, or none', async t => {
  t.equal(logLevel({}), 'info')
  t.equal(logLevel({ ORRERY_LOG_LEVEL: '' }), 'info')
  for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const)
    t.equal(logLevel({ ORRERY_LOG_LEVEL: level }), level)
})

t.test('what is no level is refused, and not taken for info', async t => {
  for (const wrong of ['loud', 'INFO', '30', 'constructor'])
    t.throws(() => logLevel({ ORRERY_LOG_LEVEL: wrong }), {
      message: `ORRERY_LOG_LEVEL: "${wrong}" is no level; it must be one of trace, debug, info, warn, error, fatal, silent`,
    })
})

t.test('a syncer and a server do not begin with a level that is none', async t => {
  const before = process.env.ORRERY_LOG_LEVEL
  t.teardown(() => {
    if (before === undefined) delete process.env.ORRERY_LOG_LEVEL
    else process.env.ORRERY_LOG_LEVEL = before
  })
  process.env.ORRERY_LOG_LEVEL = 'loud'
  t.throws(() => createLog({ component: 'orrery-syncer' }), { message: /^ORRERY_LOG_LEVEL: "loud" is no level/ })
})
