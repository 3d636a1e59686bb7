// Spaces whose making or removal fails are retried, and their waiters get the reason; nothing stops the others.

import { randomBytes, randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { WORKSPACES } from '../../../src/apimachinery/resources.ts'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { workspaceAdmission } from '../../../src/apiserver/admission/workspaces.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { deleteObject } from '../../../src/apiserver/operations/remove.ts'
import { decodeObject, encodeObject, ParsedCache } from '../../../src/apiserver/registry/codec.ts'
import { systemContext } from '../../../src/apiserver/registry/context.ts'
import { Registry } from '../../../src/apiserver/registry/registry.ts'
import { READY, SpaceManager } from '../../../src/apiserver/spaces/spaceManager.ts'
import { SpaceTree } from '../../../src/apiserver/spaces/tree.ts'
import { OWNER_ANNOTATION } from '../../../src/apiserver/spaces/workspace.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { strategyFor } from '../../../src/kinds/strategyFor.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { type Key, StorageError, type Store, type Stored } from '../../../src/storage/store.ts'
import { FakeClock, settle, until } from '../../client/support/fakeClock.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'

const CATALOG = loadCatalog().types
const keyOf = (name: string, space = 'root'): Key => ({
  space,
  group: WORKSPACES.group,
  resource: WORKSPACES.resource,
  namespace: '',
  name,
})

interface Line {
  level: string
  fields: { err?: Error; [field: string]: unknown }
  text: string
}

interface Options {
  /** Stands between manager and store. */
  wrap?: (store: Store) => Store
  prepare?: (store: Store) => Promise<unknown>
}

async function world(t: Test, { wrap = store => store, prepare }: Options = {}) {
  const store = await openMemoryStore()
  await prepare?.(store)
  const clock = new FakeClock()
  const tree = new SpaceTree(store)
  const types = new TypeRegistry(CATALOG)
  const externalUrl = (): string => 'https://here'
  const registry = new Registry({
    store,
    parsed: new ParsedCache(),
    strategyFor,
    storageType: (space: string, type: ResourceType) =>
      types.in(space).find(type.group, type.storageVersion, type.resource) ?? type,
    typeAt: (space, group, version, resource) => types.in(space).find(group, version, resource),
    admission: [workspaceAdmission({ tree, externalUrl, randomBytes })],
    clock: () => new Date(clock.now()),
    uuid: randomUUID,
    random: Math.random,
    annotateSpace: true,
  })
  const log: Line[] = []
  const note = (level: string) => (fields: object, text: string) =>
    void log.push({ level, fields: fields as Line['fields'], text })
  /** May throw instead of what the manager asks of the registry. */
  const faults = { create: (_kind: string): void => {}, update: (_subresource: string): void => {} }
  const removed: string[] = []
  tree.onGone(space => removed.push(space))
  const manager = new SpaceManager({
    turns: endlessTurns(),
    store: wrap(store),
    registry: {
      async create(context, type, namespace, object, options) {
        faults.create(type.kind)
        return await registry.create(context, type, namespace, object, options)
      },
      copies: registry.copies,
      async update(context, type, namespace, name, change, options) {
        faults.update(options?.subresource ?? '')
        return await registry.update(context, type, namespace, name, change, options)
      },
    },
    types,
    tree,
    externalUrl,
    spaces: true,
    log: { info: note('info'), warn: note('warn'), error: note('error') },
    clock,
    random: () => 0.5,
  })
  await manager.start()
  t.teardown(async () => {
    await manager.stop()
    await store.close()
  })
  const type = types.in('root').find(WORKSPACES.group, WORKSPACES.version, WORKSPACES.resource)!
  const get = async (name: string, space?: string): Promise<KubeObject | undefined> => {
    const stored = await store.get(keyOf(name, space))
    return stored && decodeObject(stored)
  }
  /** Time passes until it is so. */
  const eventually = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
    for (let round = 0; round < 500; round++) {
      if (await holds()) return
      await clock.advance(1000)
    }
    throw new Error(`never happened: ${what}; ${JSON.stringify(log)}`)
  }
  return {
    store,
    clock,
    tree,
    manager,
    log,
    faults,
    removed,
    get,
    eventually,
    make: (name: string, space = 'root') =>
      registry.create({ ...systemContext(space, 'test'), user: { name: 'alice', groups: [] } }, type, '', {
        apiVersion: 'tenancy.kcp.io/v1alpha1',
        kind: 'Workspace',
        metadata: { name },
        spec: {},
      }),
    remove: (name: string) => deleteObject(registry.deps, systemContext('root', 'test'), type, keyOf(name)),
    phaseOf: async (name: string, space?: string) => ((await get(name, space))?.status as { phase?: string })?.phase,
    conditionsOf: async (name: string) =>
      ((await get(name))?.status as { conditions?: Record<string, string>[] })?.conditions ?? [],
    errors: () => log.filter(line => line.level === 'error'),
  }
}

