/** Events of a mailbox's stream about the center's own writes are no news, however early they come; others' are. */

import t, { type Test } from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES, WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import type { Client, SpaceClient } from '../../../../src/client/client.ts'
import { systemClock } from '../../../../src/client/clock.ts'
import { silentLogger } from '../../../../src/client/logger.ts'
import { contentOf } from '../../../../src/controllers/placement/copies/copyContents.ts'
import { CopyWriter } from '../../../../src/controllers/placement/copies/copyWriter.ts'
import { ObjectCache } from '../../../../src/controllers/placement/join/objectCache.ts'
import { newStageTimes } from '../../../../src/controllers/placement/mailboxes/copyTimings.ts'
import { Mailboxes } from '../../../../src/controllers/placement/mailboxes/mailboxes.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'
import { project } from '../../../../src/placement/content/projection.ts'
import { namespaceKey, objectKey } from '../../../../src/placement/words/names.ts'
import { mailboxName } from '../../../../src/placement/words/placement.ts'
import { endlessTurns } from '../../../support/endlessTurns.ts'
import { FakeServer, namespace } from '../fakeServer.ts'
import { MAPS } from '../translatorWorld.ts'

const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
const PAGE = { namespace: 'app', name: 'page' }
/** Turns of the loop until something is so. */
async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise<void>(resolve => setImmediate(resolve))
}
const KEY = objectKey(MAPS, PAGE.namespace, PAGE.name)
const content = (v: string) =>
  contentOf(project('wds1', { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...PAGE }, data: { v } }), 1)

/** A mailbox whose answers come when its stream has delivered them, and the effects of `meanwhile`. */
async function world(t: Test, meanwhile: (api: SpaceClient) => Promise<unknown>) {
  const server = new FakeServer()
  const name = mailboxName('inv1', '11111111-1111-4111-8111-111111111111')
  await server.in('root:espw').create(WORKSPACES, {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name },
  })
  const workspace = server.peek('root:espw', WORKSPACES, name)!
  const space = (workspace.spec as { cluster: string }).cluster
  const heard: string[] = []
  const signals = new Signals()
  signals.copyChanged.on((_, key, what) => {
    if (what === 'content' || what === 'status') heard.push(`${what} ${key}`)
  })
  const stop = new AbortController()
  const cache = new ObjectCache(10)
  const mailboxes: Mailboxes = new Mailboxes(
    {
      client: server,
      logger: silentLogger,
      signal: stop.signal,
      cache,
      turns: endlessTurns(),
      clock: systemClock,
      random: () => 0.5,
      waits: () => {},
      stageTimes: newStageTimes(),
    },
    {
      configChanged: () => {},
      upsyncFilled: () => {},
      carriedUp: () => {},
      served: () => {},
      definesOther: () => {},
      namespaceGone: () => {},
    },
    signals,
  )
  t.teardown(async () => {
    stop.abort()
    await mailboxes.stop()
  })
  await server.in(space).create(NAMESPACES, namespace('app'))
  mailboxes.setSpace(name, space)
  await until(() => mailboxes.get(name) !== undefined)
  const mailbox = mailboxes.get(name)!
  const late = async (write: Promise<KubeObject>): Promise<KubeObject> => {
    const answer = await write
    await meanwhile(server.in(space))
    const last = server.peek(space, MAPS, PAGE.name, PAGE.namespace)
    await until(() => mailbox.received >= Number((last ?? answer).metadata.resourceVersion))
    return answer
  }
  const client: Client = {
    in: of => ({
      ...server.in(of),
      create: (...given) => late(server.in(of).create(...given)),
      update: (...given) => late(server.in(of).update(...given)),
    }),
    stream: options => server.stream(options),
  }
  const writer = new CopyWriter({
    client,
    cache,
    clock: systemClock,
    written: (at, key) => mailboxes.written(at, key),
    wrote: (at, key, object) => mailboxes.wrote(at, key, object),
  })
  const copy = (): KubeObject | undefined => server.peek(space, MAPS, PAGE.name, PAGE.namespace)
  return {
    mailbox,
    copy,
    api: server.in(space),
    writer,
    write: (v: string) => writer.write(mailbox, KEY, MAPS, content(v)),
    told: () => heard.splice(0).filter(what => what.endsWith(KEY)),
  }
}

t.test('a creation and an update that are told before they are answered', async t => {
  const w = await world(t, async () => {})
  t.match(await w.write('1'), { wrote: true })
  t.strictSame(w.told(), [`status ${KEY}`], 'nothing has to be looked at')
  const { uid, resourceVersion } = w.copy()!.metadata
  t.match(w.mailbox.copies.get(KEY), { uid, resourceVersion, owner: 'wds1', terminating: false })
  t.match(await w.write('2'), { wrote: true })
  t.strictSame(w.told(), [`status ${KEY}`])
  t.equal(w.mailbox.copies.get(KEY)?.resourceVersion, w.copy()!.metadata.resourceVersion)
  t.match(await w.write('2'), { wrote: false })
})

t.test('what others change meanwhile, and afterwards', async t => {
  let others = 0
  const w = await world(t, async api => {
    if (others++ === 0) await api.patch(MAPS, PAGE, 'merge', { data: { v: 'other' } })
  })
  await w.write('1')
  t.ok(w.told().includes(`content ${KEY}`))
  t.equal(w.mailbox.copies.get(KEY)?.resourceVersion, w.copy()!.metadata.resourceVersion)
  t.match(await w.write('1'), { wrote: true })
  t.strictSame(w.told(), [`status ${KEY}`])
  await w.api.patch(MAPS, PAGE, 'merge', { data: { v: 'other' } })
  await until(() => w.mailbox.received >= Number(w.copy()!.metadata.resourceVersion))
  t.ok(w.told().includes(`content ${KEY}`))
})

t.test('what is deleted meanwhile', async t => {
  let others = 0
  const w = await world(t, async api => {
    if (others++ > 0) return
    await api.delete(MAPS, PAGE)
  })
  await w.write('1')
  await until(() => !w.mailbox.copies.has(KEY))
  t.ok(w.told().includes(`content ${KEY}`))
  t.match(await w.write('1'), { wrote: true })
  t.equal(w.mailbox.copies.get(KEY)?.uid, w.copy()!.metadata.uid)
})

t.test('what went while nobody listened is missed, whatever it was', async t => {
  const w = await world(t, async () => {})
  await w.write('1')
  w.told()
  w.mailbox.others.set(objectKey(MAPS, 'app', 'theirs'), true)
  w.mailbox.namespaces.add('old')
  w.mailbox.beginSnapshot()
  w.mailbox.receive(KEY, true)
  const gone = [...w.mailbox.endSnapshot(w.mailbox.received)]
  t.strictSame(gone.sort(), [objectKey(MAPS, 'app', 'theirs'), ...['app', 'default', 'old'].map(namespaceKey)])
})

t.test('a Deployment that was made just now is not taken for healthy', async t => {
  const w = await world(t, async () => {})
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { ...PAGE }, spec: { replicas: 1 } }
  const key = objectKey(DEPLOYMENTS, PAGE.namespace, PAGE.name)
  await w.writer.write(w.mailbox, key, DEPLOYMENTS, contentOf(project('wds1', deployment), 1))
  t.not(w.mailbox.health.of(key).health, 'Healthy')
})
