import t from 'tap'
import { FakeServer } from '../client/support/fakeServer.ts'
import { World } from './world.ts'

t.test('a wait ends with its world, which nothing reaches any more', { timeout: 10_000 }, async t => {
  const world = new World(new FakeServer())
  await world.synced
  const missing = { message: 'configmaps app/a: found "nothing"' }
  const before = t.rejects(world.present('s', 'configmaps app/a'), missing)
  await world.stop()
  await before
  await t.rejects(world.present('s', 'configmaps app/a'), missing)
})
