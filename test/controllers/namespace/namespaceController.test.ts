import type { Test } from 'tap'
import t from 'tap'
import type { Condition } from '../../../src/apimachinery/conditions.ts'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { DiscoveredResource } from '../../../src/client/client.ts'
import { DiscoveryError } from '../../../src/client/discoveryError.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { namespaceController } from '../../../src/controllers/namespace/namespaceController.ts'
import { FakeClock, settle, until } from '../../client/support/fakeClock.ts'
import { FakeServer, KINDS } from '../../client/support/fakeServer.ts'
import { timeBy } from '../../support/time.ts'

const { namespaces, configmaps, deployments } = KINDS

function make(server: FakeServer, resource: DiscoveredResource, name: string, metadata: object = {}) {
  const apiVersion = resource.group ? `${resource.group}/v1` : 'v1'
  return server.in('s').create(resource, { apiVersion, kind: resource.kind, metadata: { name, ...metadata } })
}

async function start(t: Test, server: FakeServer) {
  const clock = new FakeClock()
  const controller = namespaceController({ ...timeBy(clock), client: server, logger: silentLogger })
  controller.start()
  t.teardown(() => controller.stop())
  await settle()
  return { clock, controller }
}

const conditions = (namespace: KubeObject) =>
  Object.fromEntries(
    ((namespace.status as { conditions: Condition[] }).conditions ?? []).map(c => [
      c.type,
      `${c.status} ${c.reason}: ${c.message}`,
    ]),
  )

t.test('a deleted namespace goes once all in it is gone; its neighbours stay', async t => {
  const server = new FakeServer()
  await make(server, namespaces, 'n')
  await make(server, namespaces, 'other')
  for (const name of ['a', 'b', 'c']) await make(server, configmaps, name, { namespace: 'n' })
  await make(server, deployments, 'd', { namespace: 'n' })
  await make(server, configmaps, 'stays', { namespace: 'other' })
  await start(t, server)
  t.equal(server.names('s', configmaps).length, 4)
  await server.in('s').delete(namespaces, { name: 'n' })
  await until(() => server.names('s', namespaces).length === 1, 'the namespace goes')
  t.strictSame(server.names('s', configmaps), ['stays'])
  t.strictSame(server.names('s', deployments), [])
})

t.test('it waits for finalizers of others, says so, and looks again', async t => {
  const server = new FakeServer()
  await make(server, namespaces, 'n')
  await make(server, configmaps, 'held', { namespace: 'n', finalizers: ['example.com/x'] })
  const { clock, controller } = await start(t, server)
  await server.in('s').delete(namespaces, { name: 'n' })
  const status = () => server.requests.some(r => r.startsWith('update s namespaces'))
  await until(status, 'the status is written')
  await until(() => clock.pending > 0, 'it means to look again')
  // it receives its own write, too, and looks once more
  await settle()
  await controller.queue.idle()
  t.strictSame(conditions(await server.in('s').get(namespaces, { name: 'n' })), {
    NamespaceDeletionDiscoveryFailure: 'False ResourcesDiscovered: All resources successfully discovered',
    NamespaceDeletionGroupVersionParsingFailure: 'False ParsedGroupVersions: All legacy kube types successfully parsed',
    NamespaceDeletionContentFailure:
      'False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    NamespaceContentRemaining:
      'True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
    NamespaceFinalizersRemaining:
      'True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/x in 1 resource instances',
  })
  await server.in('s').patch(configmaps, { namespace: 'n', name: 'held' }, 'merge', { metadata: { finalizers: null } })
  await settle()
  t.strictSame(server.names('s', namespaces), ['n'])
  await clock.advance(31_000)
  await until(() => server.names('s', namespaces).length === 0, 'the namespace goes')
})

t.test('of many finalizers that nobody else has a hundred are told', async t => {
  const server = new FakeServer()
  await make(server, namespaces, 'n')
  const names = (object: number, count: number) => Array.from({ length: count }, (_, i) => `e.com/x${object}-${i}`)
  for (let i = 0; i < 30; i++) await make(server, configmaps, `held${i}`, { namespace: 'n', finalizers: names(i, 30) })
  await start(t, server)
  await server.in('s').delete(namespaces, { name: 'n' })
  await until(() => server.requests.some(r => r.startsWith('update s namespaces')), 'the status is written')
  await settle()
  const told = conditions(await server.in('s').get(namespaces, { name: 'n' }))
  t.match(told.NamespaceContentRemaining, /configmaps\. has 30 resource instances$/)
  const { NamespaceFinalizersRemaining: waits = '' } = told
  t.equal(waits.split(' in 1 resource instances, ').length, 101)
  t.match(waits, /, and others$/)
})

t.test('what is not known is not gone: failed discovery and failed lists keep the namespace', async t => {
  const cases: Record<string, { break(server: FakeServer): void; condition: string; says: RegExp }> = {
    'discovery without a group': {
      break: server => {
        const failed = [{ group: 'apps', version: 'v1', error: new Error('away') }]
        server.hook = verb => {
          if (verb === 'discover') throw new DiscoveryError([configmaps], failed)
        }
      },
      condition: 'NamespaceDeletionDiscoveryFailure',
      says: /^True DiscoveryFailed: Discovery failed for some groups, 1 failing: apps\/v1: away/,
    },
    'no discovery': {
      break: server => {
        server.hook = verb => {
          if (verb === 'discover') throw new StatusError('ServiceUnavailable', 'away')
        }
      },
      condition: 'NamespaceDeletionDiscoveryFailure',
      says: /^True DiscoveryFailed/,
    },
    'no list': {
      break: server => {
        server.hook = (verb, _space, resource) => {
          if (verb === 'list' && resource === 'deployments') throw new StatusError('InternalError', 'away')
        }
      },
      condition: 'NamespaceDeletionContentFailure',
      says: /^True ContentDeletionFailed: Failed to delete all resource types, 1 remaining: .*deployments.apps: away/,
    },
    'no delete': {
      break: server => {
        server.hook = (verb, _space, resource) => {
          if (verb === 'delete' && resource === 'deployments') throw new StatusError('Forbidden', 'no')
        }
      },
      condition: 'NamespaceDeletionContentFailure',
      says: /deployments.apps: no/,
    },
  }
  for (const [name, { break: breakIt, condition, says }] of Object.entries(cases)) {
    const server = new FakeServer()
    await make(server, namespaces, 'n')
    await make(server, deployments, 'd', { namespace: 'n' })
    const { clock, controller } = await start(t, server)
    breakIt(server)
    await server.in('s').delete(namespaces, { name: 'n' })
    await until(() => server.requests.some(r => r.startsWith('update s namespaces')), 'a status is written')
    await until(() => clock.pending > 0, 'it means to look again')
    await clock.advance(100_000)
    t.strictSame(server.names('s', deployments), ['d'], name)
    t.match(conditions(await server.in('s').get(namespaces, { name: 'n' }))[condition], says)
    server.hook = () => {}
    await until(() => clock.pending > 0, 'it means to look again')
    await clock.advance(100_000)
    await until(() => server.names('s', namespaces).length === 0, 'it goes when all is known')
    await controller.stop()
  }
})
