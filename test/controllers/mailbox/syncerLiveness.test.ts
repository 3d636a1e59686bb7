// Heartbeats show on SyncTargets of inventories, and on no others.

import t from 'tap'
import { mailboxName, SYNC_TARGETS, SYNCER_CONFIGS } from '../../../src/apimachinery/placement.ts'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { startSyncerLiveness } from '../../../src/controllers/mailbox/syncerLiveness.ts'
import { FakeServer } from '../placement-translator/fakeServer.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const MAILBOX = `root:espw:${mailboxName('inv1', '01234567-89ab-cdef-0123-456789abcdef')}`
const HEARTBEAT = '2026-01-01T00:00:00Z'

t.test('a heartbeat shows on the SyncTarget, unless that stands in a mailbox', async t => {
  const server = new FakeServer()
  server.place('box', MAILBOX)
  const liveness = startSyncerLiveness({
    client: server,
    places: server,
    logger: silentLogger,
    signal: new AbortController().signal,
  })
  t.teardown(() => liveness.stop())
  const mailboxOf = async (space: string): Promise<string> => {
    const target = { apiVersion: EDGE, kind: 'SyncTarget', metadata: { name: 'florin' } }
    const name = mailboxName(space, (await server.in(space).create(SYNC_TARGETS, target)).metadata.uid!)
    const annotations = { 'edge.kubestellar.io/sync-target-name': 'florin' }
    const metadata = { name, annotations }
    await server
      .in('root:espw')
      .create(WORKSPACES, { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata })
    await server.quiet()
    return (server.peek('root:espw', WORKSPACES, name)!.spec as { cluster: string }).cluster
  }
  const [good, trap] = [await mailboxOf('inv1'), await mailboxOf('box')]
  t.ok(server.peek(good, SYNCER_CONFIGS, 'the-one'))
  t.notOk(server.peek(trap, SYNCER_CONFIGS, 'the-one'))
  const metadata = { name: 'the-one' }
  const config = { apiVersion: EDGE, kind: 'SyncerConfig', metadata, status: { lastSyncerHeartbeatTime: HEARTBEAT } }
  await server.in(good).update(SYNCER_CONFIGS, config, { subresource: 'status' })
  await server.in(trap).create(SYNCER_CONFIGS, config)
  await server.quiet()
  t.match(server.peek('inv1', SYNC_TARGETS, 'florin')!.status, { lastSyncerHeartbeatTime: HEARTBEAT })
  t.equal(server.peek('box', SYNC_TARGETS, 'florin')!.status, undefined)
})
