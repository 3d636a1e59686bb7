/**
 * Each attack in one small round, all on one server. No other client is refused, the server lives, the attacker gets a clear Status, and
 * the server starts again with all stored objects. `npm run attack` runs them in full, and measures.
 */
import t from 'tap'
import { NeighbourProcess } from '../support/neighbourProcess.ts'
import { FILE_LIMIT_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'
import { attacksOf, families } from './attacks/index.ts'
import { Ground } from './ground.ts'
import { hearingFaults } from './runAttack.ts'

// beside other tests, on a slow machine, it takes minutes
t.setTimeout(FILE_LIMIT_MS)
const ground = new Ground(temporaryDir(t), 'short')
t.teardown(() => ground.kill().finally(() => ground.leave()))
await ground.start()
const { prefix, maps } = await ground.settle()
const neighbour = await NeighbourProcess.start({ url: ground.url, token: 'token-of-bob', prefix, slower: 4 })
t.teardown(() => neighbour.stop())

for (const family of Object.keys(families)) {
  t.test(family, { timeout: FILE_LIMIT_MS }, async t => {
    for (const attack of attacksOf(family)) {
      await ground.enter()
      await attack.prepare?.(ground)
      await neighbour.begin()
      await attack.run(ground)
      const { refused } = await neighbour.end()
      t.same(refused, [], `${attack.name}: nobody else is refused anything`)
      t.same(hearingFaults(attack, ground), [], `${attack.name}: ${JSON.stringify(ground.alice.codes)}`)
      t.equal(ground.ended, undefined, 'the server lives')
      ground.alice.close()
    }
  })
}

t.test('it starts with all that is stored', async t => {
  await ground.kill()
  await ground.start()
  t.equal((await ground.admin.get('/readyz')).code, 200)
  t.equal((await ground.admin.get(`${maps}/read`)).code, 200)
})
