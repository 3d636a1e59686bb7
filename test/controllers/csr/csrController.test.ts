/** Certificates on request: from a CertificateSigningRequest through its approval to a client that is let in, in its space only. */
import 'reflect-metadata'
import { webcrypto, X509Certificate } from 'node:crypto'
import { Pkcs10CertificateRequestGenerator } from '@peculiar/x509'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { csrController } from '../../../src/controllers/csr/csrController.ts'
import { EVERYTHING_ACTS } from '../../../src/placement/spaces/nature.ts'
import { Api } from '../../support/api.ts'
import { ALICE, BOB, createSpace, startTestServer, type TestServer } from '../../support/server.ts'
import { realTime } from '../../support/time.ts'

const CSRS = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const CLIENT = 'kubernetes.io/kube-apiserver-client'
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

interface Key {
  request: string
  keyPem: string
}

async function keyFor(name: Record<string, string[]>[]): Promise<Key> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ['sign', 'verify'])
  const request = await Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: EC })
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64')
  return {
    request: Buffer.from(request.toString('pem')).toString('base64'),
    keyPem: `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`,
  }
}

function csr(name: string, request: string, spec: object = {}): object {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: { request, signerName: CLIENT, usages: ['client auth'], ...spec },
  }
}

async function start(t: Test): Promise<TestServer> {
  const started = await startTestServer(t)
  const { server } = started
  const controller = csrController({
    ...realTime(),
    nature: EVERYTHING_ACTS,
    client: embeddedClient({ services: server.services, store: server.store, tree: server.tree, component: 'csr' }),
    sign: order => server.certificates.sign(order),
    logger: silentLogger,
  })
  controller.start()
  t.teardown(() => controller.stop())
  return started
}

/** As `kubectl certificate approve` does it. */
function approve(api: Api, made: KubeObject, type = 'Approved'): ReturnType<Api['put']> {
  const condition = { type, status: 'True', reason: 'Test', message: 'by the test' }
  return api.put(`${CSRS}/${made.metadata.name}/approval`, { ...made, status: { conditions: [condition] } })
}

interface Status {
  certificate?: string
  conditions: Record<string, string>[]
}

/** Outcome of an approved request. */
async function outcome(api: Api, made: KubeObject): Promise<Status> {
  await api.ok(approve(api, made))
  const watch = await api.watch(`${CSRS}?watch=1&fieldSelector=metadata.name=${made.metadata.name}`)
  const events = await watch.until(({ object }) => {
    const { certificate, conditions = [] } = (object.status ?? {}) as Status
    return certificate !== undefined || conditions.some(({ type }) => type === 'Failed')
  })
  watch.close()
  return events.at(-1)!.object.status as Status
}

function holder(api: Api, status: Status, key: Key, space = ''): Api {
  const cert = Buffer.from(status.certificate ?? '', 'base64').toString()
  return new Api({ url: api.access.url, ca: api.access.ca!, cert, key: key.keyPem }, space && `/clusters/${space}`)
}

function grant(name: string, subject: { kind: string; name: string }): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', ...subject }],
  }
}

