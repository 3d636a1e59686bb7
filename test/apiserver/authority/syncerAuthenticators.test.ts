/** A bootstrap credential and a renewal credential end with their Secret, at the end that is signed, and with another of its name. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { TokenIssuer } from '../../../src/apiserver/auth/serviceAccountTokens.ts'
import { syncerAuthenticators } from '../../../src/apiserver/authority/syncerAuthenticators.ts'
import { newKeyPem } from '../../../src/apiserver/pki/issue.ts'
import { BOOTSTRAP_AUDIENCE, BOOTSTRAP_TYPE } from '../../../src/placement/spaces/syncerBootstrap.ts'
import {
  CREDENTIAL_TYPE,
  EXPIRES_ANNOTATION,
  RENEWAL_AUDIENCE,
} from '../../../src/placement/spaces/syncerCredential.ts'

const BEGIN = Date.parse('2030-01-01T00:00:00Z')
const ENDS = { [EXPIRES_ANNOTATION]: '2030-01-01T01:00:00Z' }
let nowMs = BEGIN
const clock = () => nowMs
const issuer = new TokenIssuer({ signingKeyPem: await newKeyPem(), clock })
const stored = new Map<string, KubeObject>()
const put = (kind: string, uid: string, rest: object = {}) =>
  stored.set(kind, { apiVersion: 'v1', kind, metadata: { name: 'one', uid, annotations: ENDS }, ...rest })
const [renewal, bootstrap] = syncerAuthenticators({
  issuer,
  getObject: (_space, _group, resource) => stored.get(resource),
  clock,
})
const account = { namespace: 'default', name: 'syncer', uid: 'a-1' }
const credential = (audience: string) =>
  issuer.issueRenewal({
    ...{ audience, space: 'root', account, secret: { name: 'one', uid: 's-1' }, expirationSeconds: 3600 },
    more: { inventory: 'root:imw', approves: 'listed' },
  })
const why = (message: RegExp) => ({ reason: 'Unauthorized', message })

t.test('a bootstrap credential', async t => {
  const token = await credential(BOOTSTRAP_AUDIENCE)
  t.equal(await renewal!.authenticate({ token }), undefined, 'it is none of the other kind')
  put('secrets', 's-1', { type: BOOTSTRAP_TYPE })
  t.match(await bootstrap!.authenticate({ token }), { user: { groups: [] }, space: 'root', untilMs: BEGIN + 3_600_000 })
  await t.rejects(async () => bootstrap!.authenticate({ token, audiences: ['x'] }), why(/./))
  put('secrets', 's-1', { type: CREDENTIAL_TYPE })
  await t.rejects(async () => bootstrap!.authenticate({ token }), why(/was revoked; make another one/))
  put('secrets', 's-2', { type: BOOTSTRAP_TYPE })
  await t.rejects(async () => bootstrap!.authenticate({ token }), why(/was revoked/), 'another Secret of its name')
  put('secrets', 's-1', { type: BOOTSTRAP_TYPE })
  nowMs += 3_600_000
  await t.rejects(async () => bootstrap!.authenticate({ token }), why(/expired at 2030-01-01T01:00:00.000Z/))
  nowMs = BEGIN
})

t.test('a renewal credential', async t => {
  const token = await credential(RENEWAL_AUDIENCE)
  t.equal(await bootstrap!.authenticate({ token }), undefined, 'it is none of the other kind')
  put('serviceaccounts', 'a-1')
  put('secrets', 's-1', { type: CREDENTIAL_TYPE })
  t.match(await renewal!.authenticate({ token }), { user: { uid: 'a-1', groups: [] }, space: 'root' })
  await t.rejects(async () => renewal!.authenticate({ token, audiences: ['x'] }), why(/./))
  put('secrets', 's-1', { type: BOOTSTRAP_TYPE })
  await t.rejects(async () => renewal!.authenticate({ token }), why(/was revoked, or replaced/))
  put('secrets', 's-2', { type: CREDENTIAL_TYPE })
  await t.rejects(async () => renewal!.authenticate({ token }), why(/was revoked, or replaced/))
  put('secrets', 's-1', { type: CREDENTIAL_TYPE })
  put('serviceaccounts', 'a-2')
  await t.rejects(async () => renewal!.authenticate({ token }), why(/was revoked, or replaced/))
  put('serviceaccounts', 'a-1')
  nowMs += 3_600_000
  await t.rejects(async () => renewal!.authenticate({ token }), why(/went unused until it expired/))
})
