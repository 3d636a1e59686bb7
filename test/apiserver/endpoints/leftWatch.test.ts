/** A client that leaves before a watch or a stream has begun leaves no follower of the store behind. */
import { request } from 'node:https'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { AccessControl } from '../../../src/apiserver/access/accessControl.ts'
import { Strangers } from '../../../src/apiserver/connections/strangers.ts'
import { Compression } from '../../../src/apiserver/exchange/answers/compression.ts'
import { InFlight } from '../../../src/apiserver/flowcontrol/inFlight.ts'
import type { Ticket } from '../../../src/apiserver/flowcontrol/ticket.ts'
import { type ListQuery, Reader } from '../../../src/apiserver/registry/reader.ts'
import { Abandoned } from '../../../src/program/workTurns.ts'
import { accessOf, CONFIGMAPS, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'

const { server, faults } = await startTestServer(t, ON_MAIN_THREAD)
const { ca, cert, key } = accessOf(server.kubeconfigPath)

/** Asks, and leaves while the server is in a step of the request. Answers how it went on. */
async function leaveDuring(
  t: Test,
  path: string,
  steps: object,
  name: string,
): Promise<'refused' | 'follows' | 'follows what has ended'> {
  const arrived = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const seenOff = Promise.withResolvers<void>()
  const followed = Promise.withResolvers<'refused' | 'follows' | 'follows what has ended'>()
  const step = steps[name as keyof typeof steps] as (...args: unknown[]) => unknown
  t.capture(
    steps,
    name as never,
    async function (this: unknown, ...args: unknown[]) {
      const result = await step.apply(this, args)
      arrived.resolve()
      await held.promise
      return result
    } as never,
  )
  const { requestEnded } = Strangers.prototype
  t.capture(Strangers.prototype, 'requestEnded', function (this: Strangers, socket: Socket) {
    seenOff.resolve()
    return requestEnded.call(this, socket)
  })
  const { watch } = server.store
  t.capture(server.store, 'watch', (range, options) => {
    const found = watch.call(server.store, range, options)
    followed.resolve(options.signal.aborted ? 'follows what has ended' : 'follows')
    return found
  })
  const { wants } = Compression.prototype
  t.capture(Compression.prototype, 'wants', function (this: Compression, ...args: Parameters<typeof wants>) {
    followed.resolve('refused')
    return wants.apply(this, args)
  } as typeof wants)
  const sent = request(server.url + path, { ca, cert, key })
  sent.on('error', () => {})
  sent.end()
  await arrived.promise
  sent.destroy()
  await seenOff.promise
  held.resolve()
  return followed.promise
}

const WATCH = `${CONFIGMAPS}?watch=1`
const STREAM = '/services/stream/clusters/root?resources=configmaps&resourceVersion=1'
t.test('while a watch is planned', async t => {
  t.equal(await leaveDuring(t, WATCH, Reader.prototype, 'list'), 'follows what has ended')
})
for (const path of [WATCH, STREAM]) {
  t.test(`while it is authorized: GET ${path}`, async t => {
    t.equal(await leaveDuring(t, path, AccessControl.prototype, 'authorize'), 'refused', 'it has no seat')
  })
}
t.test('while a watch over WebSocket looks for what it begins with', async t => {
  const arrived = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<unknown>()
  const { list } = Reader.prototype
  t.capture(Reader.prototype, 'list', async function (this: Reader, type: ResourceType, query: ListQuery) {
    arrived.resolve()
    await left.promise
    const rested = Promise.resolve(query.work?.rest())
    rested.then(ended.resolve, ended.resolve)
    await rested
    return list.call(this, type, query)
  })
  const { leave } = InFlight.prototype
  t.capture(InFlight.prototype, 'leave', function (this: InFlight, ticket: Ticket) {
    left.resolve()
    return leave.call(this, ticket)
  })
  const socket = new WebSocket(server.url.replace('https', 'wss') + WATCH, { ca, cert, key })
  socket.on('error', () => {})
  await arrived.promise
  socket.terminate()
  t.ok((await ended.promise) instanceof Abandoned)
})
t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
