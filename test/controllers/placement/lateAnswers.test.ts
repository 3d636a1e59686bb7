// Answers to the translator's own writes that arrive after newer events of the mailbox's stream.

import t, { type Test } from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'
import { NAMESPACES, WORKSPACES } from '../../../src/apimachinery/resources.ts'
import type { Client, SpaceClient } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { EventRecorder } from '../../../src/controllers/eventRecorder.ts'
import { startPlacementTranslator } from '../../../src/controllers/placement/translator.ts'
import { EDGE_PLACEMENTS, mailboxName, SLICES } from '../../../src/placement/words/placement.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { virtualClock } from '../../syncer/support/virtualClock.ts'
import { FakeServer, namespace } from './fakeServer.ts'
import { fedByTopology } from './fedByTopology.ts'
import { consent, inventory } from './translatorWorld.ts'

const MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
const EDGE = 'edge.kubestellar.io/v2alpha1'
const UID = '11111111-1111-4111-8111-111111111111'
const PAGE = { namespace: 'app', name: 'page' }
const page = (data: Record<string, string>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { ...PAGE },
  data,
})

/** Foreign writes between a write of the translator and its answer, which waits until the mailbox's stream has them. */
type Meanwhile = (mailbox: SpaceClient, verb: string, resource: string) => Promise<unknown> | undefined

async function placed(t: Test, meanwhile: Meanwhile): Promise<{ server: FakeServer; mailbox: string }> {
  const server = new FakeServer()
  const name = mailboxName('inv1', UID)
  await server.in('root:espw').create(WORKSPACES, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
  })
  const mailbox = (server.peek('root:espw', WORKSPACES, name)!.spec as { cluster: string }).cluster
  let told = 0
  const waiting = new Set<() => void>()
  const late = async (verb: string, resource: string, write: () => Promise<KubeObject>): Promise<KubeObject> => {
    const answer = await write()
    const work = meanwhile(server.in(mailbox), verb, resource)
    if (work === undefined) return answer
    await work
    // each write is a revision; what other spaces write meanwhile this stream does not tell of
    const target = server.writes.findLastIndex(of => of.startsWith(`${mailbox} `)) + 1
    while (told < target) await new Promise<void>(resolve => waiting.add(resolve))
    return answer
  }
  const client: Client = {
    in(space) {
      const api = server.in(space)
      if (space !== mailbox) return api
      return {
        ...api,
        create: (gvr, object, options) => late('create', gvr.resource, () => api.create(gvr, object, options)),
        update: (gvr, object, options) => late('update', gvr.resource, () => api.update(gvr, object, options)),
      }
    },
    async *stream(options) {
      for await (const batch of server.stream(options)) {
        yield batch
        if (options.space !== mailbox) continue
        told = batch.revision
        for (const wake of waiting) wake()
        waiting.clear()
      }
    },
  }
  const stop = new AbortController()
  // what is tried again is tried at once: nobody waits here for a clock
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'))
  const translator = fedByTopology(startPlacementTranslator, {
    client,
    places: server,
    logger: silentLogger,
    signal: stop.signal,
    events: new EventRecorder({ client, clock }),
    clock,
    turns: new WorkTurns({ clock: () => 0 }),
    random: () => 0.5,
  })
  t.teardown(async () => {
    stop.abort()
    await translator.stop()
  })
  await inventory(server, 'l', UID)
  await consent(server, 'wds1')
  const wds = server.in('wds1')
  await wds.create(NAMESPACES, namespace('app'))
  await wds.create(MAPS, page({ v: '1' }))
  await wds.create(EDGE_PLACEMENTS, {
    apiVersion: EDGE,
    kind: 'EdgePlacement',
    metadata: { name: 'ep' },
    spec: { downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'] }] },
  })
  await wds.create(SLICES, {
    apiVersion: EDGE,
    kind: 'SinglePlacementSlice',
    metadata: { name: 'ep' },
    destinations: [{ cluster: 'inv1', locationName: 'l', syncTargetName: 'l', syncTargetUID: UID }],
  })
  await server.quiet()
  return { server, mailbox }
}

t.test('a copy that is deleted before its creation is answered is made again', async t => {
  let deleted = 0
  const { server, mailbox } = await placed(t, (api, verb, resource) => {
    if (verb !== 'create' || resource !== MAPS.resource || deleted++ > 0) return undefined
    return api.delete(MAPS, PAGE)
  })
  t.same(server.peek(mailbox, MAPS, PAGE.name, PAGE.namespace)?.data, { v: '1' })
  t.equal(deleted, 2, 'made twice')
})

t.test('a copy that is deleted before its update is answered is made again', async t => {
  let deleted = 0
  const { server, mailbox } = await placed(t, (api, verb, resource) => {
    if (verb !== 'update' || resource !== MAPS.resource || deleted++ > 0) return undefined
    return api.delete(MAPS, PAGE)
  })
  const source = server.peek('wds1', MAPS, PAGE.name, PAGE.namespace)!
  await server.in('wds1').update(MAPS, { ...source, data: { v: '2' } })
  await server.quiet()
  t.equal(deleted, 1)
  t.same(server.peek(mailbox, MAPS, PAGE.name, PAGE.namespace)?.data, { v: '2' })
})

t.test('a Namespace that is deleted with what it holds before it is answered is made again', async t => {
  let deleted = 0
  const { server, mailbox } = await placed(t, (api, verb, resource) => {
    if (verb !== 'create' || resource !== NAMESPACES.resource || deleted++ > 0) return undefined
    return api.delete(NAMESPACES, { name: 'app' })
  })
  t.ok(server.peek(mailbox, NAMESPACES, 'app'))
  t.ok(server.peek(mailbox, MAPS, PAGE.name, PAGE.namespace))
})
