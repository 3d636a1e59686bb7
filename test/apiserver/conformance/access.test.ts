/** Identities and access: ServiceAccounts and their tokens, reviews, certificates. */
import 'reflect-metadata'
import { webcrypto } from 'node:crypto'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { goes, pod, reaches, startCluster } from './cluster.ts'
import { annotate, edit, playRound } from './operations.ts'

const { api, namespace, faults } = await startCluster(t)
const path = await namespace('access')
const accounts = `${path}/serviceaccounts`
const account = (name: string, more: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name },
  ...more,
})

// ServiceAccounts should guarantee kube-root-ca.crt exist in any namespace
t.test('kube-root-ca.crt is there, comes back, and is mended', async t => {
  const bundle = `${path}/configmaps/kube-root-ca.crt`
  const certificate = ({ data }: KubeObject): string => (data as Record<string, string>)['ca.crt'] ?? ''
  const first = await reaches(api, bundle)
  t.match(certificate(first), /BEGIN CERTIFICATE/)
  await api.ok(api.delete(bundle))
  const second = await reaches(api, bundle, ({ metadata }) => metadata.uid !== first.metadata.uid)
  t.equal(certificate(second), certificate(first))
  await api.ok(api.patch(bundle, 'merge', { data: { 'ca.crt': '' } }))
  await reaches(api, bundle, object => certificate(object) === certificate(first))
})

// ServiceAccounts should run through the lifecycle of a ServiceAccount; should update a ServiceAccount
t.test('the default account comes back when it is deleted', async t => {
  await api.ok(api.delete(`${accounts}/default`))
  await reaches(api, `${accounts}/default`)
  await edit(api, `${accounts}/default`, object => annotate(object, 'updated'))
  t.equal((await api.ok(api.get(`${accounts}/default`))).metadata.annotations?.updated, 'true')
})

// ServiceAccounts should mount projected service account token; ServiceAccountIssuerDiscovery should support OIDC discovery
t.test('a requested token is bound to its Pod, lets in, and can be verified with the published keys', async t => {
  await api.ok(api.post(accounts, account('bound')))
  const { metadata } = await api.ok(api.post(`${path}/pods`, pod('holder', { serviceAccountName: 'bound' })))
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'holder', uid: metadata.uid }
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { boundObjectRef } }
  const answer = await api.ok(api.post(`${accounts}/bound/token`, request))
  const { token } = answer.status as { token: string }
  const review = async (): Promise<{ authenticated?: boolean; user?: { username: string } }> => {
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } }
    return (await api.ok(api.post('/apis/authentication.k8s.io/v1/tokenreviews', body))).status as object
  }
  t.match(await review(), { authenticated: true, user: { username: 'system:serviceaccount:access:bound' } })
  const discovery = (await api.ok(api.get('/.well-known/openid-configuration'))) as unknown as Record<string, string>
  const keys = (await api.ok(api.get('/openid/v1/jwks'))) as unknown as JSONWebKeySet
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), { issuer: discovery.issuer! })
  t.equal(payload.sub, 'system:serviceaccount:access:bound')
  t.match(payload['kubernetes.io'], { namespace: 'access', pod: { name: 'holder' }, serviceaccount: { name: 'bound' } })
  const self = (await api.as(token).post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  })) as { code: number; body: { status?: unknown } }
  t.match(self, { code: 201, body: { status: { userInfo: { username: 'system:serviceaccount:access:bound' } } } })
  await api.ok(api.delete(`${path}/pods/holder?gracePeriodSeconds=0`))
  await goes(api, `${path}/pods/holder`)
  t.notOk((await review()).authenticated, 'the token ends with its Pod')
})

// SubjectReview should support SubjectReview API operations
t.test('what a review says is what the account may do', async t => {
  await api.ok(api.post(accounts, account('reviewed')))
  const user = 'system:serviceaccount:access:reviewed'
  const resourceAttributes = { verb: 'list', resource: 'configmaps', namespace: 'access', version: 'v1' }
  const spec = { user, groups: ['system:authenticated', 'system:serviceaccounts'], resourceAttributes }
  const reviews = { apiVersion: 'authorization.k8s.io/v1', spec }
  const allowed = async (): Promise<unknown[]> => {
    const wide = { ...reviews, kind: 'SubjectAccessReview' }
    const local = { ...reviews, kind: 'LocalSubjectAccessReview', metadata: { namespace: 'access' } }
    const answers = await Promise.all([
      api.ok(api.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', wide)),
      api.ok(api.post('/apis/authorization.k8s.io/v1/namespaces/access/localsubjectaccessreviews', local)),
    ])
    const headers = { 'Impersonate-User': user }
    const { code } = await api.get(`${path}/configmaps`, headers)
    return [...answers.map(({ status }) => (status as { allowed: boolean }).allowed), code === 200]
  }
  t.same(await allowed(), [false, false, false])
  await api.ok(
    api.post('/apis/rbac.authorization.k8s.io/v1/namespaces/access/rolebindings', {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'reviewed' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'reviewed', namespace: 'access' }],
    }),
  )
  t.same(await allowed(), [true, true, true])
})

async function certificateRequest(): Promise<string> {
  const alg = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(alg, true, ['sign', 'verify'])
  const csr = await Pkcs10CertificateRequestGenerator.create({ name: 'CN=e2e', keys, signingAlgorithm: alg })
  return Buffer.from(csr.toString('pem')).toString('base64')
}

// Certificates API should support CSR API operations
t.test('certificate requests: the round, approval and status', async t => {
  const request = await certificateRequest()
  const kind = 'CertificateSigningRequest'
  const spec = { request, signerName: 'e2e-example.com/signer', usages: ['digital signature', 'key encipherment'] }
  const condition = (type: string): object => ({ type, status: 'True', reason: 'E2E', message: 'Set from an e2e test' })
  await playRound(t, api, {
    group: 'certificates.k8s.io',
    kind,
    resource: 'certificatesigningrequests',
    body: () => ({ spec }),
    status: { conditions: [condition('Failed')] },
    subresources: ['approval'],
  })
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const metadata = { name: 'approved' }
  await api.ok(api.post(requests, { apiVersion: 'certificates.k8s.io/v1', kind, metadata, spec }))
  const at = `${requests}/approved/approval`
  const approve = {
    metadata: { annotations: { patchedapproval: 'true' } },
    status: { conditions: [condition('Approved')] },
  }
  t.match(await api.ok(api.patch(at, 'merge', approve)), approve)
  const read = await api.ok(api.get(at))
  t.match(read.status, { conditions: [{ type: 'Approved' }] })
  const { conditions } = read.status as { conditions: object[] }
  const put = await api.ok(api.put(at, { ...read, status: { conditions: [...conditions, condition('Other')] } }))
  t.match(put.status, { conditions: [{ type: 'Approved' }, { type: 'Other' }] })
  const denied = { status: { conditions: [...conditions, condition('Denied')] } }
  t.equal((await api.patch(at, 'merge', denied)).code, 422, 'what is approved is not denied any more')
})

// Certificates API should support building a client with a CSR
t.test('an approved request of the API server itself is signed', async () => {
  const spec = {
    request: await certificateRequest(),
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  }
  const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
  const object = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'client' },
    spec,
  }
  await api.ok(api.post(requests, object))
  const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'E2E', message: 'yes' }] } }
  await api.ok(api.patch(`${requests}/client/approval`, 'merge', approved))
  await reaches(api, `${requests}/client`, ({ status }) => 'certificate' in (status as object))
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
