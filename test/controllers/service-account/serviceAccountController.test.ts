import type { Test } from 'tap'
import t from 'tap'
import { statusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { namespaceTerminating } from '../../../src/apiserver/admission/namespaceLifecycle.ts'
import type { Client } from '../../../src/client/client.ts'
import { systemClock } from '../../../src/client/clock.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import {
  caConfigMap,
  NamespaceIndex,
  ServiceAccountReconciler,
  serviceAccountController,
} from '../../../src/controllers/service-account/serviceAccountController.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { settle, until } from '../../client/support/fakeClock.ts'
import { FakeServer, KINDS } from '../../client/support/fakeServer.ts'

const { namespaces, configmaps, serviceaccounts } = KINDS
const CA = { namespace: 'n', name: 'kube-root-ca.crt' }

const addNamespace = (server: FakeServer, space: string, name = 'n') =>
  server.in(space).create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })

async function start(t: Test, server: FakeServer, caPem = 'CA') {
  // slices that never end: how long anything takes on this machine decides nothing
  const turns = new WorkTurns({ clock: () => 0 })
  const controller = serviceAccountController({
    client: server,
    caPem,
    logger: silentLogger,
    turns,
    clock: systemClock,
    random: () => 0.5,
  })
  controller.start()
  t.teardown(() => controller.stop())
  await settle()
  await controller.queue.idle()
  return controller
}

const complete = (server: FakeServer, space: string) => () =>
  server.names(space, serviceaccounts).includes('default') && server.names(space, configmaps).includes(CA.name)

t.test('every namespace of every space, old or new, gets its account and its authorities', async t => {
  const server = new FakeServer()
  await addNamespace(server, 'x')
  await start(t, server)
  await until(complete(server, 'x'), 'the old one')
  await addNamespace(server, 'y')
  await until(complete(server, 'y'), 'the new one')
  t.strictSame((await server.in('y').get(configmaps, CA)).data, { 'ca.crt': 'CA' })
})

t.test('namespaces that come together are completed together, those that cannot be one by one', async t => {
  const server = new FakeServer()
  const sizes: number[] = []
  const createCopies: NonNullable<Client['createCopies']> = async creations => {
    sizes.push(creations.length)
    const made = creations.map(async ({ space, resource, object }) => {
      if (space === 's7') return undefined
      const like = await server.in(space).create(resource, structuredClone(object) as KubeObject)
      return { uid: '', resourceVersion: '', like }
    })
    return await Promise.all(made)
  }
  const spaces = Array.from({ length: 300 }, (_, i) => `s${i}`)
  for (const space of spaces) await addNamespace(server, space)
  await start(t, Object.assign(server, { createCopies }))
  for (const space of spaces) await until(complete(server, space), space)
  t.ok(sizes.length <= 4, `${sizes.length} calls`)
  t.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    2 * spaces.length,
  )
})

t.test('they come back when deleted or changed, and follow a new authority after a restart', async t => {
  const server = new FakeServer()
  await addNamespace(server, 'x')
  const first = await start(t, server)
  await until(complete(server, 'x'), 'both are there')
  await server.in('x').delete(serviceaccounts, { namespace: 'n', name: 'default' })
  await until(complete(server, 'x'), 'the account is back')
  await server.in('x').delete(configmaps, CA)
  await until(complete(server, 'x'), 'the authorities are back')
  const ca = async () => (await server.in('x').get(configmaps, CA)).data
  await server.in('x').patch(configmaps, CA, 'merge', { data: { 'ca.crt': 'forged' } })
  await settle()
  await first.queue.idle()
  t.strictSame(await ca(), { 'ca.crt': 'CA' })
  await first.stop()
  const second = await start(t, server, 'NEW')
  await second.queue.idle()
  t.strictSame(await ca(), { 'ca.crt': 'NEW' })
})

