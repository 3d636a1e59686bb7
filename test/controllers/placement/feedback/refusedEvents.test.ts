/** An Event that a space refuses or delays keeps no status, condition or annotation waiting, on each road by which Events are made. */
import t from 'tap'
import { STATUS_REASONS, StatusError, type StatusReason } from '../../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import type { Client } from '../../../../src/client/client.ts'
import { EVENT_PATIENCE_MS, EventRecorder } from '../../../../src/controllers/eventRecorder.ts'
import {
  CONFLICT_ANNOTATION,
  EDGE_PLACEMENTS,
  EXECUTING_COUNT_ANNOTATION,
  SLICES,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { namespace } from '../fakeServer.ts'
import { consent, placement, replicaSet, SETS, slice, world } from '../translatorWorld.ts'

const REASONS = (Object.keys(STATUS_REASONS) as StatusReason[]).filter(reason => reason !== 'AlreadyExists')
const SPEC = { downsync: [{ apiGroup: 'apps' }], wantSingletonReportedState: true }
const about: KubeObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n', uid: 'u' } }

for (const reason of REASONS)
  t.test(`two objects in conflict get their status although Events fail: ${reason}`, async t => {
    const clock = new FakeClock()
    const all = await world(t, clock)
    const { server, wds, guilder } = all
    await consent(server, 'wds2')
    const other = server.in('wds2')
    await other.create(NAMESPACES, namespace('commonstuff'))
    server.refuse = (space, verb, resource) => {
      if (space === 'wds2' && verb === 'create' && resource.resource === 'events')
        throw new StatusError(reason, 'no Events')
    }
    const names = ['first', 'second']
    for (const name of names) await wds.create(SETS, replicaSet(name))
    await wds.create(EDGE_PLACEMENTS, placement('ep', SPEC))
    await wds.create(SLICES, slice('ep', 'florin'))
    await server.quiet()
    for (const name of names) await other.create(SETS, replicaSet(name))
    await other.create(EDGE_PLACEMENTS, placement('ep', SPEC))
    await other.create(SLICES, slice('ep', 'florin', 'guilder'))
    await server.quiet()
    for (const name of names) {
      const copy = server.peek(guilder, SETS, name, 'commonstuff')
      t.ok(copy, `${name} is placed where nobody else owns it`)
      const status = { replicas: 1, readyReplicas: 1 }
      if (copy) await server.in(guilder).update(SETS, { ...copy, status }, { subresource: 'status' })
    }
    await server.quiet()
    await clock.advance(1000)
    await server.quiet()
    for (const name of names) {
      const object = server.peek('wds2', SETS, name, 'commonstuff')
      t.same(object?.status, { replicas: 1, readyReplicas: 1 })
      t.equal(object?.metadata.annotations?.[EXECUTING_COUNT_ANNOTATION], '1')
      t.match(object?.metadata.annotations?.[CONFLICT_ANNOTATION], /not placed where/)
    }
    t.same(all.errors, [])
  })

t.test('an Event that comes again may be refused, too', async t => {
  for (const reason of REASONS) {
    const clock = new FakeClock()
    const fails = async () => {
      throw new StatusError(reason, 'no Events')
    }
    const create = async () => {
      throw new StatusError('AlreadyExists', 'it is there')
    }
    const get = async () => ({ apiVersion: 'v1', kind: 'Event', metadata: {}, lastTimestamp: '2000-01-01T00:00:00Z' })
    for (const api of [
      { create, get: fails },
      { create, get, patch: fails },
    ]) {
      const client = { in: () => api } as unknown as Client
      const events = new EventRecorder({ client, clock })
      t.equal(await events.record('s', about, { reason: 'R', message: 'm' }), false, reason)
    }
  }
})

t.test('nobody waits longer for a webhook that does not answer', async t => {
  const clock = new FakeClock()
  const client = { in: () => ({ create: () => new Promise(() => {}) }) } as unknown as Client
  const recorded = new EventRecorder({ client, clock }).record('s', about, { reason: 'R', message: 'm' })
  await clock.advance(EVENT_PATIENCE_MS)
  t.equal(await recorded, false)
})
