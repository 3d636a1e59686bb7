/** ID tokens of a real issuer over HTTPS: who they make of a user, which are refused, and that an issuer's trouble is its own. */
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { OidcAuthenticator, type OidcOptions } from '../../../src/apiserver/auth/oidcAuthenticator.ts'
import { issueCa, issueServing } from '../../../src/apiserver/pki/issue.ts'
import { ALICE, startTestServer } from '../../support/server.ts'

const nowMs = Date.now()
const ca = await issueCa({ commonName: 'issuer-ca', nowMs, days: 1 })
const serving = await issueServing({ ca, dnsNames: ['localhost'], ips: ['127.0.0.1'], nowMs, days: 1 })

interface Issuer {
  url: string
  /** Requested paths. */
  readonly asked: string[]
  /** Answers 503 while true. */
  down: boolean
  /** Has no keys to show while true. */
  keyless: boolean
  /** Takes a new key into use, known by this name. */
  rotate(kid: string): Promise<void>
  token(claims: Record<string, unknown>): Promise<string>
}

async function startIssuer(t: Test): Promise<Issuer> {
  const asked: string[] = []
  let key = await generateKeyPair('RS256')
  let kid = 'k1'
  const issuer: Issuer = {
    url: '',
    asked,
    down: false,
    keyless: false,
    async rotate(name) {
      key = await generateKeyPair('RS256')
      kid = name
    },
    token: claims =>
      new SignJWT({ iss: issuer.url, aud: 'orrery', sub: 'jane', exp: Math.floor(nowMs / 1000) + 600, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid })
        .sign(key.privateKey),
  }
  const server: Server = createServer({ cert: serving.certPem, key: serving.keyPem }, (request, response) => {
    asked.push(request.url ?? '')
    const answer = async (): Promise<unknown> =>
      request.url === '/keys'
        ? { keys: [{ ...(await exportJWK(key.publicKey)), kid, alg: 'RS256', use: 'sig' }] }
        : { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
    const fails = (): boolean => issuer.down || (issuer.keyless && request.url === '/keys')
    void answer().then(body => response.writeHead(fails() ? 503 : 200).end(JSON.stringify(body)))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  issuer.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  return issuer
}

const optionsFor = (issuer: Issuer, more: Partial<OidcOptions> = {}): OidcOptions => ({
  clock: Date.now,
  elapsed: () => performance.now(),
  issuerUrl: issuer.url,
  clientId: 'orrery',
  caPem: ca.certPem,
  ...more,
})

t.test('a member of the company gets in with an ID token; RBAC knows user and groups', async t => {
  const issuer = await startIssuer(t)
  const oidc = optionsFor(issuer, { usernameClaim: 'email', groupsClaim: 'roles', groupsPrefix: 'oidc:' })
  const { api } = await startTestServer(t, { more: { oidc } })
  const claims = { email: 'jane@example.com', email_verified: true, roles: ['dev', 'ops'], jti: 'j1' }
  const jane = api.as(await issuer.token(claims))
  t.teardown(() => jane.close())
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const who = await api.ok(jane.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review))
  t.strictSame((who.status as { userInfo: unknown }).userInfo, {
    username: 'jane@example.com',
    groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'] },
  })
  t.equal((await jane.get('/api/v1/secrets')).code, 403)
  await api.ok(
    api.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'devs' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'oidc:dev' }],
    }),
  )
  t.equal((await jane.get('/api/v1/secrets')).code, 200, 'the very next request sees the new binding')
})

t.test('other credentials work while the issuer is away', async t => {
  const issuer = await startIssuer(t)
  issuer.down = true
  const { api } = await startTestServer(t, { more: { oidc: optionsFor(issuer) } })
  const [jane, alice] = [api.as(await issuer.token({})), api.as(ALICE)]
  for (const one of [jane, alice]) t.teardown(() => one.close())
  t.equal((await jane.get('/version')).code, 401)
  t.equal((await alice.get('/version')).code, 200)
  t.equal((await api.get('/version')).code, 200)
})

