/** Annotations of webhooks and policies in the audit events of judged requests. */
import t, { type Test } from 'tap'
import type { AuditEvent } from '../../../src/apiserver/audit/auditEvent.ts'
import { Auditor } from '../../../src/apiserver/audit/auditor.ts'
import { auditPolicy } from '../../../src/apiserver/audit/policy.ts'
import type { Api } from '../../support/api.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from '../admission/webhookServer.ts'

const hooks = await startWebhookServer(t)
const GROUP = '/apis/admissionregistration.k8s.io/v1'

interface Audited {
  api: Api
  /** Creates a ConfigMap; the annotations of its last event, but those of every request. */
  annotationsOf(name: string, data?: Record<string, string>): Promise<Record<string, string>>
}

async function start(t: Test, level: string): Promise<Audited> {
  const waiting = new Map<string, (event: AuditEvent) => void>()
  const policy = auditPolicy({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level }] })
  const write = (line: string): void => {
    const event = JSON.parse(line) as AuditEvent
    if (event.stage === 'ResponseComplete') waiting.get(event.auditID)?.(event)
  }
  const audit = new Auditor({ clock: Date.now, policy, sink: { write, close: async () => {} } })
  const { api } = await startTestServer(t, { more: { audit, webhookAllowedHosts: ['localhost'] } })
  return {
    api,
    async annotationsOf(name, data) {
      const done = new Promise<AuditEvent>(resolve => waiting.set(name, resolve))
      await api.post(CONFIGMAPS, configMap(name, data), { headers: { 'Audit-ID': name } })
      const all = Object.entries((await done).annotations ?? {})
      return Object.fromEntries(all.filter(([key]) => !/^(authorization\.k8s\.io|kcp\.io)\//.test(key)))
    },
  }
}

t.test('mutating webhooks: whether they changed something, and with which patch where the object is shown', async t => {
  const patch = [{ value: { a: '<b>' }, path: '/metadata/labels', op: 'add' }]
  hooks.on('/label', () => ({ allowed: true, patch, auditAnnotations: { why: 'because', 'not a key': 'x' } }))
  hooks.on('/look', () => ({ allowed: true }))
  const closed = { url: 'https://127.0.0.1:1/' }
  const webhooks = [
    webhook('look.example.com', hooks.at('/look'), { reinvocationPolicy: 'IfNeeded' }),
    webhook('others.example.com', hooks.at('/look'), {
      rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
    }),
    webhook('label.example.com', hooks.at('/label')),
    webhook('gone.example.com', closed, { failurePolicy: 'Ignore' }),
  ]
  const place = (prefix: string, round: number, index: number): string =>
    `${prefix}.admission.k8s.io/round_${round}_index_${index}`
  const said = (name: string, mutated: boolean): string =>
    JSON.stringify({ configuration: 'test', webhook: `${name}.example.com`, mutated })
  const always = {
    [place('mutation.webhook', 0, 0)]: said('look', false),
    [place('mutation.webhook', 0, 2)]: said('label', true),
    [place('mutation.webhook', 0, 3)]: said('gone', false),
    [place('failed-open.mutation.webhook', 0, 3)]: 'gone.example.com',
    [place('mutation.webhook', 1, 0)]: said('look', false),
    'label.example.com/why': 'because',
  }
  for (const level of ['Metadata', 'Request']) {
    const { api, annotationsOf } = await start(t, level)
    await api.ok(api.post(CONFIGURATIONS.Mutating, configuration('Mutating', 'test', webhooks)))
    const patched =
      '{"configuration":"test","webhook":"label.example.com",' +
      '"patch":[{"op":"add","path":"/metadata/labels","value":{"a":"\\u003cb\\u003e"}}],"patchType":"JSONPatch"}'
    const shown = level === 'Request' ? { [place('patch.webhook', 0, 2)]: patched } : {}
    t.strictSame(await annotationsOf('m'), { ...always, ...shown }, level)
  }
})

t.test('validating webhooks: what they say, whatever they decide, and that one was passed over', async t => {
  const { api, annotationsOf } = await start(t, 'Metadata')
  hooks.on('/deny', () => ({ allowed: false, auditAnnotations: { score: '7' } }))
  const webhooks = [
    webhook('deny.example.com', hooks.at('/deny')),
    webhook('gone.example.com', { url: 'https://127.0.0.1:1/' }, { failurePolicy: 'Ignore' }),
  ]
  await api.ok(api.post(CONFIGURATIONS.Validating, configuration('Validating', 'test', webhooks)))
  t.strictSame(await annotationsOf('v'), {
    'deny.example.com/score': '7',
    'failed-open.validating.webhook.admission.k8s.io/round_0_index_1': 'gone.example.com',
  })
})

async function policy(api: Api, name: string, spec: object, bindings: Record<string, object>): Promise<void> {
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
  const of = (kind: string, own: string, body: object): object => ({
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: own },
    spec: body,
  })
  await api.ok(
    api.post(
      `${GROUP}/validatingadmissionpolicies`,
      of('ValidatingAdmissionPolicy', name, { matchConstraints: { resourceRules }, ...spec }),
    ),
  )
  for (const [own, body] of Object.entries(bindings)) {
    await api.ok(
      api.post(
        `${GROUP}/validatingadmissionpolicybindings`,
        of('ValidatingAdmissionPolicyBinding', own, { policyName: name, ...body }),
      ),
    )
  }
}

