import { createPrivateKey } from 'node:crypto'
import { decodeJwt, SignJWT } from 'jose'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { ServiceAccountAuthenticator } from '../../../src/apiserver/auth/serviceAccountAuthenticator.ts'
import { TokenIssuer } from '../../../src/apiserver/auth/serviceAccountTokens.ts'
import { newKeyPem } from '../../../src/apiserver/pki/issue.ts'

const signingKeyPem = await newKeyPem()
const START_MS = Date.parse('2030-01-01T00:00:00Z')
const object = (name: string, uid: string, more: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { name, uid },
  ...more,
})

function setup(options: { signingKeyPem?: string; rootSpace?: string } = {}) {
  const world = { now: START_MS, objects: new Map<string, KubeObject>() }
  const clock = () => world.now
  world.objects.set('s1//serviceaccounts/ns/sa', object('sa', 'u1'))
  world.objects.set('s1//pods/ns/pod', object('pod', 'p1'))
  world.objects.set('s1//nodes//n', object('n', 'n1'))
  const issuer = new TokenIssuer({
    signingKeyPem,
    clock,
    randomUuid: () => 'jti-1',
    url: () => 'https://server:1',
    ...options,
  })
  const authenticator = new ServiceAccountAuthenticator({
    issuer,
    clock,
    getObject: (...path) => world.objects.get(path.join('/')),
  })
  return { world, issuer, authenticator }
}
const account = { namespace: 'ns', name: 'sa', uid: 'u1' }
const plain = { space: 's1', serviceAccount: account, expirationSeconds: 600 }
const refusal = (why: RegExp) => ({ reason: 'Unauthorized', message: 'Unauthorized', cause: { message: why } })

t.test('a token says who, where and in which groups', async t => {
  const { issuer, authenticator } = setup()
  const found = await authenticator.authenticate({ token: await issuer.issue(plain) })
  t.same(found, {
    user: {
      name: 'system:serviceaccount:ns:sa',
      uid: 'u1',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
      extra: {
        'authentication.kubernetes.io/credential-id': ['JTI=jti-1'],
        'authentication.kubernetes.io/cluster-name': ['s1'],
      },
    },
    space: 's1',
    audiences: ['https://kubernetes.default.svc'],
    untilMs: START_MS + 600_000,
  })
})

t.test('claims are those of Kubernetes', async t => {
  const { issuer } = setup()
  const token = await issuer.issue({ ...plain, bound: { kind: 'Pod', name: 'pod', uid: 'p1' }, warnAfterSeconds: 7 })
  const [header, payload] = token.split('.').map(part => Buffer.from(part, 'base64url').toString())
  const seconds = START_MS / 1000
  t.same(JSON.parse(payload!.replace(/[^}]*$/, '')), {
    aud: ['https://kubernetes.default.svc'],
    exp: seconds + 600,
    iat: seconds,
    iss: 'https://server:1/clusters/s1',
    jti: 'jti-1',
    'kubernetes.io': {
      namespace: 'ns',
      serviceaccount: { name: 'sa', uid: 'u1' },
      pod: { name: 'pod', uid: 'p1' },
      warnafter: seconds + 7,
      clusterName: 's1',
    },
    nbf: seconds,
    sub: 'system:serviceaccount:ns:sa',
  })
  t.match(JSON.parse(header!), { alg: 'ES256', kid: issuer.jwks().keys[0]?.kid })
  t.notOk(JSON.stringify(issuer.jwks()).includes('"d"'), 'the key set holds no private part')
})

