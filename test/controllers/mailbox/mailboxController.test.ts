// Mailboxes come, stay and go with their SyncTargets, and nothing else is ever taken for one.

import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import type { KeyGuard } from '../../../src/client/setAside/keyGuard.ts'
import { SetAside } from '../../../src/client/setAside/setAside.ts'
import { UnderwayFile } from '../../../src/client/setAside/underwayFile.ts'
import { startMailboxController } from '../../../src/controllers/mailbox/mailboxController.ts'
import {
  EDGE_PLACEMENTS,
  LOCATIONS,
  mailboxName,
  SYNC_TARGET_NAME_ANNOTATION,
  SYNC_TARGETS,
} from '../../../src/placement/words/placement.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import { realTime } from '../../support/time.ts'
import { FakeServer } from '../placement/fakeServer.ts'
import { fedByTopology } from '../placement/fedByTopology.ts'

const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' }
const ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }
const BINDINGS = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterrolebindings' }
const ORPHAN = 'inv1-mb-99999999-9999-4999-8999-999999999999'

const target = (name: string): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'SyncTarget',
  metadata: { name },
})
const workspace = (name: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'tenancy.kcp.io/v1alpha1',
  kind: 'Workspace',
  metadata: { name, annotations },
})

async function world(t: Test, prepare: (server: FakeServer) => Promise<unknown> = async () => {}, guard?: KeyGuard) {
  const server = new FakeServer()
  await prepare(server)
  const controller = fedByTopology(startMailboxController, {
    ...realTime(),
    client: server,
    places: server,
    logger: silentLogger,
    guard,
  })
  t.teardown(() => controller.stop())
  const add = async (name: string) =>
    mailboxName('inv1', (await server.in('inv1').create(SYNC_TARGETS, target(name))).metadata.uid!)
  const spaceOf = (mailbox: string) =>
    (server.peek('root:espw', WORKSPACES, mailbox)!.spec as { cluster: string }).cluster
  return { server, add, spaceOf }
}

t.test('a SyncTarget gets a mailbox in which its syncer has an identity and no roles', async t => {
  const { server, add, spaceOf } = await world(t)
  const name = await add('florin')
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [name])
  const annotations = server.peek('root:espw', WORKSPACES, name)!.metadata.annotations!
  t.equal(annotations['edge.kubestellar.io/sync-target-name'], 'florin')
  const space = spaceOf(name)
  t.ok(server.peek(space, ACCOUNTS, 'kubestellar-syncer', 'default'))
  t.same([...server.names(space, ROLES), ...server.names(space, BINDINGS)], [])
  await server.in(space).delete(ACCOUNTS, { namespace: 'default', name: 'kubestellar-syncer' })
  await server.quiet()
  t.ok(server.peek(space, ACCOUNTS, 'kubestellar-syncer', 'default'), 'a lost identity comes back')
})

t.test('the mailbox goes with its SyncTarget', async t => {
  const { server, add } = await world(t)
  const names = [await add('florin'), await add('guilder')]
  await server.quiet()
  await server.in('inv1').delete(SYNC_TARGETS, { name: 'florin' })
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [names[1]])
  const again = await add('florin')
  await server.quiet()
  t.not(again, names[0])
  t.same(
    server.names('root:espw', WORKSPACES),
    [again, names[1]].sort(),
    'a new SyncTarget of the old name has a new mailbox',
  )
})

t.test('an object of which the process ended keeps mailboxes back only where it is a SyncTarget', async t => {
  for (const [id, mailboxes] of [
    ['wds1 edgeplacements.edge.kubestellar.io /poison', 2],
    ['inv1 synctargets.edge.kubestellar.io /poison', 0],
  ] as const) {
    const dataDir = t.testdir()
    const file = new UnderwayFile(join(dataDir, 'underway'), error => {
      throw error
    })
    file.forget()
    for (const begun of ['', `intake of *: ${id}`]) file.begin({ queue: 'topology', id: begun, tried: begun !== '' })
    const setAside = new SetAside({ dataDir, logger: silentLogger, clock: new FakeClock() })
    t.teardown(() => setAside.close())
    const prepare = async (server: FakeServer) => {
      for (const name of ['florin', 'poison']) await server.in('inv1').create(SYNC_TARGETS, target(name))
      await server.in('wds1').create(EDGE_PLACEMENTS, {
        apiVersion: 'edge.kubestellar.io/v2alpha1',
        kind: 'EdgePlacement',
        metadata: { name: 'poison' },
      })
      await server.in('root:espw').create(WORKSPACES, workspace(ORPHAN, { [SYNC_TARGET_NAME_ANNOTATION]: 'gone' }))
    }
    const { server } = await world(t, prepare, setAside.guardFor('topology'))
    await server.quiet()
    const names = server.names('root:espw', WORKSPACES)
    t.equal(names.filter(name => name !== ORPHAN).length, mailboxes, id)
    t.equal(names.includes(ORPHAN), mailboxes === 0, 'without all SyncTargets nothing is deleted')
  }
})

t.test('a mailbox that somebody deletes is made again', async t => {
  const { server, add, spaceOf } = await world(t)
  const name = await add('florin')
  await server.quiet()
  const old = spaceOf(name)
  await server.in('root:espw').delete(WORKSPACES, { name })
  await server.quiet()
  t.not(spaceOf(name), old)
  t.ok(server.peek(spaceOf(name), ACCOUNTS, 'kubestellar-syncer', 'default'))
})