t.test('an approved request becomes a certificate that authenticates in its space, and nowhere else', async t => {
  const { api, faults } = await start(t)
  const [here, there] = await Promise.all([createSpace(api, 'here'), createSpace(api, 'there')])
  const key = await keyFor([{ O: ['devs'] }, { CN: ['carol'] }])
  for (const space of [here, there]) {
    await api.ok(api.in(space).post(`${RBAC}/clusterrolebindings`, grant('carol', { kind: 'User', name: 'carol' })))
  }
  const made = await api.ok(api.in(here).post(CSRS, csr('carol', key.request, { expirationSeconds: 3600 })))
  const status = await outcome(api.in(here), made)
  const certificate = new X509Certificate(Buffer.from(status.certificate!, 'base64'))
  const leftSeconds = (certificate.validToDate.getTime() - Date.now()) / 1000
  t.ok(leftSeconds <= 3600 && leftSeconds > 3500, 'as long as asked for')
  t.match(status.conditions[0], { lastUpdateTime: /^\d{4}-.*Z$/, lastTransitionTime: /^\d{4}-.*Z$/ })

  const carol = holder(api, status, key, here)
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const who = await api.ok(carol.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', review))
  t.match(who.status, { userInfo: { username: 'carol', groups: ['devs', 'system:authenticated'] } })
  t.equal((await carol.get('/api/v1/namespaces')).code, 200, 'a member of the space')
  const unprefixed = holder(api, status, key)
  t.equal((await unprefixed.get('/api/v1/namespaces/default')).body.metadata.annotations?.['kcp.io/cluster'], here)
  const elsewhere = holder(api, status, key, there)
  t.equal((await elsewhere.get('/api/v1/namespaces')).code, 403, 'although that space knows a carol, too')
  t.equal((await holder(api, status, key, 'root').get('/api/v1/namespaces')).code, 403)
  t.equal((await holder(api, status, key, '*').get('/api/v1/namespaces')).code, 403)
  for (const one of [carol, unprefixed, elsewhere]) one.close()
  t.strictSame(faults, [])
})

t.test('who may not be asked for is refused before a policy has its say, as by upstream', async t => {
  const { api } = await start(t)
  const admission = '/apis/admissionregistration.k8s.io/v1'
  const made = (kind: string, name: string, spec: object): object => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: `ValidatingAdmissionPolicy${kind}`,
    metadata: { name },
    spec,
  })
  const rule = { apiGroups: ['certificates.k8s.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['*'] }
  const policy = {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'false', message: 'never' }],
  }
  await api.ok(api.post(`${admission}/validatingadmissionpolicies`, made('', 'p', policy)))
  const binding = { policyName: 'p', validationActions: ['Deny'] }
  await api.ok(api.post(`${admission}/validatingadmissionpolicybindings`, made('Binding', 'b', binding)))
  const { request } = await keyFor([{ O: ['devs'] }, { CN: ['mallory'] }])
  t.match((await api.post(CSRS, csr('policy', request))).body.message, 'never')
  const masters = await keyFor([{ O: ['system:masters'] }, { CN: ['mallory'] }])
  t.match(
    (await api.post(CSRS, csr('subject', masters.request))).body.message,
    'with system:masters group is not allowed',
  )
})

t.test('the administrator of a space gets no identity that reaches beyond it', async t => {
  const { api } = await start(t)
  const space = await createSpace(api, 'owned')
  await api.ok(api.in(space).post(`${RBAC}/clusterrolebindings`, grant('alice', { kind: 'User', name: 'alice' })))
  const alice = api.in(space).as(ALICE)
  for (const [i, group] of ['system:masters', 'system:kcp:admin', 'system:cluster:root'].entries()) {
    const { request } = await keyFor([{ O: ['devs'] }, { O: [group] }, { CN: ['mallory'] }])
    const refused = await alice.post(CSRS, csr(`x${i}`, request))
    t.equal(refused.code, 403, group)
    t.match(refused.body.message, 'certificatesigningrequests.certificates.k8s.io "x')
    t.match(refused.body.message, 'group is not allowed')
  }
  // Raw bytes behind a leading # would be written as they are: 0c0e… is the text system:masters.
  const hidden = await keyFor([{ O: ['##0c0e73797374656d3a6d617374657273'.slice(1)] }, { CN: ['mallory'] }])
  const made = await alice.post(CSRS, csr('hidden', hidden.request))
  t.ok(
    made.code === 403 || (await outcome(alice, made.body)).certificate === undefined,
    'not by another spelling either',
  )
})

t.test('the server says who asks, whatever the request says', async t => {
  const { api } = await start(t)
  const { request } = await keyFor([{ CN: ['x'] }])
  const forged = { username: 'system:admin', groups: ['system:masters'], uid: 'u', extra: { a: ['b'] } }
  const made = await api.ok(api.post(CSRS, csr('forged', request, forged)))
  t.match(made.spec, { username: 'orrery-admin', groups: ['system:masters', 'system:authenticated'] })
  t.notHas(made.spec, { uid: 'u' })
})