t.test('a token ends with its time, its account and its Pod', async t => {
  const { world, issuer, authenticator } = setup()
  const token = await issuer.issue({ ...plain, bound: { kind: 'Pod', name: 'pod', uid: 'p1' } })
  const found = await authenticator.authenticate({ token })
  t.match(found?.user.extra, { 'authentication.kubernetes.io/pod-name': ['pod'] })
  t.equal(found?.untilMs, START_MS + 600_000)

  const pod = world.objects.get('s1//pods/ns/pod')!
  pod.metadata.deletionTimestamp = new Date(START_MS + 30_000).toISOString()
  const ending = await authenticator.authenticate({ token })
  t.equal(ending?.untilMs, START_MS + 30_000, 'a Pod may use it while it shuts down')
  world.now += 30_000
  await t.rejects(async () => authenticator.authenticate({ token }), refusal(/pods "pod" has been deleted/))
  world.objects.set('s1//pods/ns/pod', object('pod', 'p2'))
  await t.rejects(async () => authenticator.authenticate({ token }), refusal(/pods "pod" is not the one/))
  world.objects.delete('s1//pods/ns/pod')
  await t.rejects(async () => authenticator.authenticate({ token }), refusal(/pods "pod" not found/))

  const unbound = await issuer.issue(plain)
  world.objects.set('s1//serviceaccounts/ns/sa', object('sa', 'u2'))
  await t.rejects(async () => authenticator.authenticate({ token: unbound }), refusal(/is not the one/))
  world.objects.set('s1//serviceaccounts/ns/sa', object('sa', 'u1'))
  world.now += 600_000
  await t.rejects(async () => authenticator.authenticate({ token: unbound }), refusal(/has expired/))
})

t.test('an account of the same name and uid in another space is not meant', async t => {
  const { world, issuer, authenticator } = setup()
  world.objects.set('s2//serviceaccounts/ns/sa', object('sa', 'u9'))
  const token = await issuer.issue({ ...plain, space: 's2' })
  await t.rejects(async () => authenticator.authenticate({ token }), refusal(/is not the one/))
})

t.test('a token is good for its audiences only', async t => {
  const { issuer, authenticator } = setup()
  const token = await issuer.issue({ ...plain, audiences: ['vault', 'git'] })
  await t.rejects(
    async () => authenticator.authenticate({ token }),
    refusal(/audiences "vault git" is invalid for the target/),
  )
  const found = await authenticator.authenticate({ token, audiences: ['git', 'x'] })
  t.same(found?.audiences, ['git'])
})

t.test('node-bound tokens end with the node', async t => {
  const { world, issuer, authenticator } = setup()
  const token = await issuer.issue({ ...plain, bound: { kind: 'Node', name: 'n', uid: 'n1' } })
  t.match((await authenticator.authenticate({ token }))?.user.extra, {
    'authentication.kubernetes.io/node-name': ['n'],
    'authentication.kubernetes.io/node-uid': ['n1'],
  })
  world.objects.delete('s1//nodes//n')
  await t.rejects(async () => authenticator.authenticate({ token }), refusal(/nodes "n" not found/))
})

t.test('a Secret token lives as long as its Secret holds it', async t => {
  const { world, issuer, authenticator } = setup()
  const token = await issuer.issueForSecret('s1', account, 'sa-token')
  await t.rejects(async () => authenticator.authenticate({ token }), refusal(/secrets "sa-token" not found/))
  const data = { token: Buffer.from(token).toString('base64') }
  world.objects.set('s1//secrets/ns/sa-token', object('sa-token', 'x', { data }))
  world.now += 20 * 365 * 86_400_000
  t.equal((await authenticator.authenticate({ token }))?.space, 's1')
  data.token = btoa('another')
  await t.rejects(async () => authenticator.authenticate({ token }), refusal(/has been invalidated/))
  const issuers = ['s1', 'root'].map(async space => decodeJwt(await issuer.issueForSecret(space, account, 's')).iss)
  t.same(await Promise.all(issuers), ['kubernetes/serviceaccount/clusters/s1', 'kubernetes/serviceaccount'])
})

t.test('forged and altered tokens are refused', async t => {
  const { issuer, authenticator } = setup()
  const stranger = setup({ signingKeyPem: await newKeyPem(), rootSpace: 's1' })
  await t.rejects(
    async () => authenticator.authenticate({ token: await stranger.issuer.issue(plain) }),
    refusal(/unknown key/),
  )

  const [header, , signature] = (await issuer.issue(plain)).split('.')
  const claims = { iss: 'https://kubernetes.default.svc', sub: 'system:serviceaccount:kube-system:root' }
  const altered = [header, Buffer.from(JSON.stringify(claims)).toString('base64url'), signature].join('.')
  await t.rejects(async () => authenticator.authenticate({ token: altered }), refusal(/signature verification failed/))

  const none = [btoa('{"alg":"none"}'), Buffer.from(JSON.stringify(claims)).toString('base64url'), ''].join('.')
  await t.rejects(async () => authenticator.authenticate({ token: none }), { message: 'Unauthorized' })

  const kid = String(issuer.jwks().keys[0]?.kid)
  const mismatched = await new SignJWT({ ...claims, exp: 9e9, aud: claims.iss })
    .setProtectedHeader({ alg: 'ES256', kid })
    .sign(createPrivateKey(signingKeyPem))
  await t.rejects(async () => authenticator.authenticate({ token: mismatched }), refusal(/lacks Kubernetes claims/))
})

