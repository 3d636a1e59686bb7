/** Security of connections: nothing that is known to be weak, and one handshake each. */
import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { startTestServer } from '../../support/server.ts'

const { server, api } = await startTestServer(t)

/** @throws Error of a handshake that came to nothing */
async function handshake(t: Test, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port), ca: server.caPem, ...options })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

t.test('TLS 1.2 and 1.3 with sealing ciphers only', async t => {
  for (const ciphers of ['ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305']) {
    const socket = await handshake(t, { maxVersion: 'TLSv1.2', ciphers })
    t.equal(socket.getCipher().name, ciphers)
  }
  for (const ciphers of ['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA', 'ECDHE-ECDSA-AES256-SHA384']) {
    await t.rejects(handshake(t, { maxVersion: 'TLSv1.2', ciphers }), { code: /ALERT_HANDSHAKE_FAILURE/ }, ciphers)
  }
  const socket = await handshake(t, {})
  t.equal(socket.getProtocol(), 'TLSv1.3')
  t.equal(socket.getCipher().name, 'TLS_AES_128_GCM_SHA256', 'the one that costs least')
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL@SECLEVEL=0' } as const
  await t.rejects(handshake(t, old), { code: /ALERT_PROTOCOL_VERSION/ })
})

t.test('a client cannot ask for more handshakes', async t => {
  const socket = await handshake(t, { maxVersion: 'TLSv1.2' })
  const outcome = new Promise(resolve => {
    socket.once('error', error => resolve(error))
    socket.renegotiate({}, error => resolve(error ?? 'renegotiated'))
  })
  t.match(await outcome, { code: 'ERR_SSL_NO_RENEGOTIATION' })
  t.equal((await api.get('/version')).code, 200)
})
