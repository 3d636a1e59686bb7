import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { X509Authenticator } from '../../../src/apiserver/auth/x509.ts'
import { issueCa, issueClient, issueServing } from '../../../src/apiserver/pki/issue.ts'

const nowMs = Date.now()
const ca = await issueCa({ commonName: 'ca', nowMs, days: 10 })

t.test('common name and organizations are user and groups', async t => {
  const organizations = ['dev, ops', 'a+b', 'O=x']
  const pair = await issueClient({ ca, commonName: 'jane,doe', organizations, nowMs, days: 1 })
  const found = await new X509Authenticator({ clock: Date.now }).authenticate({
    certificate: new X509Certificate(pair.certPem),
  })
  t.equal(found?.user.name, 'jane,doe')
  t.same(found?.user.groups, [...organizations, 'system:authenticated'])
  t.match(found?.user.extra?.['authentication.kubernetes.io/credential-id']?.[0], /^X509SHA256=[0-9a-f]{64}$/)
  t.equal(found?.space, undefined)
})

t.test('a certificate that runs out while its connection lives is refused', async t => {
  const pair = await issueClient({ ca, commonName: 'jane', organizations: [], nowMs, days: 1 })
  const certificate = new X509Certificate(pair.certPem)
  let now = nowMs
  const authenticator = new X509Authenticator({ clock: () => now })
  const { untilMs = 0 } = (await authenticator.authenticate({ certificate }))!
  now = untilMs - 1
  t.ok(await authenticator.authenticate({ certificate }))
  now = untilMs
  await t.rejects(async () => authenticator.authenticate({ certificate }), { message: 'Unauthorized' })
  now += 2 * 86_400_000
  await t.rejects(async () => authenticator.authenticate({ certificate }), { message: 'Unauthorized' })
})

t.test('server certificates and nameless ones are nobody', async t => {
  const serving = await issueServing({ ca, dnsNames: ['x'], ips: [], nowMs, days: 1 })
  const nameless = await issueClient({ ca, commonName: '', organizations: ['system:masters'], nowMs, days: 1 })
  const authenticator = new X509Authenticator({ clock: Date.now })
  for (const { certPem } of [serving, nameless]) {
    t.equal(await authenticator.authenticate({ certificate: new X509Certificate(certPem) }), undefined)
  }
  t.equal(await authenticator.authenticate({ token: 'x' }), undefined)
})
