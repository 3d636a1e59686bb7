import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { checkRbacWrite, covers, uncovered } from '../../../src/apiserver/auth/escalation.ts'
import { RbacAuthorizer } from '../../../src/apiserver/auth/rbac.ts'
import { type PolicyRule, ruleAllows } from '../../../src/apiserver/auth/rbacRules.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import * as fc from '../../support/fastCheck.ts'
import { binding, put, role } from './support.ts'

const bob = { name: 'bob', groups: ['a b', 'c', 'system:authenticated'] }

async function setup(t: Test, ...objects: KubeObject[]) {
  const store = await openMemoryStore()
  const authorizer = new RbacAuthorizer({ turns: endlessTurns(), store, requireSpaceAccess: false })
  t.teardown(() => store.close())
  await put(store, 's1', ...objects)
  return (resource: string, object: KubeObject, old?: KubeObject, user = bob) =>
    checkRbacWrite({ user, space: 's1', resource, object, ...(old && { old }) }, authorizer)
}

const held = [
  role('half', [{ apiGroups: ['x'], resources: ['b', 'b/status'], verbs: ['get'] }]),
  binding('half', 'ClusterRole:half', ['User:bob']),
]

t.test('a role that grants more is refused with the list of what lacks', async t => {
  const check = await setup(t, ...held)
  const rules = [
    { apiGroups: ['', 'apps'], resources: ['pods', 'deployments'], verbs: ['get', 'list'] },
    { nonResourceURLs: ['/x'], verbs: ['get'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['s'], verbs: ['*'] },
    { apiGroups: ['x'], resources: ['b'], verbs: ['get', 'list'] },
  ]
  await t.rejects(check('clusterroles', role('esc', rules)), {
    reason: 'Forbidden',
    message: `clusterroles.rbac.authorization.k8s.io "esc" is forbidden: user "bob" (groups=["a b" "c" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["deployments"], Verbs:["get" "list"]}
{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}
{APIGroups:[""], Resources:["secrets"], ResourceNames:["s"], Verbs:["*"]}
{APIGroups:["apps"], Resources:["deployments"], Verbs:["get" "list"]}
{APIGroups:["apps"], Resources:["pods"], Verbs:["get" "list"]}
{APIGroups:["x"], Resources:["b"], Verbs:["list"]}
{NonResourceURLs:["/x"], Verbs:["get"]}`,
    details: { name: 'esc', group: 'rbac.authorization.k8s.io', kind: 'clusterroles' },
  })
})

t.test('names are told apart', async t => {
  const check = await setup(t, ...held)
  const rules = [
    { apiGroups: ['z'], resources: ['b', 'c'], resourceNames: ['one', 'two'], verbs: ['get', 'list'] },
    { apiGroups: ['z'], resources: ['b'], resourceNames: ['one'], verbs: ['update'] },
  ]
  const lines = [
    '{APIGroups:["z"], Resources:["b"], ResourceNames:["one"], Verbs:["get" "list" "update"]}',
    '{APIGroups:["z"], Resources:["b"], ResourceNames:["two"], Verbs:["get" "list"]}',
    '{APIGroups:["z"], Resources:["c"], ResourceNames:["one"], Verbs:["get" "list"]}',
    '{APIGroups:["z"], Resources:["c"], ResourceNames:["two"], Verbs:["get" "list"]}',
  ]
  const error = await check('clusterroles', role('esc', rules)).catch(e => e)
  t.same(error.message.split('\n').slice(1), lines)
})

t.test('what one holds one may write', async t => {
  const check = await setup(t, ...held)
  const own = role('r', [{ apiGroups: ['x'], resources: ['b'], resourceNames: ['one'], verbs: ['get'] }])
  await t.resolves(check('clusterroles', own))
  await t.resolves(check('clusterroles', { ...own, metadata: { name: 'r', labels: { a: 'b' } } }, own))
  const foreign = role('r', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
  await t.rejects(check('clusterroles', foreign, own), { message: /not currently held/ })
  await t.rejects(check('clusterroles', role('r', [{ apiGroups: ['x'], resources: ['*/status'], verbs: ['get'] }])))
})

t.test('of a role that grants more only owners and finalizers may be changed, never a label', async t => {
  const aggregated = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }
  const foreign = role('r', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
  const check = await setup(t, ...held, foreign)
  const gathering = role('g', [], aggregated)
  const bound = binding('r', 'ClusterRole:r', ['User:eve'])
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' }]
  const written: [resource: string, old: KubeObject, why: RegExp][] = [
    ['clusterroles', foreign, /not currently held/],
    ['clusterroles', gathering, /must have cluster-admin privileges to use the aggregationRule/],
    ['clusterrolebindings', bound, /not currently held/],
  ]
  for (const [resource, old, why] of written) {
    const changed = (metadata: object): KubeObject => ({ ...old, metadata: { ...old.metadata, ...metadata } })
    await t.resolves(check(resource, changed({ labels: {} }), old), 'nothing')
    await t.resolves(check(resource, changed({ ownerReferences, managedFields: [{}] }), old))
    await t.resolves(check(resource, changed({ finalizers: ['a.io/b'] }), old))
    await t.rejects(check(resource, changed({ labels: { a: 'b' } }), old), { message: why })
    await t.rejects(check(resource, changed({ annotations: { a: 'b' }, ownerReferences }), old), { message: why })
  }
})

t.test('verb escalate lets a role pass, verb bind a binding', async t => {
  const rbac = 'rbac.authorization.k8s.io'
  const check = await setup(
    t,
    role('boss', [
      { apiGroups: [rbac], resources: ['clusterroles'], resourceNames: ['big'], verbs: ['escalate', 'bind'] },
    ]),
    binding('boss', 'ClusterRole:boss', ['Group:c']),
    role('big', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]),
  )
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  await t.resolves(check('clusterroles', role('big', rules)))
  await t.rejects(check('clusterroles', role('bigger', rules)))
  await t.resolves(check('clusterrolebindings', binding('b', 'ClusterRole:big', ['User:bob'])))
  await t.resolves(check('rolebindings', binding('b', 'ClusterRole:big', ['User:bob'], 'ns')))
  await t.rejects(check('clusterrolebindings', binding('b', 'ClusterRole:cluster-admin', ['User:bob'])))
})

t.test('bindings', async t => {
  const check = await setup(t, ...held, role('local', [], { namespace: 'ns' }))
  await t.resolves(check('clusterrolebindings', binding('b', 'ClusterRole:system:discovery', ['User:eve'])))
  await t.resolves(check('rolebindings', binding('b', 'Role:local', ['User:eve'], 'ns')))
  const monitoring = binding('b', 'ClusterRole:system:monitoring', [])
  const error = await check('clusterrolebindings', monitoring).catch(e => e)
  t.match(error.message, /"b" is forbidden: user "bob" .*\n\{NonResourceURLs:\["\/healthz\/\*"\], Verbs:\["get"\]\}/)
  await t.resolves(check('clusterrolebindings', monitoring, monitoring), 'an update that changes nothing')
  await t.rejects(check('clusterrolebindings', { ...monitoring, subjects: [{ kind: 'User', name: 'x' }] }, monitoring))
  await t.rejects(check('clusterrolebindings', binding('b', 'ClusterRole:nope', [])), {
    message: 'clusterroles.rbac.authorization.k8s.io "nope" not found',
  })
  await t.rejects(check('rolebindings', binding('b', 'Role:nope', [], 'ns')), {
    message: 'roles.rbac.authorization.k8s.io "nope" not found',
  })
})

t.test('aggregation gathers what nobody foresees, so it needs everything', async t => {
  const check = await setup(t, ...held, binding('adm', 'ClusterRole:cluster-admin', ['User:ann']))
  const aggregating = role('r', [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } })
  const message =
    'clusterroles.rbac.authorization.k8s.io "r" is forbidden: must have cluster-admin privileges to use the aggregationRule'
  await t.rejects(check('clusterroles', aggregating), { message })
  await t.rejects(check('clusterroles', role('r', []), aggregating), { message })
  await t.resolves(check('clusterroles', aggregating, undefined, { name: 'ann', groups: [] }))
  await t.resolves(check('clusterroles', aggregating, undefined, { name: 'x', groups: ['system:masters'] }))
})