t.test('at a start, mailboxes without a SyncTarget go; what merely looks like one stays', async t => {
  const mark = { 'edge.kubestellar.io/sync-target-name': 'gone' }
  const kept = ['inv1-mb-7', 'people-mb-work', ORPHAN.replace('inv1', 'inv2')]
  const { server } = await world(t, async server => {
    const parent = server.in('root:espw')
    await parent.create(WORKSPACES, workspace(ORPHAN, mark))
    await parent.create(WORKSPACES, workspace(kept[0]!, mark))
    await parent.create(WORKSPACES, workspace(kept[1]!, mark))
    await parent.create(WORKSPACES, workspace(kept[2]!)) // the right name, but not marked as ours
    await server.in('elsewhere').create(WORKSPACES, workspace(ORPHAN, mark))
  })
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), kept.toSorted())
  t.same(server.names('elsewhere', WORKSPACES), [ORPHAN])
})

t.test('a SyncTarget in a mailbox, or in a space below one, gets no mailbox; what it has from before goes', async t => {
  const boxes: string[] = []
  const { server } = await world(t, async server => {
    for (const [space, below] of [
      ['box', ''],
      ['below', ':imw1'],
    ] as const) {
      server.place(space, `root:espw:${ORPHAN}${below}`)
      const { uid } = (await server.in(space).create(SYNC_TARGETS, target('old'))).metadata
      boxes.push(mailboxName(space, uid!))
    }
    const mark = { 'edge.kubestellar.io/sync-target-name': 'old' }
    for (const name of boxes) await server.in('root:espw').create(WORKSPACES, workspace(name, mark))
  })
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [])
  for (const space of ['box', 'below']) await server.in(space).create(SYNC_TARGETS, target('new'))
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [])
})

t.test('while the place of an inventory is not known, its mailboxes are neither made nor removed', async t => {
  let kept = ''
  const { server, add } = await world(t, async server => {
    server.unplaced.add('inv1')
    const { uid } = (await server.in('inv1').create(SYNC_TARGETS, target('florin'))).metadata
    kept = mailboxName('inv1', uid!)
    const mark = { 'edge.kubestellar.io/sync-target-name': 'florin' }
    await server.in('root:espw').create(WORKSPACES, workspace(kept, mark))
  })
  const later = await add('guilder')
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [kept])
  server.place('inv1')
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [kept, later].sort())
})

t.test('what else of an inventory waits for its place keeps no mailbox without a SyncTarget', async t => {
  const { server } = await world(t, async server => {
    server.unplaced.add('inv1')
    const location = { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'Location', metadata: { name: 'florin' } }
    await server.in('inv1').create(LOCATIONS, location)
    const mark = { 'edge.kubestellar.io/sync-target-name': 'gone' }
    await server.in('root:espw').create(WORKSPACES, workspace(ORPHAN, mark))
  })
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [])
})

t.test('a SyncTarget that waits for its syncer keeps its mailbox, and goes after it', async t => {
  const { server, add } = await world(t)
  const inventory = server.in('inv1')
  const name = await add('florin')
  await server.quiet()
  await inventory.patch(SYNC_TARGETS, { name: 'florin' }, 'merge', {
    metadata: { finalizers: ['edge.kubestellar.io/cluster'] },
  })
  await inventory.delete(SYNC_TARGETS, { name: 'florin' })
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [name])
  const told = (type: string, status: string, reason: string) => ({
    status: { conditions: [{ type, status, reason }] },
  })
  const says = (body: object) =>
    inventory.patch(SYNC_TARGETS, { name: 'florin' }, 'merge', body, { subresource: 'status' })
  await says(told('Leaving', 'True', 'SyncerSilent'))
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [name])
  await says(told('Leaving', 'False', 'Left'))
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [])
  t.same(server.names('inv1', SYNC_TARGETS), [])
  const writes = server.writes.filter(write => / delete (workspaces|synctargets) /.test(write))
  t.match(writes.slice(-2), [/delete workspaces/, /delete synctargets/], 'the mailbox first')
})

t.test('who forces names the uid; without a mailbox nobody is waited for', async t => {
  const { server, add } = await world(t)
  const inventory = server.in('inv1')
  const finalizers = ['edge.kubestellar.io/cluster']
  const [florin, guilder] = [await add('florin'), await add('guilder')]
  // both have their mailboxes before they go
  await server.quiet()
  for (const name of ['florin', 'guilder']) {
    await inventory.patch(SYNC_TARGETS, { name }, 'merge', { metadata: { finalizers } })
    await inventory.delete(SYNC_TARGETS, { name })
  }
  await server.quiet()
  const force = (uid: string) =>
    inventory.patch(SYNC_TARGETS, { name: 'florin' }, 'merge', {
      metadata: { annotations: { 'edge.kubestellar.io/force-detach': uid } },
    })
  await force('true')
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [florin, guilder].sort())
  await force(florin.split('-mb-')[1]!)
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [guilder])
  t.same(server.names('inv1', SYNC_TARGETS), ['guilder'])
  await server.in('root:espw').delete(WORKSPACES, { name: guilder })
  await server.quiet()
  t.same(server.names('root:espw', WORKSPACES), [], 'it is not made again')
  t.same(server.names('inv1', SYNC_TARGETS), [])
})
