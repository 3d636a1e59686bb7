// Whether syncers live shows on SyncTargets of inventories, and on no others.

import t, { type Test } from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { at, objects } from '../../../src/apimachinery/fields.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { NAMESPACES, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { type Logger, silentLogger } from '../../../src/client/logger.ts'
import { EventRecorder } from '../../../src/controllers/eventRecorder.ts'
import { startSyncerLiveness } from '../../../src/controllers/mailbox/syncerLiveness.ts'
import type { SyncerListener } from '../../../src/placement/outcome/outcome.ts'
import { mailboxName, SYNC_TARGETS, SYNCER_CONFIGS } from '../../../src/placement/words/placement.ts'
import { SetClock } from '../../client/support/fakeClock.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { FakeServer, namespace } from '../placement/fakeServer.ts'
import { fedByTopology } from '../placement/fedByTopology.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const MAILBOX = `root:espw:${mailboxName('inv1', '01234567-89ab-cdef-0123-456789abcdef')}`

function world(t: Test, logger: Logger = silentLogger) {
  const server = new FakeServer()
  server.place('box', MAILBOX)
  const clock = new SetClock()
  let listener: SyncerListener | undefined
  const follow = (one: SyncerListener) => {
    listener = one
    return () => {
      listener = undefined
    }
  }
  const start = () =>
    fedByTopology(startSyncerLiveness, {
      turns: endlessTurns(),
      client: server,
      places: server,
      logger,
      clock,
      connections: { follow },
      events: new EventRecorder({ client: server, clock }),
      random: () => 0.5,
    })
  let liveness = start()
  t.teardown(() => liveness.stop())
  const restart = async () => {
    await liveness.stop()
    liveness = start()
    await server.quiet()
  }
  const connect = () => listener!
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
  return { server, clock, mailboxOf, connect, restart }
}

const EVENTS = { group: '', version: 'v1', resource: 'events' }

t.test('an outage is told once on the SyncTarget, and that it is over; a restart of the server is none', async t => {
  const { server, clock, mailboxOf, connect, restart } = world(t)
  await server.in('inv1').create(NAMESPACES, namespace('default'))
  const mailbox = await mailboxOf('inv1')
  const told = () =>
    server
      .names('inv1', EVENTS)
      .map(name => server.peek('inv1', EVENTS, name.split('/')[1]!, 'default'))
      .map(event => `${event?.type} ${event?.reason} ${at(event?.involvedObject, 'kind')} ${event?.count}`)
      .sort()
  const heard = async () => {
    connect().opened(mailbox, 1)
    await server.quiet()
  }
  const silent = async () => {
    connect().closed(mailbox)
    await clock.advance(45_000)
    await server.quiet()
  }
  await heard()
  await restart()
  await clock.advance(44_000)
  await heard()
  t.same(told(), [], 'it came, and came back')
  await silent()
  t.same(told(), ['Warning ClusterSilent SyncTarget 1'])
  await restart()
  await clock.advance(60_000)
  await server.quiet()
  t.same(told(), ['Warning ClusterSilent SyncTarget 1'], 'it is told already')
  await heard()
  t.same(told(), ['Normal ClusterHeard SyncTarget 1', 'Warning ClusterSilent SyncTarget 1'])
  for (let minute = 0; minute < 5; minute++) {
    await clock.advance(60_000)
    await heard()
  }
  await silent()
  t.same(told(), ['Normal ClusterHeard SyncTarget 1', 'Warning ClusterSilent SyncTarget 2'])
  // it was away for long, and comes back as another release
  const why = 'this syncer is too new for its center; upgrade the center'
  connect().turnedAway(mailbox, why)
  await server.quiet()
  const [turnedAway] = server.names('inv1', EVENTS).flatMap(name => {
    const event = server.peek('inv1', EVENTS, name.split('/')[1]!, 'default')
    return event?.reason === 'SyncerUnsupported' ? [event] : []
  })
  t.match(turnedAway, { type: 'Warning', message: why, count: 1 })
  await clock.advance(300_000)
  await heard()
  t.match(told(), ['Normal ClusterHeard SyncTarget 2', 'Warning ClusterSilent SyncTarget 2', /SyncerUnsupported/])
  connect().turnedAway(mailbox, why)
  await clock.advance(60_000)
  await server.quiet()
  t.match(told()[1], 'Warning ClusterSilent SyncTarget 2', 'it is not silent: it was turned away')
})