const pick = (...values: string[]) => fc.subarray(values, { minLength: 1 })
const resourceRule: fc.Arbitrary<PolicyRule> = fc
  .tuple(
    pick('', 'apps', '*'),
    pick('pods', 'pods/log', '*/log', '*'),
    pick('get', 'list', '*'),
    fc.subarray(['n', 'm']),
  )
  .map(([apiGroups, resources, verbs, resourceNames]) => ({
    apiGroups,
    resources,
    verbs,
    ...(resourceNames.length > 0 && { resourceNames }),
  }))
const pathRule: fc.Arbitrary<PolicyRule> = fc
  .tuple(pick('/a', '/a/*', '/a/b', '*'), pick('get', '*'))
  .map(([nonResourceURLs, verbs]) => ({ nonResourceURLs, verbs }))
const rules = fc.array(fc.oneof(resourceRule, pathRule), { maxLength: 4 })

t.test('rules that are covered never allow more than their owner has', async () => {
  const user = { name: 'u', groups: [] }
  const questions = ['get', 'list', 'other'].flatMap(verb => [
    ...['/a', '/a/b', '/a/b/c', '/z'].map(path => ({ user, space: 's', verb, path })),
    ...['', 'apps', 'x'].flatMap(group =>
      ['pods', 'other'].flatMap(resource =>
        ['', 'log'].flatMap(subresource =>
          ['n', 'm', 'k'].map(name => {
            const asked = { group, version: 'v1', resource, subresource, namespace: '', name }
            return { user, space: 's', verb, resource: asked, path: '' }
          }),
        ),
      ),
    ),
  ])
  fc.assert(
    fc.property(rules, rules, (owned, wanted) => {
      const rest = uncovered(owned, wanted)
      return questions.every(question => {
        const allows = (list: readonly PolicyRule[]) => list.some(rule => ruleAllows(rule, question))
        return !allows(wanted) || allows(owned) || allows(rest)
      })
    }),
    { numRuns: 300 },
  )
})

t.test('everybody covers their own rules and no rules', async () => {
  fc.assert(fc.property(rules, owned => covers(owned, owned) && covers(owned, [])))
})

t.test('a rule with more combinations than can be compared is refused before they are made', async t => {
  const many = (what: string, count: number) => Array.from({ length: count }, (_, i) => `${what}${i}`)
  const rule = { verbs: many('v', 3_000), apiGroups: many('g', 3_000), resources: many('r', 3_000) }
  t.throws(() => uncovered([], [rule]), { reason: 'Forbidden', message: /write them into several smaller roles$/ })
  const verbs = { verbs: many('v', 20_000), apiGroups: [''], resources: ['pods'] }
  t.same(uncovered([], [verbs]), [verbs])
})
