import t from 'tap'
import { Controller, type Source } from '../../src/client/controller.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { realTime } from '../support/time.ts'
import { settle } from './support/fakeClock.ts'

function fakeSource() {
  const { promise: synced, resolve: sync } = Promise.withResolvers<void>()
  const { promise: failed, reject: fail } = Promise.withResolvers<void>()
  let ended = false
  const source: Source = {
    synced,
    async run(signal) {
      await Promise.race([failed, new Promise(resolve => signal.addEventListener('abort', resolve))])
      ended = true
    },
  }
  return { source, sync, fail, ended: () => ended }
}

t.test('nothing is reconciled before every source knows the present', async t => {
  const [a, b] = [fakeSource(), fakeSource()]
  const seen: string[] = []
  const controller = new Controller<string>({
    ...realTime(),
    name: 'c',
    sources: [a.source, b.source],
    reconcile: async key => void seen.push(key),
    logger: silentLogger,
  })
  controller.start()
  controller.add('k')
  a.sync()
  await settle()
  t.strictSame(seen, [])
  b.sync()
  await settle()
  t.strictSame(seen, ['k'])
  await controller.stop()
  t.ok(a.ended() && b.ended(), 'stopping ends the sources')
})

t.test('it can be stopped before its sources know anything', async t => {
  const { source, ended } = fakeSource()
  const reconcile = async () => {
    t.fail('too early')
  }
  const controller = new Controller<string>({
    ...realTime(),
    name: 'c',
    sources: [source],
    reconcile,
    logger: silentLogger,
  })
  controller.add('k')
  controller.start()
  t.throws(() => controller.start(), /runs already/)
  await controller.stop()
  t.ok(ended())
})

t.test('a source that fails ends the controller, loudly', async t => {
  const [a, b] = [fakeSource(), fakeSource()]
  const errors: object[] = []
  const logger = { ...silentLogger, error: (fields: object) => void errors.push(fields) }
  const sources = [a.source, b.source]
  const controller = new Controller<string>({
    ...realTime(),
    name: 'c',
    sources,
    reconcile: async () => {},
    logger,
  })
  controller.start()
  a.sync()
  b.sync()
  a.fail(new Error('broken source'))
  await settle()
  t.ok(b.ended(), 'the other source is not left running')
  t.match(errors, [{ controller: 'c', err: { message: 'broken source' } }])
  await controller.stop()
})
