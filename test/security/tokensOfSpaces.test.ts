/** Accounts of two teams have one name: who verifies tokens by keys and issuer must not take one for the other. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose'
import t from 'tap'
import { TokenIssuer } from '../../src/apiserver/auth/serviceAccountTokens.ts'
import type { Api } from '../support/api.ts'
import { createSpace, startTestServer } from '../support/server.ts'

const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'
const PLAIN = 'https://kubernetes.default.svc'

const { api, server, dataDir } = await startTestServer(t)
const spaces = { alice: await createSpace(api, 'alice'), bob: await createSpace(api, 'bob') }
const alice = api.in(spaces.alice)
const bob = api.in('root:bob')
const uids = new Map<Api, string>()
for (const each of [api, alice, bob]) {
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'app' } }
  uids.set(each, (await each.ok(each.post(ACCOUNTS, account))).metadata.uid!)
}

async function tokenOf(space: Api, spec: object = {}): Promise<string> {
  const { status } = await space.ok(space.post(`${ACCOUNTS}/app/token`, { spec }))
  return (status as { token: string }).token
}

/** Somebody outside who trusts one space: its discovery document is all that they know. */
async function verifierOf(space: Api): Promise<(token: string) => Promise<unknown>> {
  const { issuer, jwks_uri: uri } = (await space.ok(space.get('/.well-known/openid-configuration'))) as unknown as {
    issuer: string
    jwks_uri: string
  }
  t.ok(uri.startsWith(server.url), 'the keys are where one can reach them')
  const keys = (await api.ok(api.get(uri.slice(server.url.length)))) as unknown as JSONWebKeySet
  return token => jwtVerify(token, createLocalJWKSet(keys), { issuer, audience: 'vault' })
}

async function review(space: Api, token: string): Promise<unknown> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
  return (await space.ok(space.post('/apis/authentication.k8s.io/v1/tokenreviews', body))).status
}

t.test("a verifier that trusts one space's issuer takes no other's token for it", async t => {
  const wanted = { audiences: ['vault'] }
  const tokens = await Promise.all([api, alice, bob].map(space => tokenOf(space, wanted)))
  for (const [i, space] of [api, alice, bob].entries()) {
    const verify = await verifierOf(space)
    for (const [j, token] of tokens.entries()) {
      if (i === j) t.match(await verify(token), { payload: { sub: 'system:serviceaccount:default:app' } })
      else await t.rejects(verify(token), { code: 'ERR_JWT_CLAIM_VALIDATION_FAILED', claim: 'iss' })
    }
  }
})

t.test("an issuer is named by its space's id, and serves what it is; the root keeps its name", async t => {
  t.equal(decodeJwt(await tokenOf(api)).iss, PLAIN)
  for (const [space, id] of [
    [alice, spaces.alice],
    [bob, spaces.bob],
  ] as const) {
    const issuer = `${server.url}/clusters/${id}`
    t.match(decodeJwt(await tokenOf(space)), { iss: issuer, aud: [PLAIN] })
    t.match((await api.get(`/clusters/${id}/.well-known/openid-configuration`)).body, {
      issuer,
      jwks_uri: `${issuer}/openid/v1/jwks`,
    })
  }
})

t.test('tokens of earlier releases, and of another URL of the server, are good until they end', async t => {
  const signingKeyPem = readFileSync(join(dataDir, 'pki', 'sa.key'), 'utf8')
  const spec = {
    space: spaces.alice,
    serviceAccount: { namespace: 'default', name: 'app', uid: uids.get(alice)! },
    expirationSeconds: 600,
  }
  const plain = await new TokenIssuer({ clock: Date.now, signingKeyPem, rootSpace: spaces.alice }).issue(spec)
  t.equal(decodeJwt(plain).iss, PLAIN)
  const moved = await new TokenIssuer({
    clock: Date.now,
    signingKeyPem,
    url: () => 'https://former.example:6443',
  }).issue(spec)
  for (const token of [plain, moved, await tokenOf(alice)]) {
    t.match(await review(alice, token), { authenticated: true, audiences: [PLAIN] })
    t.match(await review(bob, token), { error: /belongs to another space/ })
  }
})
