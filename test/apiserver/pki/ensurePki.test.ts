import { X509Certificate } from 'node:crypto'
import { chmod, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect, createServer } from 'node:tls'
import t from 'tap'
import { ensurePki, renewalDueMs } from '../../../src/apiserver/pki/ensurePki.ts'
import { issueCa, issueClient } from '../../../src/apiserver/pki/issue.ts'

const DAY_MS = 86_400_000
const names = { clock: Date.now, hostnames: ['orrery.example'], ips: ['10.1.2.3'] }

t.test('a first start makes an authority and what it signs, readable by the owner alone', async t => {
  const dir = join(t.testdir(), 'pki')
  const pki = await ensurePki(dir, names)
  const ca = new X509Certificate(pki.caPem)
  const serving = new X509Certificate(pki.serving.certPem)
  const admin = new X509Certificate(pki.admin.certPem)
  t.ok(ca.ca && ca.checkIssued(ca))
  t.ok(serving.checkIssued(ca) && serving.verify(ca.publicKey))
  t.ok(admin.checkIssued(ca) && admin.verify(ca.publicKey))
  for (const host of ['localhost', 'kubernetes.default.svc', 'orrery.example']) t.equal(serving.checkHost(host), host)
  for (const ip of ['127.0.0.1', '::1', '10.1.2.3']) t.ok(serving.checkIP(ip), ip)
  t.match({ ...admin.toLegacyObject().subject }, { CN: 'orrery-admin', O: 'system:masters' })
  t.ok(ca.validToDate.getTime() - Date.now() > 3640 * DAY_MS, 'the authority lasts ten years')
  const modes = await Promise.all((await readdir(dir)).map(async file => (await stat(join(dir, file))).mode & 0o777))
  t.same(modes, new Array(7).fill(0o600))
})

t.test('a restart keeps everything, so kubeconfigs and tokens stay good', async t => {
  const dir = t.testdir()
  t.same(await ensurePki(dir, names), await ensurePki(dir, names))
})

t.test('new host names change the serving certificate and nothing else', async t => {
  const dir = t.testdir()
  const before = await ensurePki(dir, names)
  const after = await ensurePki(dir, { clock: Date.now, hostnames: ['other.example', 'fd00::7'], ips: [] })
  t.not(after.serving.certPem, before.serving.certPem)
  t.same({ ...after, serving: before.serving }, before)
  const serving = new X509Certificate(after.serving.certPem)
  t.ok(serving.checkHost('other.example') && serving.checkIP('fd00::7'))
  t.notOk(serving.checkHost('orrery.example'), 'a name that was taken away is gone')
})

t.test('leaf certificates are renewed in their last 30 days, the authority is kept', async t => {
  const dir = t.testdir()
  const before = await ensurePki(dir, names)
  t.same(await ensurePki(dir, { ...names, clock: () => Date.now() + 334 * DAY_MS }), before)
  const after = await ensurePki(dir, { ...names, clock: () => Date.now() + 336 * DAY_MS })
  t.equal(after.caPem, before.caPem)
  t.not(after.serving.certPem, before.serving.certPem)
  t.not(after.admin.certPem, before.admin.certPem)
})

t.test(
  'the authority is renewed while it outlives every leaf: the old certificate and what it vouches for stay good',
  async t => {
    const dir = t.testdir()
    const before = await ensurePki(dir, names)
    const nineYears = (): number => Date.now() + 3265 * DAY_MS
    const after = await ensurePki(dir, { ...names, clock: nineYears })
    t.not(after.caPem, before.caPem)
    t.equal(after.caKeyPem, before.caKeyPem)
    const [oldCa, newCa] = [new X509Certificate(before.caPem), new X509Certificate(after.caPem)]
    t.ok(newCa.validToDate.getTime() > nineYears() + 3640 * DAY_MS)
    for (const { certPem } of [after.serving, after.admin]) {
      const leaf = new X509Certificate(certPem)
      t.ok(leaf.checkIssued(oldCa) && leaf.verify(oldCa.publicKey), 'clients that hold the old authority trust it')
      t.ok(leaf.validToDate <= oldCa.validToDate, 'and go on until it ends')
      t.ok(leaf.checkIssued(newCa))
    }
    t.same(await ensurePki(dir, { ...names, clock: nineYears }), after)
  },
)

t.test('a leaf never outlives its authority', async t => {
  const nowMs = Date.now()
  const ca = await issueCa({ commonName: 'short', nowMs, days: 10 })
  const leaf = await issueClient({ ca, commonName: 'jane', organizations: [], nowMs, days: 365 })
  t.equal(new X509Certificate(leaf.certPem).validTo, new X509Certificate(ca.certPem).validTo)
})

t.test('it is known when something will have to be renewed', async t => {
  const dir = t.testdir()
  const pki = await ensurePki(dir, names)
  const dueMs = renewalDueMs(pki)
  t.same(await ensurePki(dir, { ...names, clock: () => dueMs - 1 }), pki)
  t.not((await ensurePki(dir, { ...names, clock: () => dueMs })).admin.certPem, pki.admin.certPem)
})

t.test('a lost authority certificate is made again from its key; a lost key is reported', async t => {
  const dir = t.testdir()
  const before = await ensurePki(dir, names)
  await rm(join(dir, 'ca.crt'))
  const after = await ensurePki(dir, names)
  t.ok(new X509Certificate(before.admin.certPem).verify(new X509Certificate(after.caPem).publicKey))
  await rm(join(dir, 'ca.key'))
  await t.rejects(ensurePki(dir, names), /ca.crt without ca.key/)
})

t.test('a damaged leaf is replaced; an authority that does not fit its key is reported', async t => {
  const dir = t.testdir()
  const before = await ensurePki(dir, names)
  await writeFile(join(dir, 'apiserver.crt'), 'garbage')
  t.equal((await ensurePki(dir, names)).caPem, before.caPem)
  await chmod(join(dir, 'ca.key'), 0o600)
  await writeFile(join(dir, 'ca.key'), before.admin.keyPem)
  await t.rejects(ensurePki(dir, names), /do not match/)
})

t.test('a malformed host name is refused', async t => {
  await t.rejects(ensurePki(t.testdir(), { clock: Date.now, hostnames: ['https://x'], ips: [] }), /not a host name/)
})

t.test('server and client accept each other over TLS', async t => {
  const pki = await ensurePki(t.testdir(), names)
  const tls = { ca: pki.caPem, cert: pki.serving.certPem, key: pki.serving.keyPem }
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const seen = new Promise<string | undefined>(resolve =>
    server.once('secureConnection', socket => {
      resolve(socket.getPeerX509Certificate()?.subject)
      socket.end()
    }),
  )
  const { certPem: cert, keyPem: key } = pki.admin
  const client = connect({ port, host: '127.0.0.1', servername: 'orrery.example', ca: pki.caPem, cert, key })
  t.match(await seen, /CN=orrery-admin/)
  client.destroy()
})