t.test('a webhook that fails for Events does not keep a SyncTarget ready', async t => {
  const { server, clock, mailboxOf, connect } = world(t)
  await server.in('inv1').create(NAMESPACES, namespace('default'))
  const mailbox = await mailboxOf('inv1')
  const ready = () => {
    const target = server.peek('inv1', SYNC_TARGETS, server.names('inv1', SYNC_TARGETS)[0]!)
    return objects(target?.status, 'conditions').find(({ type }) => type === 'Ready')
  }
  connect().opened(mailbox, 1)
  await server.quiet()
  t.equal(ready()?.status, 'True')
  server.refuse = (_space, _verb, { resource }) => {
    if (resource === 'events') throw new StatusError('InternalError', 'failed calling webhook "events.test"')
  }
  connect().closed(mailbox)
  await clock.advance(45_000)
  await server.quiet()
  t.equal(ready()?.status, 'False')
})

const configWith = (heartbeat: string): KubeObject => ({
  apiVersion: EDGE,
  kind: 'SyncerConfig',
  metadata: { name: 'the-one' },
  status: { lastSyncerHeartbeatTime: heartbeat },
})

t.test('a live syncer shows on the SyncTarget, unless that stands in a mailbox', async t => {
  const { server, mailboxOf, connect } = world(t)
  const [good, trap] = [await mailboxOf('inv1'), await mailboxOf('box')]
  t.ok(server.peek(good, SYNCER_CONFIGS, 'the-one'))
  t.notOk(server.peek(trap, SYNCER_CONFIGS, 'the-one'))
  for (const space of [good, trap]) connect().opened(space, 2)
  await server.quiet()
  t.match(server.peek('inv1', SYNC_TARGETS, 'florin')!.status, { conditions: [{ type: 'Ready', status: 'True' }] })
  t.equal(server.peek('box', SYNC_TARGETS, 'florin')!.status, undefined)
})

t.test('a time that a syncer writes is no word of it', async t => {
  const { server, mailboxOf } = world(t)
  const mailbox = await mailboxOf('inv1')
  await server.in(mailbox).update(SYNCER_CONFIGS, configWith('9999-01-01T00:00:00Z'), { subresource: 'status' })
  await server.quiet()
  t.equal(server.peek('inv1', SYNC_TARGETS, 'florin')!.status, undefined)
})

t.test('a flood of answers is not a flood of changes of the SyncTarget, and the last word is told', async t => {
  const { server, clock, mailboxOf, connect } = world(t)
  const mailbox = await mailboxOf('inv1')
  connect().opened(mailbox, 2)
  const second = (n: number): string => new Date(n * 1000).toISOString().replace('.000', '')
  const target = () => server.peek('inv1', SYNC_TARGETS, 'florin')!
  const seen = new Set<string>()
  for (let n = 1; n <= 200; n++) {
    const paused = n % 2 === 0
    await server.in(mailbox).update(SYNCER_CONFIGS, answer(second(n), { paused }), { subresource: 'status' })
    await server.quiet()
    seen.add(target().metadata.resourceVersion!)
  }
  t.ok(seen.size >= 1 && seen.size <= 12, `the SyncTarget changed ${seen.size} times`)
  clock.setMs = -3_600_000
  await server.in(mailbox).update(SYNCER_CONFIGS, answer(second(201), { paused: false }), { subresource: 'status' })
  await server.quiet()
  await clock.advance(1000)
  await server.quiet()
  clock.setMs = 0
  t.match(ordersIn(server), [
    { type: 'Ready', status: 'True' },
    { type: 'Paused', status: 'False' },
  ])
  connect().closed(mailbox)
  await clock.advance(45_000)
  await server.quiet()
  t.match(target().status, { conditions: [{ type: 'Ready', status: 'False' }] }, 'silence is told in time')
})

const FINALIZER = 'edge.kubestellar.io/cluster'
const conditionsOf = (server: FakeServer) =>
  (server.peek('inv1', SYNC_TARGETS, 'florin')!.status as { conditions: { type: string; status: string }[] }).conditions
const ordersIn = (server: FakeServer) => conditionsOf(server).filter(({ type }) => type !== 'SyncerSupported')
const answer = (heartbeat: string, more: object): KubeObject => ({
  ...configWith(heartbeat),
  status: { lastSyncerHeartbeatTime: heartbeat, ...more },
})

