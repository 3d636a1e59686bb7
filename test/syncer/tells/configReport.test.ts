// A syncer writes its report when that changes, and again when it did not arrive; time alone writes nothing.
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { EDGE_API_VERSION, SYNCER_CONFIGS } from '../../../src/placement/words/placement.ts'
import { MailboxMirror } from '../../../src/syncer/mailbox/mirror.ts'
import type { OrdersReport } from '../../../src/syncer/mailbox/orders.ts'
import { ConfigReport } from '../../../src/syncer/tells/configReport.ts'
import { Refusals } from '../../../src/syncer/tells/refusals.ts'
import { FakeClock, settle } from '../../client/support/fakeClock.ts'

t.test('news are written once, and again when they did not arrive', async t => {
  const clock = new FakeClock()
  const mirror = new MailboxMirror()
  const config: KubeObject = { apiVersion: EDGE_API_VERSION, kind: 'SyncerConfig', metadata: { name: 'the-one' } }
  const { group, resource } = SYNCER_CONFIGS
  const state = { fails: false, orders: {} as OrdersReport }
  let writes = 0
  const patch = async () => {
    writes++
    if (state.fails) throw new Error('the center is away')
    return config
  }
  const report: ConfigReport = new ConfigReport({
    mailbox: { patch } as unknown as SpaceClient,
    mirror,
    logger: silentLogger,
    refusals: new Refusals(silentLogger, () => report.soon()),
    orders: () => state.orders,
    associated: () => undefined,
    clock,
  })
  const end = new AbortController()
  const running = report.run(end.signal)
  const after = async (ms: number): Promise<number> => {
    await clock.advance(ms)
    await settle()
    return writes
  }
  t.equal(await after(60_000), 0, 'there is no config yet')
  mirror.apply(
    { group, resource, namespace: '', name: 'the-one' },
    {
      type: 'ADDED',
      space: 'box',
      resource: SYNCER_CONFIGS,
      namespace: '',
      name: 'the-one',
      revision: 1,
      object: config,
      mentions: () => true,
    },
  )
  report.hurry()
  t.equal(await after(0), 1, 'a config that is new has no report')
  t.equal(await after(300_000), 1, 'time alone is no news')
  state.orders = { paused: true }
  report.now()
  t.equal(await after(0), 2)
  report.now()
  t.equal(await after(300_000), 2, 'the same is no news')
  state.fails = true
  state.orders = {}
  report.now()
  t.equal(await after(0), 3)
  t.equal(await after(15_000), 4, 'it did not arrive')
  state.fails = false
  t.equal(await after(15_000), 5)
  t.equal(await after(300_000), 5)
  end.abort()
  await running
})