t.test(
  'a space whose content cannot be made at first becomes Ready; its owner and the log are told meanwhile',
  async t => {
    const w = await world(t)
    let left = 6
    w.faults.create = kind => {
      if (kind === 'LogicalCluster' && left-- > 0)
        throw statusError.forbidden({ group: 'core.kcp.io', resource: 'logicalclusters' }, 'cluster', 'no room')
    }
    await w.make('late')
    await until(() => w.errors().length > 0, 'the error')
    await settle()
    t.equal(await w.phaseOf('late'), 'Scheduling')
    t.match(await w.conditionsOf('late'), [
      {
        type: 'WorkspaceInitialized',
        status: 'False',
        severity: 'Error',
        reason: 'ProvisioningFailed',
        message: /no room; the server tries again$/,
      },
    ])
    await settle()
    t.equal(left, 5, 'telling it asks for no other try before its time')
    await w.eventually('Ready', async () => (await w.phaseOf('late')) === 'Ready')
    t.match(await w.conditionsOf('late'), [{ type: 'WorkspaceInitialized', status: 'True' }])
    t.equal(w.errors().length, 1, 'one line for one cause')
    t.match(w.errors()[0], { fields: { err: { message: /no room/ }, workspace: 'late', parent: 'root' } })
    t.match(
      w.log.filter(line => line.level === 'info').map(line => line.text),
      ['a space is as wanted again'],
    )
    const { cluster } = (await w.get('late'))!.spec as { cluster: string }
    t.equal(await w.store.count({ space: cluster }), 5, 'three Namespaces, the LogicalCluster, its administrator')
  },
)

t.test('other spaces do not wait for one that fails for ever', async t => {
  const w = await world(t)
  w.faults.update = subresource => {
    if (subresource === 'status') throw new Error('never')
  }
  await w.make('stuck')
  await until(() => w.errors().length > 0, 'the error')
  await w.clock.advance(3_600_000)
  t.equal(w.errors().length, 1)
  t.equal(w.log.filter(line => line.text === 'the status of a Workspace could not be written').length, 1)
  w.faults.update = () => {}
  await w.make('fine')
  await until(() => w.tree.resolve('root:fine').found, 'the space')
  await w.eventually('Ready', async () => (await w.phaseOf('fine')) === 'Ready')
  await w.eventually('Ready too', async () => (await w.phaseOf('stuck')) === 'Ready')
  const key = { space: 'root', group: 'tenancy.kcp.io', resource: 'workspaces', namespace: '', name: 'fine' }
  const stored = await w.store.get(key)
  t.ok(stored?.bytes.includes(READY), 'by which it is known without being parsed')
})

