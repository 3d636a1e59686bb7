/** Webhooks and policies see requests that are never stored: reviews, tokens, bindings, evictions, approvals. */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { CONFIGMAPS, configMap, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from './webhookServer.ts'

const { api, faults } = await startTestServer(t, WEBHOOKS_HERE)
const hooks = await startWebhookServer(t)
const GROUP = '/apis/admissionregistration.k8s.io/v1'
const TOKENS = '/api/v1/namespaces/default/serviceaccounts/robot/token'
const PODS = '/api/v1/namespaces/default/pods'
const SIGNING = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

const rule = (group: string, ...resources: string[]): object => ({
  operations: ['*'],
  apiGroups: [group],
  apiVersions: ['*'],
  resources,
})
const everywhere = (kind: 'Mutating' | 'Validating'): object =>
  webhook(`${kind.toLowerCase()}.example.com`, hooks.at(`/${kind}`), {
    rules: [
      rule('authentication.k8s.io', '*'),
      rule('authorization.k8s.io', '*'),
      rule('certificates.k8s.io', '*/*'),
      rule('', 'serviceaccounts/token', 'bindings', 'pods/binding', 'pods/eviction'),
    ],
  })

await api.ok(
  api.post('/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'robot' },
  }),
)
const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i' }] },
})
const csr = execFileSync(
  'openssl',
  ['req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '/dev/null'].concat([
    '-subj',
    '/CN=x',
  ]),
  { stdio: ['ignore', 'pipe', 'ignore'] },
).toString('base64')

t.test('webhooks are told of each, under the names and kinds of kube-apiserver', async t => {
  for (const kind of ['Mutating', 'Validating'] as const) {
    await api.ok(api.post(CONFIGURATIONS[kind], configuration(kind, 'all', [everywhere(kind)])))
  }
  const review = (kind: string, spec: object): object => ({ apiVersion: 'authorization.k8s.io/v1', kind, spec })
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } }
  await api.ok(api.post(PODS, pod('p')))
  await api.ok(
    api.post(SIGNING, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'r' },
      spec: { request: csr, signerName: 'example.com/s', usages: ['client auth'] },
    }),
  )
  const conditions = [{ type: 'Approved', status: 'True', reason: 'R', message: 'm' }]
  const asks: [path: string, body: object, kind: string, resource: string, name: string][] = [
    [TOKENS, {}, 'authentication.k8s.io/v1 TokenRequest', 'serviceaccounts/token', 'robot'],
    [
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } },
      'authentication.k8s.io/v1 TokenReview',
      'tokenreviews.authentication.k8s.io',
      '',
    ],
    [
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      review('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'pods' } }),
      'authorization.k8s.io/v1 SelfSubjectAccessReview',
      'selfsubjectaccessreviews.authorization.k8s.io',
      '',
    ],
    [
      '/apis/authorization.k8s.io/v1/namespaces/nowhere/localsubjectaccessreviews',
      review('LocalSubjectAccessReview', { user: 'u', resourceAttributes: { namespace: 'nowhere', verb: 'get' } }),
      'authorization.k8s.io/v1 LocalSubjectAccessReview',
      'localsubjectaccessreviews.authorization.k8s.io',
      '',
    ],
    [`${PODS}/p/binding`, binding, '/v1 Binding', 'pods/binding', 'p'],
    [`${PODS}/p/eviction`, {}, 'policy/v1 Eviction', 'pods/eviction', 'p'],
  ]
  for (const [path, body, kind, resource, name] of asks) {
    hooks.seen.length = 0
    await api.ok(api.post(path, body))
    t.strictSame(
      hooks.seen.map(seen => seen.path),
      ['/Mutating', '/Validating'],
      path,
    )
    const { request } = hooks.seen[0]!
    const of = request.kind as Record<string, string>
    const what = request.resource as Record<string, string>
    t.equal(`${of.group}/${of.version} ${of.kind}`, kind)
    const sub = request.subResource ? `/${request.subResource}` : ''
    t.equal(`${what.resource}${sub}${what.group && `.${what.group}`}`, resource)
    t.equal(request.name ?? '', name)
    t.match(request, {
      operation: 'CREATE',
      oldObject: null,
      object: { kind: of.kind },
      options: { kind: 'CreateOptions' },
    })
  }
  hooks.seen.length = 0
  await api.ok(api.patch(`${SIGNING}/r/approval`, 'merge', { status: { conditions } }))
  t.match(hooks.seen[0]?.request, {
    operation: 'UPDATE',
    subResource: 'approval',
    kind: { kind: 'CertificateSigningRequest' },
    name: 'r',
    object: { status: { conditions: [{ type: 'Approved' }] } },
  })
})