t.test('an issuer that comes back is asked again, after a moment', async t => {
  const issuer = await startIssuer(t)
  let now = nowMs
  const authenticator = new OidcAuthenticator({ ...optionsFor(issuer), elapsed: () => now })
  issuer.down = true
  const token = await issuer.token({})
  await t.rejects(authenticator.authenticate({ token }), { message: 'Unauthorized' })
  await t.rejects(authenticator.authenticate({ token }), { message: 'Unauthorized' })
  t.equal(issuer.asked.length, 1, 'the second one did not trouble it')
  issuer.down = false
  now += 6000
  t.equal((await authenticator.authenticate({ token }))?.user.name, `${issuer.url}#jane`)
})

t.test('nor is one that has no keys to show troubled by each token', async t => {
  const issuer = await startIssuer(t)
  let now = nowMs
  const authenticator = new OidcAuthenticator({ ...optionsFor(issuer), elapsed: () => now })
  issuer.keyless = true
  for (let i = 0; i < 3; i++)
    await t.rejects(authenticator.authenticate({ token: await issuer.token({ jti: `j${i}` }) }))
  t.equal(issuer.asked.length, 2, 'for its document and once for its keys')
  issuer.keyless = false
  now += 5000
  t.match(await authenticator.authenticate({ token: await issuer.token({}) }), { user: { name: `${issuer.url}#jane` } })
  t.equal(issuer.asked.length, 3)
})

t.test('keys are remembered for ten minutes, whatever the time of day does meanwhile', async t => {
  const issuer = await startIssuer(t)
  const day = Date.now
  t.teardown(() => Object.assign(Date, { now: day }))
  let elapsed = 0
  const authenticator = new OidcAuthenticator({ ...optionsFor(issuer), elapsed: () => elapsed, clock: () => nowMs })
  const first = await issuer.token({ sub: 'a' })
  await authenticator.authenticate({ token: first })
  await issuer.rotate('k2')
  Object.assign(Date, { now: () => day() - 3_600_000 })
  elapsed = 11_000
  const second = await issuer.token({ sub: 'b' })
  t.match(await authenticator.authenticate({ token: second }), { user: {} }, 'a key that is not known is looked for')
  await issuer.rotate('k3')
  Object.assign(Date, { now: () => day() + 3_600_000 })
  t.match(await authenticator.authenticate({ token: second }), { user: {} }, 'a jump forward forgets nothing')
  elapsed += 600_000
  await t.rejects(authenticator.authenticate({ token: second }), { message: 'Unauthorized' }, 'what is gone ends')
  issuer.down = true
  elapsed += 600_000
  const third = await issuer.token({ sub: 'c' })
  t.match(await authenticator.authenticate({ token: third }), { user: {} }, 'an issuer that is away takes nothing back')
  elapsed += 3_600_000
  await t.rejects(authenticator.authenticate({ token: third }), { message: 'Unauthorized' }, 'for an hour')
})

t.test('keys are remembered', async t => {
  const issuer = await startIssuer(t)
  const authenticator = new OidcAuthenticator(optionsFor(issuer))
  for (const sub of ['a', 'b', 'c']) {
    t.equal(
      (await authenticator.authenticate({ token: await issuer.token({ sub }) }))?.user.name,
      `${issuer.url}#${sub}`,
    )
  }
  t.strictSame(issuer.asked, ['/.well-known/openid-configuration', '/keys'])
})

