import type { Test } from 'tap'
import t from 'tap'
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject, OwnerReference } from '../../../src/apimachinery/object.ts'
import type { DiscoveredResource } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { garbageCollector } from '../../../src/controllers/garbage-collector/garbageCollector.ts'
import { hastyClock, settle, until } from '../../client/support/fakeClock.ts'
import { brokenConnection, FakeServer, KINDS, kind } from '../../client/support/fakeServer.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import * as fc from '../../support/fastCheck.ts'
import { timeBy } from '../../support/time.ts'

const { configmaps, deployments, replicasets, clusterroles } = KINDS

interface Given {
  owners?: readonly KubeObject[]
  block?: boolean
  namespace?: string
  finalizers?: string[]
}

const ownerRef = (owner: KubeObject, block = false): OwnerReference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name!,
  uid: owner.metadata.uid!,
  ...(block && { blockOwnerDeletion: true }),
})

function make(server: FakeServer, resource: DiscoveredResource, name: string, given: Given = {}, space = 's') {
  const { owners = [], block = false, namespace = 'n', finalizers } = given
  const ownerReferences = owners.map(owner => ownerRef(owner, block))
  return server.in(space).create(resource, {
    apiVersion: resource.group ? `${resource.group}/v1` : 'v1',
    kind: resource.kind,
    metadata: { name, ...(resource.namespaced && { namespace }), ownerReferences, ...(finalizers && { finalizers }) },
  })
}

/** Starts a collector; `quiet` resolves when it has nothing left to do. */
function collect(t: Test, server: FakeServer) {
  const controller = garbageCollector({
    turns: endlessTurns(),
    client: server,
    logger: silentLogger,
    clock: hastyClock,
    random: () => 0.5,
  })
  controller.start()
  t.teardown(() => controller.stop())
  const quiet = async () => {
    for (let round = 0; round < 10; round++) {
      await settle()
      await controller.queue.idle()
    }
  }
  return { controller, quiet }
}

const at = (name: string, namespace = 'n') => ({ namespace, name })

t.test('background: dependents of a deleted owner go, down to the last generation, in its space only', async t => {
  const server = new FakeServer()
  const owner = await make(server, deployments, 'd')
  const child = await make(server, replicasets, 'r', { owners: [owner] })
  await make(server, configmaps, 'c', { owners: [child] })
  await make(server, configmaps, 'free')
  const other = await make(server, deployments, 'd', {}, 'other')
  await make(server, configmaps, 'theirs', { owners: [other] }, 'other')
  const { quiet } = collect(t, server)
  await quiet()
  t.strictSame(server.names('s', configmaps), ['c', 'free'], 'nothing happens while the owners live')
  await server.in('s').delete(deployments, at('d'))
  await until(() => server.names('s', configmaps).length === 1, 'the grandchild goes')
  await quiet()
  t.strictSame(server.names('s', configmaps), ['free'])
  t.strictSame(server.names('s', replicasets), [])
  t.strictSame(server.names('other', configmaps), ['theirs'])
})

t.test('what lost its owner before the collector came, or was born without one, goes too', async t => {
  const server = new FakeServer()
  const owner = await make(server, deployments, 'd')
  await make(server, configmaps, 'early', { owners: [owner] })
  await server.in('s').delete(deployments, at('d'))
  collect(t, server)
  await until(() => server.names('s', configmaps).length === 0, 'early goes')
  await make(server, configmaps, 'late', { owners: [owner] })
  await until(() => server.names('s', configmaps).length === 0, 'late goes')
  await make(server, deployments, 'd')
  await make(server, configmaps, 'namesake', { owners: [owner] })
  await until(() => server.names('s', configmaps).length === 0, 'an owner of another uid does not count')
  t.pass()
})

t.test('one of two owners is enough; the reference to the other is dropped', async t => {
  const server = new FakeServer()
  const one = await make(server, deployments, 'one')
  const two = await make(server, deployments, 'two')
  await make(server, configmaps, 'c', { owners: [one, two] })
  const { quiet } = collect(t, server)
  await quiet()
  await server.in('s').delete(deployments, at('one'))
  await quiet()
  const left = await server.in('s').get(configmaps, at('c'))
  t.strictSame(
    left.metadata.ownerReferences?.map(o => o.name),
    ['two'],
  )
  await server.in('s').delete(deployments, at('two'))
  await until(() => server.names('s', configmaps).length === 0, 'then it goes')
})