t.test('a SyncTarget whose syncer was heard of is held, and its deletion is told to the syncer', async t => {
  const { server, clock, mailboxOf, connect } = world(t)
  const box = await mailboxOf('inv1')
  const inventory = server.in('inv1')
  const finalizers = () => server.peek('inv1', SYNC_TARGETS, 'florin')!.metadata.finalizers
  t.equal(finalizers(), undefined)
  connect().opened(box, 2)
  const answers = (more: object = {}) => {
    const heartbeat = new Date(clock.now()).toISOString()
    return server.in(box).patch(SYNCER_CONFIGS, { name: 'the-one' }, 'merge', answer(heartbeat, more), {
      subresource: 'status',
    })
  }
  await answers()
  await server.quiet()
  t.same(finalizers(), [FINALIZER])
  const order = () => server.peek(box, SYNCER_CONFIGS, 'the-one')!.metadata.annotations?.['edge.kubestellar.io/leave']
  t.equal(order(), undefined)
  await inventory.patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { spec: { detachPolicy: 'Delete' } })
  await inventory.delete(SYNC_TARGETS, { name: 'florin' })
  await server.quiet()
  t.equal(order(), 'Delete')
  t.match(ordersIn(server), [{ type: 'Ready' }, { type: 'Leaving', status: 'True', reason: 'WaitingForSyncer' }])
  for (const left of [{}, { remaining: 0 }]) {
    await clock.advance(1000)
    await answers({ leaving: { policy: 'Delete', done: false, ...left } })
    await server.quiet()
    const told = { message: /it has begun \(it has yet to count what is left\)/ }
    t.match(ordersIn(server)[1], told, 'nothing is counted before the first look')
  }
  await clock.advance(1000)
  await answers({ leaving: { policy: 'Delete', done: false, remaining: 3, message: 'ConfigMap/a/b is being deleted' } })
  await server.quiet()
  t.match(ordersIn(server)[1], {
    reason: 'SyncerLeaves',
    message: /ConfigMap\/a\/b is being deleted \(3 objects left\)/,
  })
  await clock.advance(1000)
  await answers({ leaving: { policy: 'Orphan', done: true, remaining: 0 } })
  await server.quiet()
  t.match(ordersIn(server)[1], { status: 'True' }, 'an answer to another order is none')
  connect().closed(box)
  await clock.advance(60_000)
  await server.quiet()
  t.match(ordersIn(server)[1], { status: 'True', reason: 'SyncerSilent' })
  connect().opened(box, 2)
  await answers({ leaving: { policy: 'Delete', done: true, remaining: 0 } })
  await server.quiet()
  t.match(ordersIn(server)[1], { status: 'False', reason: 'Left' })
})

t.test('a pause is told to the syncer, and the SyncTarget says whether it holds still', async t => {
  const { server, clock, mailboxOf, connect } = world(t)
  const box = await mailboxOf('inv1')
  connect().opened(box, 2)
  const answers = (more: object) =>
    server.in(box).update(SYNCER_CONFIGS, answer(new Date(clock.now()).toISOString(), more), { subresource: 'status' })
  await answers({})
  await server.quiet()
  t.match(ordersIn(server), [{ type: 'Ready' }], 'who never paused need not read of it')
  const pause = (value: string | null) =>
    server.in('inv1').patch(SYNC_TARGETS, { name: 'florin' }, 'merge', {
      metadata: { annotations: { 'edge.kubestellar.io/paused': value } },
    })
  await pause('true')
  await server.quiet()
  const order = () => server.peek(box, SYNCER_CONFIGS, 'the-one')!.metadata.annotations?.['edge.kubestellar.io/paused']
  t.equal(order(), 'true')
  t.match(ordersIn(server)[1], { type: 'Paused', status: 'True', reason: 'WaitingForSyncer' })
  await answers({ paused: true })
  await server.quiet()
  t.match(ordersIn(server)[1], { type: 'Paused', status: 'True', reason: 'SyncerPaused' })
  await server.in(box).delete(SYNCER_CONFIGS, { name: 'the-one' })
  await server.quiet()
  t.equal(order(), 'true', 'the order comes again with the config')
  await pause(null)
  await answers({})
  await server.quiet()
  t.match(ordersIn(server)[1], { type: 'Paused', status: 'False', reason: 'NotPaused' })
})