t.test('what a token must say', async t => {
  const issuer = await startIssuer(t)
  const authenticator = new OidcAuthenticator(
    optionsFor(issuer, { usernameClaim: 'email', requiredClaims: { hd: 'example.com' }, groupsClaim: 'groups' }),
  )
  const good = { email: 'j@example.com', hd: 'example.com' }
  const why = async (claims: Record<string, unknown>): Promise<string> => {
    const error = await authenticator.authenticate({ token: await issuer.token({ ...good, ...claims }) }).then(
      found => found?.user.name,
      (error: Error) => String((error.cause as Error).message),
    )
    return error ?? 'nobody'
  }
  t.equal(await why({}), 'j@example.com')
  t.match(await why({ aud: 'other' }), /oidc: expected audience "orrery"/)
  t.match(await why({ exp: Math.floor(nowMs / 1000) - 1 }), /token is expired/)
  t.match(await why({ nbf: Math.floor(nowMs / 1000) + 3600 }), /not valid yet/)
  t.match(await why({ email: undefined }), /could not get claim "email"/)
  t.match(await why({ email_verified: false }), /email not verified/)
  t.match(await why({ hd: 'evil.org' }), /required claim hd value does not match/)
  t.match(await why({ groups: [{}] }), /groups/)
  const foreign = await issuer.token(good)
  await issuer.rotate('k1')
  const untilMs = (Math.floor(nowMs / 1000) + 600) * 1000
  t.match(await authenticator.authenticate({ token: foreign }), { user: {}, untilMs }, 'known keys go on counting')
  t.match(await why({}), /signature verification failed/, 'a key of the same name is another key')
  t.equal(await authenticator.authenticate({ token: 'x.y.z' }), undefined, 'not for this issuer')
  const stranger = await issuer.token({ ...good, iss: 'https://else.example' })
  t.equal(await authenticator.authenticate({ token: stranger }), undefined)
  t.equal(await authenticator.authenticate({ token: foreign, audiences: ['vault'] }), undefined)
})

t.test('an issuer names nobody of the system: such a user is refused, such a group is left out', async t => {
  const issuer = await startIssuer(t)
  const options = { usernameClaim: 'email', groupsClaim: 'groups' }
  const authenticate = async (claims: Record<string, unknown>, more: Partial<OidcOptions> = {}) =>
    new OidcAuthenticator(optionsFor(issuer, { ...options, ...more })).authenticate({
      token: await issuer.token(claims),
    })
  const jane = await authenticate({ email: 'jane@example.com', groups: ['system:masters', 'dev', 'system:nodes'] })
  t.strictSame(jane?.user.groups, ['dev', 'system:authenticated'])
  for (const email of ['system:admin', 'system:serviceaccount:default:x', 'system:']) {
    const refused = authenticate({ email })
    await t.rejects(refused, { reason: 'Unauthorized', cause: /oidc: the user name ".*" begins with "system:"/ }, email)
  }
  const pieced = await authenticate({ email: 'j', groups: ['tem:masters'] }, { groupsPrefix: 'sys' })
  t.strictSame(pieced?.user.groups, ['system:authenticated'], 'not even in two pieces')
  const prefixed = await authenticate(
    { email: 'system:admin', groups: ['system:masters'] },
    { usernamePrefix: 'oidc:', groupsPrefix: 'oidc:' },
  )
  t.match(prefixed?.user, { name: 'oidc:system:admin', groups: ['oidc:system:masters', 'system:authenticated'] })
})

t.test('settings that cannot work are refused by name', async t => {
  const options = { issuerUrl: 'https://x', clientId: 'c' }
  t.throws(
    () =>
      new OidcAuthenticator({ clock: Date.now, elapsed: () => performance.now(), ...options, issuerUrl: 'http://x' }),
    /--oidc-issuer-url/,
  )
  t.throws(
    () => new OidcAuthenticator({ clock: Date.now, elapsed: () => performance.now(), ...options, clientId: '' }),
    /--oidc-client-id/,
  )
  t.throws(
    () =>
      new OidcAuthenticator({
        clock: Date.now,
        elapsed: () => performance.now(),
        ...options,
        signingAlgorithms: ['HS256'],
      }),
    /--oidc-signing-algs/,
  )
  t.throws(
    () =>
      new OidcAuthenticator({
        clock: Date.now,
        elapsed: () => performance.now(),
        ...options,
        usernamePrefix: 'system:x',
      }),
    /--oidc-username-prefix/,
  )
  t.throws(
    () =>
      new OidcAuthenticator({ clock: Date.now, elapsed: () => performance.now(), ...options, groupsPrefix: 'system:' }),
    /--oidc-groups-prefix/,
  )
})
