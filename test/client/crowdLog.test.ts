/** Lines about many at once. */
import t from 'tap'
import { CrowdLog } from '../../src/client/crowdLog.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { FakeClock } from './support/fakeClock.ts'

t.test('some have a line each, the others one together', async t => {
  const lines: string[] = []
  const clock = new FakeClock()
  const note = (level: string) => (fields: Record<string, unknown>, text: string) =>
    void lines.push(`${level} ${fields.name ?? fields.count}: ${text}`)
  const log = new CrowdLog({ ...silentLogger, info: note('info'), warn: note('warn') }, clock)
  for (let i = 0; i < 20; i++) log.log('warn', { name: `c${i}` }, 'gone')
  t.equal(clock.pending, 0, 'nothing is held back, and nothing waits')
  for (let i = 20; i < 1000; i++) log.log('warn', { name: `c${i}` }, 'gone')
  log.log('info', { name: 'c1' }, 'there')
  t.same([lines.length, lines.at(-1)], [20, 'warn c19: gone'])
  await clock.advance(10_000)
  t.same(lines.slice(20), ['warn 980: and so for others: gone', 'info 1: and so for others: there'])
  log.log('info', { name: 'c2' }, 'there')
  t.equal(lines.at(-1), 'info c2: there')
  for (let i = 0; i < 25; i++) log.log('info', { name: `c${i}` }, 'there')
  log.close()
  t.equal(lines.at(-1), 'info 6: and so for others: there')
  t.equal(clock.pending, 0)
})
