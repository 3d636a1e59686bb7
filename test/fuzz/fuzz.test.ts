/** One round of a few cases of every attack, so that the fuzz itself cannot rot. Ten minutes of them: `npm run fuzz`. */
import t from 'tap'
import { runTargets } from './run.ts'
import { targets } from './targets/index.ts'
import { World } from './world.ts'

const world = await World.start()
t.teardown(() => world.close())

for (const target of targets) {
  t.test(`${target.name}: no fault of the server`, async t => {
    const findings = await runTargets(world, [target], { seed: 20, ms: 0, share: 0.06 })
    t.strictSame(findings, [])
    t.ok(world.asked > 0)
  })
}

t.test('the server is still well', async t => {
  await world.checkReady()
  t.strictSame(world.faults, [])
  for (const code of [200, 201, 400, 404, 422])
    t.ok(world.codes[code], `some answers were ${code}: the cases are no noise`)
})