t.test('an owner that cannot be read for sure deletes nothing', async t => {
  const errors: [string, () => unknown][] = [
    ['server error', () => new StatusError('InternalError', 'etcd is away')],
    ['forbidden', () => new StatusError('Forbidden', 'no')],
    ['path not found', () => new StatusError('NotFound', 'the server could not find the requested resource', {})],
    ['space not found', () => statusError.notFound({ group: 'tenancy.kcp.io', resource: 'workspaces' }, 'd')],
    ['connection', brokenConnection],
  ]
  for (const [name, error] of errors) {
    const server = new FakeServer()
    const owner = await make(server, deployments, 'd')
    await make(server, configmaps, 'c', { owners: [owner] })
    let reads = 0
    server.hook = (verb, _space, resource) => {
      if (verb !== 'get' || resource !== 'deployments') return
      reads++
      throw error()
    }
    const { controller } = collect(t, server)
    await until(() => reads > 0, 'the owner is read')
    await server.in('s').delete(deployments, at('d'))
    for (let turn = 0; turn < 20; turn++) await settle()
    t.strictSame(server.names('s', configmaps), ['c'], name)
    await controller.stop()
  }
})

t.test('owners of a kind that is not served keep their dependents, until the kind comes', async t => {
  const server = new FakeServer()
  const widgets = kind('example.com', 'widgets', 'Widget')
  const owner: KubeObject = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w', uid: 'gone' } }
  await make(server, configmaps, 'c', { owners: [owner] })
  await make(server, clusterroles, 'cr', { owners: [{ ...owner, kind: 'ConfigMap', apiVersion: 'v1' }] })
  const lasting = { ...hastyClock, after: () => () => {} }
  const controller = garbageCollector({ ...timeBy(lasting), client: server, logger: silentLogger })
  controller.start()
  t.teardown(() => controller.stop())
  const crds = {
    ...kind('apiextensions.k8s.io', 'customresourcedefinitions', 'CustomResourceDefinition', { namespaced: false }),
  }
  await until(() => server.requests.some(r => r.startsWith('discover')), 'the kind is looked for')
  await settle()
  t.strictSame(server.names('s', configmaps), ['c'])
  server.kinds = [...server.kinds, widgets, crds]
  await make(server, crds, 'widgets.example.com')
  await until(() => server.names('s', configmaps).length === 0, 'now the owner is known to be absent')
  t.strictSame(server.names('s', clusterroles), ['cr'], 'a cluster-scoped object cannot have a namespaced owner')
})

t.test('foreground: blocking dependents go first, then the owner, then the others', async t => {
  const server = new FakeServer()
  const owner = await make(server, deployments, 'd')
  await make(server, replicasets, 'blocking', { owners: [owner], block: true, finalizers: ['example.com/hold'] })
  await make(server, configmaps, 'other', { owners: [owner] })
  const { quiet } = collect(t, server)
  await quiet()
  await server.in('s').delete(deployments, at('d'), { propagationPolicy: 'Foreground' })
  await quiet()
  t.strictSame(server.names('s', deployments), ['d'], 'the owner waits')
  const held = await server.in('s').get(replicasets, at('blocking'))
  t.ok(held.metadata.deletionTimestamp, 'for the dependent that is on its way')
  await server.in('s').patch(replicasets, at('blocking'), 'merge', { metadata: { finalizers: null } })
  await until(() => server.names('s', deployments).length === 0, 'the owner goes')
  await until(() => server.names('s', configmaps).length === 0, 'the others follow')
  t.strictSame(server.names('s', replicasets), [])
})