t.test('a space that cannot be emptied at first goes in the end, and says so meanwhile', async t => {
  let left = 4
  const w = await world(t, {
    wrap: store =>
      new Proxy(store, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (property !== 'writeMany') return typeof value === 'function' ? value.bind(target) : value
          return (writes: Parameters<Store['writeMany']>[0]) => {
            if (left-- > 0) throw new StorageError('Failed', 'the disk /var/lib/x is sick')
            return target.writeMany(writes)
          }
        },
      }),
  })
  await w.make('going')
  await w.eventually('Ready', async () => (await w.phaseOf('going')) === 'Ready')
  const { cluster } = (await w.get('going'))!.spec as { cluster: string }
  await w.remove('going')
  await until(() => w.errors().length > 0, 'the error')
  await settle()
  const [condition] = await w.conditionsOf('going')
  t.match(condition, { type: 'WorkspaceContentDeleted', status: 'False', reason: 'DeletionFailed' })
  t.notMatch(condition?.message, '/var/lib')
  t.ok(w.tree.isDeleting(cluster))
  await w.eventually('gone', async () => (await w.get('going')) === undefined)
  t.equal(await w.store.count({ space: cluster }), 0)
  t.same(w.removed, [cluster])
  await settle()
  t.match(w.log.at(-1), { text: 'a space is as wanted again', fields: { workspace: 'going' } })
})

t.test('a Workspace that cannot be read is one line in the log, and its space is made when it can be', async t => {
  const w = await world(t)
  const stored = (await w.make('odd')).stored
  const text = encodeObject(decodeObject(stored))
  await w.store.update(keyOf('odd'), () => ({ type: 'put', text: { head: '{"v":', tail: '' } }))
  await w.make('even')
  await w.eventually('Ready', async () => (await w.phaseOf('even')) === 'Ready')
  t.match(w.errors(), [{ fields: { err: { name: 'SyntaxError' }, workspace: 'odd' } }])
  t.ok(w.tree.resolve('root:odd').found)
  await w.store.update(keyOf('odd'), () => ({ type: 'put', text }))
  await w.eventually('Ready', async () => (await w.phaseOf('odd')) === 'Ready')
  t.equal(w.errors().length, 1)
})

t.test('a watch that ends is taken up, with a fresh list when its history is gone', async t => {
  let broken = false
  let cut = new AbortController()
  const w = await world(t, {
    wrap: store =>
      new Proxy(store, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property, target)
          if (property !== 'watch') return typeof value === 'function' ? value.bind(target) : value
          return async function* (...[range, options]: Parameters<Store['watch']>) {
            if (broken) throw new StorageError('SlowWatcher', 'too slow')
            yield* target.watch(range, { ...options, signal: AbortSignal.any([options.signal, cut.signal]) })
          }
        },
      }),
  })
  for (const name of ['stays', 'goes', 'spoilt']) await w.make(name)
  for (const name of ['stays', 'goes', 'spoilt'])
    await w.eventually('Ready', async () => (await w.phaseOf(name)) === 'Ready')
  const { cluster } = (await w.get('goes'))!.spec as { cluster: string }
  broken = true
  cut.abort()
  await settle()
  // this change has no listener
  await w.store.update(keyOf('goes'), current => ({ type: 'delete', text: encodeObject(decodeObject(current!)) }))
  await w.store.update(keyOf('spoilt'), () => ({ type: 'put', text: { head: '{"v":', tail: '' } }))
  await w.make('comes')
  await settle()
  t.equal(await w.phaseOf('comes'), 'Scheduling')
  await w.store.compact(w.store.revision)
  await w.clock.advance(60_000)
  t.ok(w.errors().length < 20, `no spinning: ${w.errors().length} lines in a minute`)
  t.ok(w.tree.resolve('root:comes').found, 'the tree needs no watch')
  broken = false
  cut = new AbortController()
  await w.eventually('Ready', async () => (await w.phaseOf('comes')) === 'Ready')
  for (const name of ['stays', 'spoilt']) t.ok(w.tree.resolve(`root:${name}`).found, name)
  t.notOk(w.tree.resolve('root:goes').found)
  t.same(w.removed, [cluster])
})