t.test('a renewed authority reaches every namespace while the server runs', async t => {
  const server = new FakeServer()
  for (const space of ['x', 'y']) await addNamespace(server, space)
  const controller = await start(t, server)
  await until(() => complete(server, 'x')() && complete(server, 'y')(), 'all is there')
  controller.useAuthority('NEW')
  await controller.queue.idle()
  for (const space of ['x', 'y']) {
    t.strictSame((await server.in(space).get(configmaps, CA)).data, { 'ca.crt': 'NEW' })
  }
  await addNamespace(server, 'z')
  await until(complete(server, 'z'), 'a new namespace')
  t.strictSame((await server.in('z').get(configmaps, CA)).data, { 'ca.crt': 'NEW' })
})

t.test('a complete namespace costs no request, one on its way out gets nothing', async t => {
  const server = new FakeServer()
  await addNamespace(server, 'x')
  const first = await start(t, server)
  await until(complete(server, 'x'), 'both are there')
  await first.stop()
  await addNamespace(server, 'y')
  await server.in('y').delete(namespaces, { name: 'n' })
  server.requests.length = 0
  await start(t, server)
  await settle()
  t.strictSame(server.requests, ['stream *  '])
})

t.test('a Namespace that ends, or has ended, after it was read is no failure; another refusal is', async t => {
  const server = new FakeServer()
  await addNamespace(server, 'x')
  const missing = statusError.notFound(namespaces, 'n')
  const other = statusError.forbidden(serviceaccounts, 'default', 'by a policy')
  for (const error of [namespaceTerminating(serviceaccounts, caConfigMap('n', 'CA'), 'n'), missing, other]) {
    const refusing: Client = {
      in: space => ({ ...server.in(space), create: () => Promise.reject(error) }),
      stream: options => server.stream(options),
    }
    const done = new ServiceAccountReconciler({ client: refusing, caPem: 'CA' }).reconcile({
      space: 'x',
      namespace: 'n',
    })
    if (error === other) await t.rejects(done, { message: /by a policy/ })
    else await t.resolves(done)
  }
})

t.test('what was told missing and came meanwhile is no work', async t => {
  const server = new FakeServer()
  const { queue } = await start(t, server)
  await addNamespace(server, 'x')
  await until(complete(server, 'x'), 'both are there')
  await settle()
  await queue.idle()
  const requests = server.requests.filter(line => !line.startsWith('stream '))
  t.strictSame(
    requests.map(line => line.split(' ').slice(0, 3).join(' ')),
    ['create x namespaces', 'get x namespaces', 'create x serviceaccounts', 'create x configmaps'],
  )
})

t.test('authorities that are as wanted are not parsed, whatever else is', t => {
  let looks = 0
  const missing: string[] = []
  const index = new NamespaceIndex('CA "quoted"\n', ({ namespace }) => void missing.push(namespace))
  const tell = (namespace: string, object: KubeObject): void => {
    const event = {
      type: 'ADDED',
      space: 'x',
      namespace,
      name: object.metadata.name!,
      revision: 1,
      resource: object.kind === 'Namespace' ? namespaces : configmaps,
      get object() {
        looks++
        return object
      },
      metadata: object.metadata,
      mentions: (text: string) => JSON.stringify(object).includes(text),
      likeness: () => undefined,
    } as const
    index.change(event)
  }
  index.begin()
  const made = caConfigMap('good', 'CA "quoted"\n')
  tell('good', made)
  t.equal(looks, 0)
  const forged = caConfigMap('forged', 'another')
  forged.metadata.annotations = { said: JSON.stringify({ data: made.data }) }
  tell('forged', forged)
  tell('more', { ...made, data: { also: 'this', 'ca.crt': 'CA "quoted"\n' } })
  t.equal(looks, 2)
  for (const name of ['good', 'forged', 'more']) tell('', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  index.synced()
  // their accounts
  t.strictSame(missing.sort(), ['forged', 'good', 'more'])
  index.useAuthority('another')
  t.ok(index.lacks({ space: 'x', namespace: 'good' }))
  t.end()
})
