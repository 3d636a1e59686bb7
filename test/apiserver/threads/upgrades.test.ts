/** Bytes behind an upgrade in an API thread are that connection's, and no other parser reads them. */
import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { CONFIGMAPS, startTestServer } from '../../support/server.ts'

/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 12
const UPGRADE = [
  `GET ${CONFIGMAPS}?watch=1 HTTP/1.1`,
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
const requestOf = (lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`

t.test('a parser that an upgrade has left reads nothing of it for the next connection', async t => {
  const { api } = await startTestServer(t, { more: { apiThreads: 1 } })
  const { url, cert, key } = api.access
  const { hostname, port } = new URL(url)
  const open = async (): Promise<TLSSocket> => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, cert, key })
    t.teardown(() => socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'secureConnect')
    return socket
  }
  const openAll = (): Promise<TLSSocket[]> => Promise.all(Array.from({ length: CONNECTIONS }, open))
  const upgraded = await openAll()
  for (const socket of upgraded) {
    socket.write(requestOf(UPGRADE))
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 101 /)
  }
  const others = await openAll()
  let heard = ''
  for (const socket of others) socket.on('data', part => (heard += String(part)))
  const ends = upgraded.map(socket => (socket.destroyed ? undefined : once(socket, 'close')))
  // no frame of a WebSocket: who reads it as one ends the connection
  for (const socket of upgraded) socket.write(requestOf([`GET ${CONFIGMAPS} HTTP/1.1`, 'Host: x']))
  await Promise.all(ends)
  t.equal(heard, '')
  for (const socket of others) {
    socket.write(requestOf(['GET /version HTTP/1.1', 'Host: x']))
    t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 /)
  }
})
