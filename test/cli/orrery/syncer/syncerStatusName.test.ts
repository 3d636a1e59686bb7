/** `orrery syncer status NAME`: the name of a SyncTarget stands without its flag, too. */
import t from 'tap'
import { main } from '../../../../src/cli/orrery/main.ts'
import { SyncerHealth } from '../../../../src/cli/orrery/syncer/syncerHealth.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import { freePort } from '../../../syncer/support/processes.ts'

t.test('a name chooses a syncer with its flag and without, and never two', async t => {
  const healthAddress = `127.0.0.1:${await freePort()}`
  const status = { syncTarget: 'florin', centerServer: '', clusterServer: '', known: true } as never
  const health = await SyncerHealth.listen(healthAddress, () => status, silentLogger)
  t.teardown(() => health?.close())
  const [out, err]: [string[], string[]] = [[], []]
  const captures = [
    t.capture(process.stdout, 'write', (text: string) => out.push(text)),
    t.capture(process.stderr, 'write', (text: string) => err.push(text)),
  ]
  const asked = (...args: string[]) => main(['syncer', 'status', ...args, '--health-address', healthAddress])
  await asked('florin')
  await asked('--sync-target-name', 'florin')
  await asked('florin', '--sync-target-name', 'florin')
  const codes = [await asked('guilder'), await asked('florin', '--sync-target-name', 'guilder')]
  for (const capture of captures) capture.restore()
  t.equal(out.filter(text => /SyncTarget: +florin\n/.test(text)).length, 3)
  t.same(codes, [1, 1])
  t.match(err, [
    /^orrery syncer status: no syncer of SyncTarget "guilder" answers/,
    /^orrery syncer status: it names "florin", and "guilder" by its flag/,
  ])
})