t.test('a connection tells that the syncer lives, and nothing is written while only time passes', async t => {
  const { server, clock, mailboxOf, connect } = world(t)
  const box = await mailboxOf('inv1')
  const ready = (status: string) => ({ conditions: [{ type: 'Ready', status }] })
  const status = () => server.peek('inv1', SYNC_TARGETS, 'florin')!.status
  connect().opened(box, 2)
  await server.quiet()
  t.match(status(), {
    ...ready('True'),
    lastSyncerHeartbeatTime: new Date(clock.now()).toISOString().replace('.000', ''),
  })
  const writes = server.writes.length
  for (let minute = 0; minute < 30; minute++) {
    await clock.advance(60_000)
    connect().seen(box)
  }
  await server.quiet()
  t.equal(server.writes.length, writes)
  const last = new Date(clock.now()).toISOString().replace('.000', '')
  connect().closed(box)
  await clock.advance(45_000)
  await server.quiet()
  t.match(status(), { ...ready('False'), lastSyncerHeartbeatTime: last })
})

t.test('whether a syncer of that release is supported is told, and what to do where it is not', async t => {
  const { server, mailboxOf, connect } = world(t)
  const box = await mailboxOf('inv1')
  connect().opened(box, 2)
  await server.quiet()
  t.match(conditionsOf(server)[1], { type: 'SyncerSupported', status: 'True', reason: 'Supported' })
  connect().closed(box)
  connect().turnedAway(box, 'this syncer is too new for its center; upgrade the center')
  await server.quiet()
  t.match(conditionsOf(server), [
    { type: 'Ready', status: 'False', reason: 'SyncerUnsupported' },
    {
      type: 'SyncerSupported',
      status: 'False',
      reason: 'SyncerUnsupported',
      message: 'this syncer is too new for its center; upgrade the center',
    },
  ])
  const writes = server.writes.length
  for (let i = 0; i < 10; i++) connect().turnedAway(box, 'this syncer is too new for its center; upgrade the center')
  await server.quiet()
  t.equal(server.writes.length, writes, 'it tries again and again, which is no news')
  connect().opened(box, 2)
  await server.quiet()
  t.match(conditionsOf(server), [
    { type: 'Ready', status: 'True' },
    { type: 'SyncerSupported', status: 'True' },
  ])
})

t.test('a syncer that never served because of its release holds nothing back', async t => {
  const { server, mailboxOf, connect } = world(t)
  const box = await mailboxOf('inv1')
  connect().turnedAway(box, 'this syncer is too new for its center; upgrade the center')
  await server.quiet()
  t.match(conditionsOf(server)[1], { type: 'SyncerSupported', status: 'False' })
  t.same(server.peek('inv1', SYNC_TARGETS, 'florin')!.metadata.finalizers ?? [], [])
})

t.test('a restart of the center gives syncers time to come back', async t => {
  const { server, clock, mailboxOf, connect, restart } = world(t)
  const box = await mailboxOf('inv1')
  const ready = () => conditionsOf(server).find(({ type }) => type === 'Ready')?.status
  connect().opened(box, 2)
  await server.quiet()
  await clock.advance(100_000)
  connect().seen(box)
  await restart()
  await clock.advance(44_999)
  await server.quiet()
  t.equal(ready(), 'True')
  await clock.advance(1)
  await server.quiet()
  t.equal(ready(), 'False')
})

t.test('that a syncer goes, and comes, is a line of the log', async t => {
  const lines: string[] = []
  const note = (level: string) => (fields: Record<string, unknown>, text: string) =>
    void (fields.syncTarget && lines.push(`${level} ${fields.space}/${fields.syncTarget} ${fields.reason}: ${text}`))
  const { server, clock, mailboxOf, connect } = world(t, { ...silentLogger, info: note('info'), warn: note('warn') })
  const mailbox = await mailboxOf('inv1')
  const heard = async () => {
    connect().seen(mailbox)
    await server.quiet()
  }
  await heard()
  await heard()
  await clock.advance(120_000)
  await server.quiet()
  await heard()
  t.same(lines, [
    'info inv1/florin SyncerAlive: the syncer of a cluster is there',
    'warn inv1/florin SyncerSilent: the syncer of a cluster is silent: the cluster keeps its content',
    'info inv1/florin SyncerAlive: the syncer of a cluster is there',
  ])
})
