import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { ServiceAccountAuthenticator } from '../../../src/apiserver/auth/serviceAccountAuthenticator.ts'
import { TokenIssuer } from '../../../src/apiserver/auth/serviceAccountTokens.ts'
import { tokenRequest } from '../../../src/apiserver/auth/tokenRequest.ts'
import { newKeyPem } from '../../../src/apiserver/pki/issue.ts'

const clock = () => Date.parse('2030-01-01T00:00:00.500Z')
const issuer = new TokenIssuer({ signingKeyPem: await newKeyPem(), clock })
const object = (kind: string, name: string, spec: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'ns', uid: `${name}-uid` },
  spec,
})
const account = object('ServiceAccount', 'sa')
const objects: Record<string, KubeObject> = {
  'serviceaccounts/ns/sa': account,
  'secrets/ns/sec': object('Secret', 'sec'),
  'pods/ns/pod': object('Pod', 'pod', { serviceAccountName: 'sa', nodeName: 'n' }),
  'pods/ns/other': object('Pod', 'other', { serviceAccountName: 'default' }),
  'nodes//n': object('Node', 'n'),
}
const context = {
  space: 's1',
  issuer,
  clock,
  getObject: async (_space: string, _group: string, ...path: string[]) => objects[path.join('/')],
}
const request = (spec: object, metadata: object = {}, more: object = {}) =>
  tokenRequest(
    account,
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec },
    { ...context, ...more },
  )
const claims = (answer: KubeObject) => {
  const { token } = answer.status as { token: string }
  return JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
}

t.test('without wishes: an hour, for the API server', async t => {
  const answer = await request({})
  t.same(answer.spec, {
    audiences: ['https://kubernetes.default.svc'],
    expirationSeconds: 3600,
    boundObjectRef: null,
  })
  t.match(answer.metadata, { name: 'sa', namespace: 'ns', creationTimestamp: '2030-01-01T00:00:00Z' })
  t.match(answer.status, { expirationTimestamp: '2030-01-01T01:00:00Z' })
  const authenticator = new ServiceAccountAuthenticator({ ...context })
  const { token } = answer.status as { token: string }
  t.equal((await authenticator.authenticate({ token }))?.space, 's1')
})

t.test('wishes', async t => {
  const long = 315_360_000
  const asked = await request({ audiences: ['vault'], expirationSeconds: long }, {}, { maxExpirationSeconds: long })
  t.equal(claims(asked).exp - claims(asked).iat, long)
  t.same(claims(asked).aud, ['vault'])
  const capped = await request({ expirationSeconds: 315_360_000 }, {}, { maxExpirationSeconds: 7200 })
  t.match(capped, { spec: { expirationSeconds: 7200 }, status: { expirationTimestamp: '2030-01-01T02:00:00Z' } })
})

t.test('bound to a Pod on a node', async t => {
  const answer = await request({
    expirationSeconds: 3607,
    boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'pod' },
  })
  const { exp, iat, 'kubernetes.io': kubernetes } = claims(answer)
  t.match(kubernetes, {
    pod: { name: 'pod', uid: 'pod-uid' },
    node: { name: 'n', uid: 'n-uid' },
    warnafter: iat + 3607,
  })
  t.equal(exp - iat, 365 * 24 * 3600, 'Pods that never reload their token keep working for a year')
  t.match(answer.status, { expirationTimestamp: '2030-01-01T01:00:07Z' })
})

t.test('what is refused', async t => {
  const bound = (ref: object) => request({ boundObjectRef: { apiVersion: 'v1', ...ref } })
  await t.rejects(request({ expirationSeconds: 60 }), {
    message:
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: ' +
      'may not specify a duration less than 10 minutes',
  })
  await t.rejects(request({ expirationSeconds: 2 ** 32 + 1 }), { message: /larger than 2\^32 seconds/ })
  await t.rejects(bound({ kind: 'ConfigMap', name: 'x' }), {
    message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
  })
  await t.rejects(bound({ kind: 'Pod', name: 'x' }), { message: 'pods "x" not found' })
  await t.rejects(bound({ kind: 'Secret', name: 'sec', uid: 'u' }), {
    message:
      'Operation cannot be fulfilled on Secret "sec": the UID in the bound object reference (u) does not match the UID ' +
      'in record. The object might have been deleted and then recreated',
  })
  await t.rejects(bound({ kind: 'Pod', name: 'other' }), { message: /different serviceaccount name/ })
  await t.rejects(request({}, { name: 'zz' }), { message: /does not match the name on the URL/ })
})
