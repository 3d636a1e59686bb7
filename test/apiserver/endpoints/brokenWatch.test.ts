/** A watch or a stream that ends by a fault of the server: its client gets an error, and so does the server's log. */
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { Reader } from '../../../src/apiserver/registry/reader.ts'
import { StreamForms } from '../../../src/apiserver/registry/streamForms.ts'
import { accessOf, CONFIGMAPS, configMap, ON_MAIN_THREAD, startTestServer } from '../../support/server.ts'

const { api, server, faults } = await startTestServer(t, ON_MAIN_THREAD)
await api.ok(api.post(CONFIGMAPS, configMap('a')))
const WATCH = `${CONFIGMAPS}?watch=1`
const broken = (): never => {
  throw new Error('broken on purpose')
}
const toldOnce = (t: Test) => t.match(faults.splice(0), [/broken on purpose/])

t.test('a watch', async t => {
  t.capture(Reader.prototype, 'watch', broken)
  const watch = await api.watch(WATCH)
  t.match(await watch.rest(), [{ type: 'ADDED' }, { type: 'ERROR', object: { reason: 'InternalError' } }])
  toldOnce(t)
})

t.test('a watch over WebSocket', async t => {
  t.capture(Reader.prototype, 'watch', broken)
  const { ca, cert, key } = accessOf(server.kubeconfigPath)
  const socket = new WebSocket(server.url.replace('https', 'wss') + WATCH, { ca, cert, key })
  const types: string[] = []
  socket.on('message', data => types.push(JSON.parse(String(data)).type))
  const [code] = await once(socket, 'close')
  t.strictSame(types, ['ADDED', 'ERROR'])
  t.equal(code, 1000, 'it is closed, not broken off')
  toldOnce(t)
})

t.test('a space stream', async t => {
  t.capture(StreamForms.prototype, 'form', broken)
  const stream = await api.watch('/services/stream/clusters/root?resources=configmaps')
  t.match(await stream.rest(), [{ type: 'ERROR', object: { reason: 'InternalError' } }])
  toldOnce(t)
})
