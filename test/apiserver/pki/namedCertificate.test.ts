/** A certificate of another authority, for some of the server's names. */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConnectionOptions, connect } from 'node:tls'
import t, { type Test } from 'tap'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { readNamedCertificate } from '../../../src/apiserver/pki/namedCertificate.ts'
import { startTestServer } from '../../support/server.ts'

const nowMs = Date.now()
const authority = await issueCa({ commonName: 'another', nowMs, days: 9 })

async function files(t: Test) {
  const dir = t.testdir({})
  const certFile = join(dir, 'tls.crt')
  const keyFile = join(dir, 'tls.key')
  const write = async (...dnsNames: string[]) => {
    const { certPem, keyPem } = await issueServing({ ca: authority, dnsNames, ips: [], nowMs, days: 5 })
    writeFileSync(certFile, certPem)
    writeFileSync(keyFile, keyPem)
    return certPem
  }
  return { certFile, keyFile, write }
}

t.test('it is shown to who asks for its names, and the own one to all others, renewed ones too', async t => {
  const { certFile, keyFile, write } = await files(t)
  await write('out.example.org', '*.wild.example.org')
  let look: (() => void) | undefined
  const taken = Promise.withResolvers<void>()
  const { server } = await startTestServer(t, {
    more: {
      namedCertificate: { certFile, keyFile },
      externalCaPem: authority.certPem,
      externalHostnames: ['out.example.org'],
      furtherNames: ['in.example.org'],
      certificateClock: {
        now: () => nowMs,
        after(delayMs, run) {
          if (delayMs === 60_000) {
            if (look !== undefined) taken.resolve()
            look = run
          }
          return () => {}
        },
      },
    },
  })
  const shake = async (servername: string, options: ConnectionOptions): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.url).port), servername, ...options })
    try {
      await once(socket, 'secureConnect')
      return socket.getPeerX509Certificate()!.serialNumber
    } finally {
      socket.destroy()
    }
  }
  const first = await shake('out.example.org', { ca: authority.certPem })
  await shake('a.wild.example.org', { ca: authority.certPem })
  await shake('in.example.org', { ca: server.caPem })
  await shake('localhost', { ca: server.caPem })
  const kubeconfig = (url: string): string =>
    Buffer.from(/authority-data: (\S+)/.exec(server.kubeconfigFor(url))![1]!, 'base64').toString()
  t.equal(kubeconfig('https://out.example.org'), authority.certPem)
  t.equal(kubeconfig('https://in.example.org:443'), server.caPem)
  await write('out.example.org')
  look!()
  await taken.promise
  t.not(await shake('out.example.org', { ca: authority.certPem }), first)
})

t.test('without an authority the kubeconfig leaves trust to the system', async t => {
  const { certFile, keyFile, write } = await files(t)
  await write('out.example.org')
  const { server } = await startTestServer(t, { more: { namedCertificate: { certFile, keyFile } } })
  t.notMatch(server.kubeconfigFor('https://out.example.org'), /authority/)
})

t.test('a file that cannot be used is named', async t => {
  const { certFile, keyFile, write } = await files(t)
  await t.rejects(readNamedCertificate({ certFile, keyFile }), { message: /tls\.(crt|key) cannot be read: ENOENT/ })
  const first = await write('a.example')
  await write('a.example')
  t.match(await readNamedCertificate({ certFile, keyFile }), { names: ['a.example'] })
  writeFileSync(certFile, first)
  await t.rejects(readNamedCertificate({ certFile, keyFile }), {
    message: /tls\.key is not the key of the certificate in/,
  })
  writeFileSync(certFile, 'x')
  await t.rejects(readNamedCertificate({ certFile, keyFile }), { message: /tls\.crt holds no certificate in PEM/ })
  writeFileSync(certFile, first)
  writeFileSync(keyFile, 'x')
  await t.rejects(readNamedCertificate({ certFile, keyFile }), { message: /tls\.key holds no private key in PEM/ })
})
