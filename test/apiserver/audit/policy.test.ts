/** Matching rule of an audit policy for a request, and the errors of an invalid policy. */
import t from 'tap'
import { auditPolicy } from '../../../src/apiserver/audit/policy.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'

const HEAD = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy' }
const USER = { name: 'jane', groups: ['devs', 'system:authenticated'] }

function level(rules: object[], method: string, url: string, user = USER): string {
  return auditPolicy({ ...HEAD, rules }).decide(parseRequest(method, url), user).level
}

t.test('the first rule that matches decides, and without one nothing is recorded', async t => {
  const rules = [
    { level: 'None', users: ['system:kube-proxy'] },
    { level: 'Request', userGroups: ['devs'], verbs: ['create'] },
    { level: 'Metadata', userGroups: ['devs'] },
  ]
  t.equal(level(rules, 'POST', '/api/v1/namespaces/x/pods'), 'Request')
  t.equal(level(rules, 'GET', '/api/v1/namespaces/x/pods'), 'Metadata')
  t.equal(level(rules, 'GET', '/healthz'), 'Metadata')
  t.equal(level(rules, 'GET', '/healthz', { name: 'bob', groups: [] }), 'None')
  t.equal(level(rules, 'GET', '/healthz', { name: 'system:kube-proxy', groups: ['devs'] }), 'None')
})

t.test('resources, sub-resources, names, namespaces and paths', async t => {
  const on = (resources: object[], more: object = {}): object[] => [{ level: 'Metadata', resources, ...more }]
  const pods = '/api/v1/namespaces/x/pods'
  for (const [rules, url, wanted] of [
    [on([{ group: '', resources: ['pods'] }]), pods, 'Metadata'],
    [on([{ group: '', resources: ['pods'] }]), `${pods}/a/status`, 'None'],
    [on([{ group: '', resources: ['pods/status'] }]), `${pods}/a/status`, 'Metadata'],
    [on([{ group: '', resources: ['pods/*'] }]), `${pods}/a/status`, 'Metadata'],
    [on([{ group: '', resources: ['*/status'] }]), `${pods}/a/status`, 'Metadata'],
    [on([{ group: '', resources: ['*'] }]), `${pods}/a/status`, 'Metadata'],
    [on([{ group: 'apps' }]), pods, 'None'],
    [on([{ group: 'apps' }]), '/apis/apps/v1/deployments', 'Metadata'],
    [on([{ group: '', resources: ['pods'], resourceNames: ['a'] }]), `${pods}/a`, 'Metadata'],
    [on([{ group: '', resources: ['pods'], resourceNames: ['a'] }]), `${pods}/b`, 'None'],
    [on([], { namespaces: ['x'] }), pods, 'Metadata'],
    [on([], { namespaces: ['y'] }), pods, 'None'],
    [on([], { namespaces: [''] }), '/api/v1/nodes', 'Metadata'],
    [on([], { namespaces: [''] }), '/version', 'None'],
    [[{ level: 'Metadata', nonResourceURLs: ['/healthz*'] }], '/healthz/ping', 'Metadata'],
    [[{ level: 'Metadata', nonResourceURLs: ['/healthz*'] }], '/version', 'None'],
    [[{ level: 'Metadata', nonResourceURLs: ['*'] }], pods, 'None'],
    [on([{ group: '', resources: ['pods'] }]), `/clusters/root:a${pods}`, 'Metadata'],
  ] as [object[], string, string][]) {
    t.equal(level(rules, 'GET', url), wanted, `${JSON.stringify(rules)} ${url}`)
  }
})

t.test('what holds for the policy holds for its rules, which may add to it', async t => {
  const policy = auditPolicy({
    ...HEAD,
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      { level: 'Metadata', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: false },
      { level: 'Metadata' },
    ],
  })
  const first = policy.decide(parseRequest('GET', '/version'), USER)
  t.strictSame([...first.omitStages], ['RequestReceived', 'Panic'])
  t.equal(first.omitManagedFields, false)
  t.equal(policy.decide(parseRequest('POST', '/version'), USER).omitManagedFields, true)
})

t.test('a policy that cannot work is refused, saying where', async t => {
  const refused = (policy: unknown, why: RegExp): void => void t.throws(() => auditPolicy(policy), why)
  refused(undefined, /must be a mapping/)
  refused({ ...HEAD, kind: 'Other', rules: [] }, /kind must be Policy/)
  refused({ ...HEAD, rules: [] }, /rules must not be empty/)
  refused({ ...HEAD, rules: [{ level: 'All' }] }, /rules\[0\]\.level: "All" is not one of None/)
  refused({ ...HEAD, rules: [{ level: 'None', user: ['x'] }] }, /rules\[0\]: unknown field "user"/)
  refused({ ...HEAD, rules: [{ level: 'None', users: 'x' }] }, /rules\[0\]\.users must be a list/)
  refused(
    { ...HEAD, rules: [{ level: 'None', omitStages: ['End'] }] },
    /rules\[0\]\.omitStages\[0\]: "End" is not one of RequestReceived/,
  )
  refused(HEAD, /the audit policy has no rules/)
  refused({ ...HEAD, rules: [{}] }, /rules\[0\] has no level/)
  refused({ ...HEAD, rules: [{ level: 'None', nonResourceURLs: ['/a'], namespaces: ['x'] }] }, /both/)
  refused(
    { ...HEAD, rules: [{ level: 'None', nonResourceURLs: ['a'] }] },
    /nonResourceURLs\[0\]: "a" must start with \//,
  )
  t.doesNotThrow(
    () => auditPolicy({ ...HEAD, metadata: null, rules: [{ level: 'None', users: null }] }),
    'YAML without a value',
  )
})
