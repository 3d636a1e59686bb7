// A syncer writes what is new of itself; that it lives a center of today hears without a write.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { EDGE_API_VERSION, SYNCER_CONFIGS } from '../../src/apimachinery/placement.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { Heartbeat } from '../../src/syncer/heartbeat.ts'
import { MailboxMirror } from '../../src/syncer/mirror.ts'
import type { OrdersReport } from '../../src/syncer/orders.ts'
import { Refusals } from '../../src/syncer/refusals.ts'
import { FakeClock, settle } from '../client/support/fakeClock.ts'

t.test(
  'a center that hears the syncer is told when there is something to tell, another one every few seconds',
  async t => {
    const clock = new FakeClock()
    const mirror = new MailboxMirror()
    const config: KubeObject = { apiVersion: EDGE_API_VERSION, kind: 'SyncerConfig', metadata: { name: 'the-one' } }
    const { group, resource } = SYNCER_CONFIGS
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
    const state = { isHeard: false, orders: {} as OrdersReport }
    let writes = 0
    const patch = async () => {
      writes++
      return config
    }
    const heartbeat: Heartbeat = new Heartbeat({
      mailbox: { patch } as unknown as SpaceClient,
      mirror,
      logger: silentLogger,
      everyMs: 15_000,
      refusals: new Refusals(silentLogger, () => heartbeat.soon()),
      orders: () => state.orders,
      isHeard: () => state.isHeard,
      clock,
    })
    const end = new AbortController()
    const running = heartbeat.run(end.signal)
    await settle()
    for (let i = 0; i < 4; i++) await clock.advance(15_000)
    t.equal(writes, 5, 'a center of an earlier release')
    state.isHeard = true
    for (let i = 0; i < 20; i++) await clock.advance(15_000)
    t.equal(writes, 5)
    state.orders = { paused: true }
    heartbeat.tell()
    await clock.advance(0)
    for (let i = 0; i < 20; i++) await clock.advance(15_000)
    t.equal(writes, 6, 'news are told once')
    heartbeat.hurry()
    await clock.advance(0)
    t.equal(writes, 7, 'a config that is new knows nothing of it')
    end.abort()
    await running
  },
)
