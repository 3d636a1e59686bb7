/** Only clients of the named networks get a request for a certificate, and only there one counts. */
import { once } from 'node:events'
import { type ConnectionOptions, connect } from 'node:tls'
import t from 'tap'
import { CertificateNetworks } from '../../../src/apiserver/connections/certificateNetworks.ts'
import { accessOf, startTestServer } from '../../support/server.ts'

t.test('addresses, ranges and this host, in every spelling', async t => {
  const asked = (entries: readonly string[] | undefined, ...addresses: (string | undefined)[]) =>
    addresses.map(address => new CertificateNetworks(entries).asks(address))
  t.strictSame(asked(undefined, '192.0.2.1', '2001:db8::1', undefined), [true, true, true])
  t.strictSame(asked(['10.0.0.0/8'], '10.1.2.3', '::ffff:10.1.2.3', '11.0.0.1', '::1'), [true, true, false, false])
  t.strictSame(asked(['192.0.2.7'], '192.0.2.7', '192.0.2.8'), [true, false])
  t.strictSame(asked(['2001:db8::/32'], '2001:db8::1', '2001:db9::1', '10.0.0.1'), [true, false, false])
  t.strictSame(asked(['fe80::/10'], 'fe80::1%eth0'), [true])
  t.strictSame(asked(['localhost'], '127.0.0.9', '::1', '::ffff:127.0.0.1', '192.0.2.1'), [true, true, true, false])
  for (const entry of ['x', '10.0.0.0/33', '::/129', '10.0.0.0/', ''])
    t.throws(() => new CertificateNetworks([entry]), { message: `"${entry}" is no address, CIDR range or localhost` })
})

/** Answer to an administrator with a certificate. */
async function answerTo(options: ConnectionOptions, wanted: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', ...options })
  await once(socket, 'secureConnect')
  socket.write('GET /api/v1/namespaces HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  let text = ''
  for await (const piece of socket) text += piece
  return text.includes(wanted) ? wanted : text
}

t.test('a certificate counts where it is asked for', async t => {
  for (const [networks, wanted] of [
    [['127.0.0.0/8'], 'HTTP/1.1 200'],
    [['192.0.2.0/24', '::1'], 'HTTP/1.1 401'],
  ] as const) {
    const { server } = await startTestServer(t, { more: { clientCertificateNetworks: networks } })
    const { cert, key } = accessOf(server.kubeconfigPath)
    const port = Number(new URL(server.url).port)
    t.equal(await answerTo({ port, cert, key, ca: server.caPem }, wanted), wanted)
  }
})