t.test('an issuer speaks for its own space only', async t => {
  const { authenticator, issuer } = setup()
  const kid = String(issuer.jwks().keys[0]?.kid)
  const sign = (claims: object): Promise<string> =>
    new SignJWT({ ...claims, exp: START_MS / 1000 + 600, aud: 'https://kubernetes.default.svc' })
      .setSubject('system:serviceaccount:ns:sa')
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(createPrivateKey(signingKeyPem))
  const claim = { namespace: 'ns', serviceaccount: { name: 'sa', uid: 'u1' }, clusterName: 's1' }
  const bound = (iss: string): Promise<string> => sign({ iss, 'kubernetes.io': claim })
  for (const iss of ['https://kubernetes.default.svc', 'https://former:2/clusters/s1']) {
    t.match(await authenticator.authenticate({ token: await bound(iss) }), { space: 's1' }, iss)
  }
  for (const iss of ['https://server:1/clusters/s2', 'https://server:1/clusters/s1/x', 'https://server:1/clusters/']) {
    await t.rejects(
      async () => authenticator.authenticate({ token: await bound(iss) }),
      refusal(/issuer is another space/),
      iss,
    )
  }
  t.equal(await authenticator.authenticate({ token: await bound('https://server:1') }), undefined)
  const abroad = setup({ signingKeyPem: await newKeyPem() }).issuer
  t.equal(
    await authenticator.authenticate({ token: await abroad.issue(plain) }),
    undefined,
    'a server of the same sort',
  )
})

t.test('tokens of others are left to others', async t => {
  const { authenticator } = setup()
  const foreign = ['e30', btoa('{"iss":"https://login.example"}'), 'x'].join('.')
  for (const token of ['opaque', 'a.b.c', foreign]) t.equal(await authenticator.authenticate({ token }), undefined)
  t.equal(await authenticator.authenticate({}), undefined)
})

t.test('a signature that was good is not worked out again, and all else is looked at each time', async t => {
  const { world, issuer, authenticator } = setup()
  const token = await issuer.issue(plain)
  const [header, payload, signature] = token.split('.') as [string, string, string]
  t.ok(await authenticator.authenticate({ token }))
  const other = Buffer.from(signature, 'base64url')
  other[10]! ^= 1
  const forged = [header, payload, other.toString('base64url')].join('.')
  await t.rejects(async () => authenticator.authenticate({ token: forged }), { message: 'Unauthorized' })
  const claims = { ...decodeJwt(token), sub: 'system:serviceaccount:ns:admin' }
  const body = Buffer.from(JSON.stringify(claims)).toString('base64url')
  await t.rejects(async () => authenticator.authenticate({ token: [header, body, signature].join('.') }), {
    message: 'Unauthorized',
  })
  world.objects.delete('s1//serviceaccounts/ns/sa')
  await t.rejects(async () => authenticator.authenticate({ token }), { message: 'Unauthorized' })
  world.objects.set('s1//serviceaccounts/ns/sa', object('sa', 'u1'))
  t.ok(await authenticator.authenticate({ token }))
  world.now += 601_000
  await t.rejects(async () => authenticator.authenticate({ token }), { message: 'Unauthorized' })
})

t.test('who shows a token again whose signature was good is known at once, or refused at once', async t => {
  const { world, issuer, authenticator } = setup()
  const pod = { kind: 'Pod' as const, name: 'pod', uid: 'p1' }
  for (const options of [plain, { ...plain, bound: pod }]) {
    const token = await issuer.issue(options)
    const first = authenticator.authenticate({ token })
    t.type(first, Promise)
    const found = await first
    t.same(authenticator.authenticate({ token }), found)
    world.objects.delete('s1//serviceaccounts/ns/sa')
    t.throws(() => authenticator.authenticate({ token }), refusal(/not found/))
    world.objects.set('s1//serviceaccounts/ns/sa', object('sa', 'u1'))
  }
})