t.test('an owner that cannot be read keeps no space from being made, by a running server or at its start', async t => {
  const malformed = (name: string): KubeObject => ({
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name, uid: randomUUID(), annotations: { [OWNER_ANNOTATION]: '{"username":' } },
    spec: { cluster: `id-of-${name}` },
    status: { phase: 'Scheduling' },
  })
  const put = (store: Store, name: string) =>
    store.update(keyOf(name), () => ({ type: 'put', text: encodeObject(malformed(name)) }))
  const w = await world(t, { prepare: store => put(store, 'before') })
  await put(w.store, 'after')
  for (const name of ['before', 'after']) {
    await w.eventually(`${name} Ready`, async () => (await w.phaseOf(name)) === 'Ready')
    t.equal(await w.store.count({ space: `id-of-${name}` }), 4, 'all but an administrator')
  }
  t.same(w.errors(), [])
  t.equal(w.log.filter(line => line.text.startsWith('a Workspace does not tell its owner')).length, 2)
})

t.test('a Workspace whose parent is gone is told once, and stays as it is', async t => {
  const orphan: KubeObject = {
    apiVersion: 'tenancy.kcp.io/v1alpha1',
    kind: 'Workspace',
    metadata: { name: 'orphan', uid: randomUUID() },
    spec: { cluster: 'orphanid' },
    status: { phase: 'Scheduling' },
  }
  const w = await world(t, {
    prepare: store => store.update(keyOf('orphan', 'nowhere'), () => ({ type: 'put', text: encodeObject(orphan) })),
  })
  await w.clock.advance(3_600_000)
  t.match(w.errors(), [{ fields: { err: { message: /nowhere/ }, workspace: 'orphan' } }])
  t.equal(w.errors().length, 1)
  await w.make('fine')
  await w.eventually('Ready', async () => (await w.phaseOf('fine')) === 'Ready')
})

t.test('what makes a user administrator is made with the Namespaces, and once for all spaces of theirs', async t => {
  const w = await world(t)
  const alone: string[] = []
  w.faults.create = kind => void alone.push(kind)
  const bindingOf = async (name: string): Promise<Stored> => {
    await w.make(name)
    await w.eventually('Ready', async () => (await w.phaseOf(name)) === 'Ready')
    const space = ((await w.get(name))!.spec as { cluster: string }).cluster
    const { items } = await w.store.list({
      space,
      group: 'rbac.authorization.k8s.io',
      resource: 'clusterrolebindings',
    })
    t.equal(items.length, 1)
    return items[0]!
  }
  const first = await bindingOf('one')
  const second = await bindingOf('two')
  t.strictSame(alone, ['LogicalCluster', 'LogicalCluster'], 'the others are copies')
  const [one, two] = [decodeObject(first), decodeObject(second)]
  t.strictSame({ ...two, metadata: {} }, { ...one, metadata: {} })
  t.not(two.metadata.uid, one.metadata.uid)
  t.equal(two.metadata.annotations?.['kcp.io/cluster'], second.key.space)
})

t.test('the Namespaces that every space begins with are made together, and as any other is', async t => {
  const w = await world(t)
  const alone: string[] = []
  w.faults.create = kind => void alone.push(kind)
  const namespacesOf = async (name: string): Promise<KubeObject[]> => {
    await w.make(name)
    await w.eventually('Ready', async () => (await w.phaseOf(name)) === 'Ready')
    const space = ((await w.get(name))!.spec as { cluster: string }).cluster
    const { items } = await w.store.list({ space, group: '', resource: 'namespaces' })
    return items.map(decodeObject)
  }
  const first = await namespacesOf('one')
  const second = await namespacesOf('two')
  t.notOk(alone.includes('Namespace'), 'they are copies')
  t.strictSame(
    second.map(({ metadata }) => metadata.name),
    ['default', 'kube-public', 'kube-system'],
  )
  const same = ({ metadata: { uid, resourceVersion, annotations, ...metadata }, ...rest }: KubeObject) => {
    t.ok(uid && resourceVersion && annotations?.['kcp.io/cluster'])
    return {
      ...rest,
      metadata: { ...metadata, creationTimestamp: 'then', managedFields: metadata.managedFields?.length },
    }
  }
  t.strictSame(second.map(same), first.map(same))
  t.equal(new Set([...first, ...second].map(({ metadata }) => metadata.uid)).size, 6)
})