t.test('the action Audit tells the failure; audit annotations of a policy are values of their expressions', async t => {
  const { api, annotationsOf } = await start(t, 'Metadata')
  await policy(
    api,
    'p',
    {
      validations: [{ expression: 'true' }, { expression: '!has(object.data)', message: 'no data & no fun' }],
      auditAnnotations: [
        { key: 'keys', valueExpression: "has(object.data) ? dyn(' ' + string(size(object.data)) + ' ') : null" },
        { key: 'none', valueExpression: 'has(object.data) ? null : dyn(1)' },
        { key: 'empty', valueExpression: "''" },
      ],
    },
    { b: { validationActions: ['Audit', 'Warn'] } },
  )
  t.strictSame(await annotationsOf('told', { a: 'b' }), {
    'p/keys': '1',
    'validation.policy.admission.k8s.io/validation_failure':
      '[{"message":"no data \\u0026 no fun","policy":"p","binding":"b","expressionIndex":1,"validationActions":["Audit","Warn"]}]',
  })
})

t.test('values for several parameters are listed; a value that cannot be had refuses', async t => {
  const { api, annotationsOf } = await start(t, 'Metadata')
  for (const name of ['one', 'two', 'uno']) {
    await api.ok(api.post(CONFIGMAPS, configMap(name, { n: name === 'two' ? '2' : '1' }, { labels: { p: 'y' } })))
  }
  const paramRef = { selector: { matchLabels: { p: 'y' } }, parameterNotFoundAction: 'Deny', namespace: 'default' }
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const auditAnnotations = [{ key: 'n', valueExpression: 'params.data.n' }]
  await policy(api, 'many', { paramKind, auditAnnotations }, { b: { validationActions: ['Audit'], paramRef } })
  t.strictSame(await annotationsOf('listed'), { 'many/n': '1, 2' })
  const broken = [{ key: 'n', valueExpression: 'object.data.nope' }]
  await policy(api, 'odd', { auditAnnotations: broken }, { c: { validationActions: ['Audit'] } })
  const { body } = await api.post(CONFIGMAPS, configMap('refused', { a: 'b' }))
  t.match(body, {
    code: 422,
    message:
      "ValidatingAdmissionPolicy 'odd' with binding 'c' denied request: expression 'object.data.nope' resulted in error: no such key: nope",
  })
})