t.test('approving takes the verb approve on the signer, signing the verb sign', async t => {
  const { api } = await start(t)
  const space = await createSpace(api, 'rights')
  const at = api.in(space)
  const rule = (resources: string[], verbs: string[], resourceNames?: string[]): object => ({
    apiGroups: ['certificates.k8s.io'],
    resources,
    verbs,
    ...(resourceNames && { resourceNames }),
  })
  const all = [
    rule(
      ['', '/approval', '/status'].map(part => `certificatesigningrequests${part}`),
      ['*'],
    ),
  ]
  for (const [name, rules] of Object.entries({
    alice: [...all, rule(['signers'], ['approve'], ['kubernetes.io/*'])],
    bob: all,
  })) {
    const access = { nonResourceURLs: ['/'], verbs: ['access'] }
    const meta = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name } }
    await api.ok(at.post(`${RBAC}/clusterroles`, { ...meta, rules: [...rules, access] }))
    const binding = {
      ...grant(name, { kind: 'User', name }),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    }
    await api.ok(at.post(`${RBAC}/clusterrolebindings`, binding))
  }
  const { request } = await keyFor([{ CN: ['dave'] }])
  const made = await api.ok(at.as(BOB).post(CSRS, csr('dave', request)))
  const refused = await approve(at.as(BOB), made)
  t.equal(refused.code, 403)
  t.match(refused.body.message, `user not permitted to approve requests with signerName "${CLIENT}"`)
  const forged = {
    ...made,
    status: {
      certificate: Buffer.from('-----BEGIN CERTIFICATE-----\nbWluZQ==\n-----END CERTIFICATE-----\n').toString('base64'),
    },
  }
  const signing = await at.as(BOB).put(`${CSRS}/dave/status`, forged)
  t.equal(signing.code, 403)
  t.match(signing.body.message, `user not permitted to sign requests with signerName "${CLIENT}"`)
  t.ok((await outcome(at.as(ALICE), made)).certificate)
  const undone = await at.as(ALICE).put(`${CSRS}/dave/approval`, { ...made, metadata: { name: 'dave' }, status: {} })
  t.equal(undone.code, 422)
  t.match(undone.body.message, 'updates may not remove a condition of type "Approved"')
})

t.test('what cannot be signed fails with a reason; what is denied stays so; others sign for themselves', async t => {
  const { api, server } = await start(t)
  const { request } = await keyFor([{ CN: ['node-1'] }])
  const server1 = await api.ok(api.post(CSRS, csr('usages', request, { usages: ['server auth'] })))
  t.match((await outcome(api, server1)).conditions[1], {
    type: 'Failed',
    reason: 'SignerValidationFailure',
    message: 'usages',
  })
  const kubelet = { signerName: `${CLIENT}-kubelet`, usages: ['client auth', 'digital signature'] }
  const noNode = await api.ok(api.post(CSRS, csr('no-node', request, kubelet)))
  t.match((await outcome(api, noNode)).conditions[1]!.message, 'system:nodes')
  const node = await keyFor([{ O: ['system:nodes'] }, { CN: ['system:node:n1'] }])
  t.ok((await outcome(api, await api.ok(api.post(CSRS, csr('node', node.request, kubelet))))).certificate)
  const denied = await api.ok(api.post(CSRS, csr('denied', request)))
  const { status: _, ...decided } = await api.ok(approve(api, denied, 'Denied'))
  t.equal((await approve(api, decided)).code, 422, 'what is denied stays denied')
  const order = { space: 'root', requestPem: '', usages: [], expirationSeconds: undefined }
  t.equal(await server.certificates.sign({ ...order, signerName: 'kubernetes.io/kubelet-serving' }), undefined)
  t.match(await server.certificates.sign({ ...order, signerName: CLIENT }), { refused: /parse/ })
})