t.test('orphan: dependents stay and forget the owner', async t => {
  const server = new FakeServer()
  const owner = await make(server, deployments, 'd')
  await make(server, replicasets, 'r', { owners: [owner] })
  const { quiet } = collect(t, server)
  await quiet()
  await server.in('s').delete(deployments, at('d'), { propagationPolicy: 'Orphan' })
  await until(() => server.names('s', deployments).length === 0, 'the owner goes')
  await quiet()
  const left = await server.in('s').get(replicasets, at('r'))
  t.strictSame(left.metadata.ownerReferences, [])
})

t.test('orphan: contents of revisions go with their EdgePlacement all the same', async t => {
  const server = new FakeServer()
  const contents = kind('edge.kubestellar.io', 'placementcontents', 'PlacementContent')
  server.kinds.push(contents)
  const owner = await make(server, deployments, 'd')
  await make(server, contents, 'secret', { owners: [owner] })
  const { quiet } = collect(t, server)
  await quiet()
  await server.in('s').delete(deployments, at('d'), { propagationPolicy: 'Orphan' })
  await until(() => server.names('s', deployments).length === 0, 'the owner goes')
  await quiet()
  t.strictSame(server.names('s', contents), [])
})

t.test('cycles of any length end, whichever way they are deleted', async t => {
  for (const length of [1, 2, 3, 5]) {
    for (const propagationPolicy of ['Foreground', 'Background'] as const) {
      const server = new FakeServer()
      const { quiet, controller } = collect(t, server)
      const ring: KubeObject[] = []
      for (let n = 0; n < length; n++) {
        ring.push(await make(server, configmaps, `c${n}`, { owners: ring.slice(-1), block: true }))
      }
      const ownerReferences = [ownerRef(ring.at(-1)!, true)]
      await server.in('s').patch(configmaps, at('c0'), 'merge', { metadata: { ownerReferences } })
      await quiet()
      t.equal(server.names('s', configmaps).length, length, 'a ring lives')
      await server.in('s').delete(configmaps, at('c0'), { propagationPolicy })
      await until(() => server.names('s', configmaps).length === 0, `${propagationPolicy} ring of ${length}`)
      await controller.stop()
    }
  }
})

t.test('whatever breaks on the way, exactly the objects without a living owner go', async t => {
  const shape = fc.array(fc.record({ owners: fc.array(fc.nat(7), { maxLength: 2 }), remove: fc.boolean() }), {
    minLength: 2,
    maxLength: 8,
  })
  const policies = fc.constantFrom('Foreground' as const, 'Background' as const)
  const faults = fc.array(fc.nat(5), { maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(shape, policies, faults, fc.boolean(), async (nodes, propagationPolicy, script, late) => {
      const server = new FakeServer()
      const early = late ? undefined : collect(t, server)
      const objects: KubeObject[] = []
      const parents = nodes.map(({ owners }, n) => [...new Set(owners)].filter(o => o < n))
      for (const [n, owners] of parents.entries()) {
        objects.push(
          await make(server, configmaps, `c${n}`, { owners: owners.map(o => objects[o]!), block: n % 2 === 0 }),
        )
      }
      await early?.quiet()
      const pending = [...script]
      server.hook = verb => {
        if (verb === 'create' || verb === 'list') return
        if (pending.shift() === 1) throw brokenConnection()
      }
      const lives = nodes.map(() => true)
      for (const [n, node] of nodes.entries()) {
        const orphaned = parents[n]!.length > 0 && !parents[n]!.some(o => lives[o])
        lives[n] = !node.remove && !orphaned
      }
      for (const [n, node] of nodes.entries()) {
        if (!node.remove) continue
        for (;;) {
          const gone = await server
            .in('s')
            .delete(configmaps, at(`c${n}`), { propagationPolicy })
            .then(
              () => true,
              error => error.reason === 'NotFound',
            )
          if (gone) break
        }
      }
      const { controller } = early ?? collect(t, server)
      const wanted = nodes.flatMap((_, n) => (lives[n] ? [`c${n}`] : []))
      server.poke()
      const same = () => server.names('s', configmaps).join() === wanted.join()
      await until(same, `${server.names('s', configmaps)} becomes ${wanted}`)
      for (let turn = 0; turn < 5; turn++) await settle()
      t.ok(same())
      await controller.stop()
    }),
    { numRuns: 60 },
  )
})
