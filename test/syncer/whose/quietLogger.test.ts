import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { Logger } from '../../../src/client/logger.ts'
import { quietLogger } from '../../../src/syncer/whose/quietLogger.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

function world() {
  const lines: string[] = []
  const tell = (_fields: object, message: string): void => {
    lines.push(message)
  }
  const sink: Logger = { debug: () => {}, info: tell, warn: tell, error: tell }
  const clock = new FakeClock()
  return { lines, clock, logger: quietLogger({ logger: sink, isReported: () => false, clock }) }
}

const refused = (name: string): StatusError => new StatusError('Forbidden', `configmaps "${name}" is forbidden`)

t.test('a cause is said once, and again when it was away for a while', async t => {
  const { lines, clock, logger } = world()
  for (let i = 0; i < 3; i++) logger.warn({ err: refused('a') }, 'reconcile failed')
  t.strictSame(lines, ['reconcile failed: configmaps "a" is forbidden'])
  await clock.advance(11 * 60_000)
  logger.warn({ err: refused('a') }, 'reconcile failed')
  t.equal(lines.length, 2)
})

t.test('many objects in trouble do not fill the log, however often they are tried', async t => {
  const { lines, clock, logger } = world()
  const all = (): void => {
    for (let i = 0; i < 2000; i++) logger.warn({ err: refused(`c${i}`) }, 'reconcile failed')
  }
  all()
  all()
  t.equal(lines.length, 101)
  t.match(lines.at(-1), /further lines are left out for a while/)
  logger.warn({ err: refused('x') }, 'the token cannot be renewed now')
  logger.warn({}, 'refused: configmaps x')
  logger.info({}, 'deleted')
  t.equal(lines.length, 104, 'other things are said')
  await clock.advance(11 * 60_000)
  all()
  t.equal(lines.length, 205, 'and so are these, some time later')
})
