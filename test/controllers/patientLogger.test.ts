// Log lines of failing reconciles for an operator.
import t from 'tap'
import { silentLogger } from '../../src/client/logger.ts'
import { patientLogger } from '../../src/controllers/patientLogger.ts'

function recorded() {
  const said: string[] = []
  const logger = patientLogger({ ...silentLogger, warn: (_, message) => said.push(message) })
  const fail = (key: string, failures: number, message = 'boom') =>
    logger.warn({ key, err: new Error(message), failures }, `${key} ${message}`)
  return { said, logger, fail }
}

t.test('a failure that the next tries mend is no news', async t => {
  const { said, fail } = recorded()
  for (let failures = 1; failures < 5; failures++) fail('a', failures)
  t.same(said, [])
})

t.test('one that persists is told once for each key and cause', async t => {
  const { said, fail } = recorded()
  for (let failures = 1; failures < 20; failures++) fail('a', failures)
  fail('a', 20, 'another')
  fail('b', 5)
  t.same(said, ['a boom', 'a another', 'b boom'])
})

t.test('warnings about anything but a key pass', async t => {
  const { said, logger } = recorded()
  logger.warn({ space: 'x', failures: 1 }, 'stream broke')
  logger.warn({ space: 'x', failures: 2 }, 'stream broke')
  t.equal(said.length, 2)
})