t.test('what a webhook changes or refuses is changed or refused', async t => {
  hooks.on('/Mutating', ({ request }) => {
    if (request.subResource === 'token') {
      return { allowed: true, patch: [{ op: 'replace', path: '/spec/expirationSeconds', value: 700 }] }
    }
    if (request.subResource !== 'binding') return { allowed: true }
    return { allowed: true, patch: [{ op: 'replace', path: '/target/name', value: 'other' }] }
  })
  const token = await api.ok(api.post(TOKENS, { spec: { expirationSeconds: 9000 } }))
  t.match(token, { kind: 'TokenRequest', metadata: { name: 'robot' }, spec: { expirationSeconds: 700 } })
  await api.ok(api.post(PODS, pod('moved')))
  await api.ok(
    api.post(`${PODS}/moved/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: {}, target: { name: 'n' } }),
  )
  t.match((await api.get(`${PODS}/moved`)).body.spec, { nodeName: 'other' })
  hooks.on('/Validating', () => ({ allowed: false, status: { message: 'never' } }))
  const ask = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'x' } }
  for (const refused of [
    await api.post(TOKENS, {}),
    await api.post('/apis/authentication.k8s.io/v1/tokenreviews', ask),
    await api.post(`${PODS}/moved/eviction`, {}),
  ]) {
    t.match(refused, { code: 400, body: { message: /"validating\.example\.com" denied the request: never/ } })
  }
  t.equal((await api.get(`${PODS}/moved`)).code, 200, 'and nothing was done')
  for (const kind of ['Mutating', 'Validating'] as const) await api.ok(api.delete(`${CONFIGURATIONS[kind]}/all`))
})

t.test('policies judge tokens, but reviews are out of their reach', async t => {
  const make = (path: string, kind: string, spec: object): Promise<unknown> =>
    api.ok(
      api.post(`${GROUP}/${path}`, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind,
        metadata: { name: 'short' },
        spec,
      }),
    )
  await make('validatingadmissionpolicies', 'ValidatingAdmissionPolicy', {
    matchConstraints: { resourceRules: [rule('', 'serviceaccounts/token'), rule('authorization.k8s.io', '*')] },
    validations: [{ expression: 'object.spec.expirationSeconds <= 900', message: 'too long' }],
  })
  await make('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding', {
    policyName: 'short',
    validationActions: ['Deny'],
  })
  t.match(await api.post(TOKENS, {}), { code: 422, body: { message: /too long/ } }, 'an hour, when not said')
  t.equal((await api.post(TOKENS, { spec: { expirationSeconds: 900 } })).code, 201)
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'default' },
  }
  t.equal((await api.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', review)).code, 201)
})

t.test('quotas do not count what is not stored', async t => {
  const hard = { 'count/bindings': '0', 'count/localsubjectaccessreviews.authorization.k8s.io': '0' }
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard } }
  await api.ok(api.post('/api/v1/namespaces/default/resourcequotas', quota))
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'LocalSubjectAccessReview',
    spec: { user: 'u', resourceAttributes: { namespace: 'default', verb: 'get' } },
  }
  const path = '/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews'
  t.equal((await api.post(path, review)).code, 201)
})

t.test('approval by PATCH: conditions, labels and annotations, and nothing else', async t => {
  const approved = { type: 'Approved', status: 'True', reason: 'R', message: 'm' }
  await api.ok(
    api.post(SIGNING, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'patched' },
      spec: { request: csr, signerName: 'example.com/s', usages: ['client auth'] },
    }),
  )
  const path = `${SIGNING}/patched/approval`
  const patch = {
    metadata: { labels: { a: 'b' } },
    spec: { usages: ['server auth'] },
    status: { certificate: 'AAAA', conditions: [approved] },
  }
  const first = await api.ok(api.patch(path, 'merge', patch))
  t.match(first, { metadata: { labels: { a: 'b' } }, spec: { usages: ['client auth'] } })
  t.match(first.status, { conditions: [{ type: 'Approved', lastTransitionTime: /Z$/ }] })
  t.notOk((first.status as Record<string, unknown>).certificate)
  t.match(first.metadata.managedFields, [{}, { subresource: 'approval' }])
  const applied = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'patched' },
    status: { conditions: [{ type: 'Seen', status: 'True' }] },
  }
  const second = await api.ok(api.patch(`${path}?fieldManager=me&force=true`, 'apply', applied))
  t.match(second.status, { conditions: [{ type: 'Approved' }, { type: 'Seen' }] })
  const gone = await api.patch(path, 'json', [{ op: 'remove', path: '/status/conditions' }])
  t.match(gone, { code: 422, body: { message: /updates may not remove a condition of type "Approved"/ } })
  t.equal((await api.patch(`${SIGNING}/none/approval`, 'merge', {})).code, 404)
})

t.test('nothing of this is a fault of the server', async t => {
  t.equal((await api.post(CONFIGMAPS, configMap('fine'))).code, 201)
  t.strictSame(faults, [])
})

t.test('a TokenRequest of the wrong form is the mistake of who sent it, in whatever form it is answered', async t => {
  const cases: [body: object, message: RegExp][] = [
    [
      { metadata: { labels: '' } },
      /TokenRequest in version "v1" cannot be handled as a TokenRequest: .*metadata\.labels/,
    ],
    [{ spec: 'authentication.k8s.io/v1' }, /cannot unmarshal string into Go struct field TokenRequest\.spec/],
    [{ spec: { audiences: 'one' } }, /spec\.audiences of type \[\]string/],
    [{ spec: { expirationSeconds: '600' } }, /spec\.expirationSeconds of type int64/],
    [{ spec: { boundObjectRef: { name: 1 } } }, /boundObjectRef\.name of type string/],
  ]
  for (const [body, message] of cases) {
    t.match(await api.post(TOKENS, body), { code: 400, body: { reason: 'BadRequest', message } }, JSON.stringify(body))
    const wire = { body, headers: { Accept: 'application/vnd.kubernetes.protobuf' } }
    t.equal((await api.send('POST', TOKENS, wire)).code, 400)
  }
  t.strictSame(faults, [])
})
