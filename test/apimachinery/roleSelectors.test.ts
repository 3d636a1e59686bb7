import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { hasRoleSelectors, roleSelectors } from '../../src/apimachinery/roleSelectors.ts'

const role = (...clusterRoleSelectors: unknown[]): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'r' },
  aggregationRule: { clusterRoleSelectors },
})

t.test('a selector of the same content is compiled once', async t => {
  const [one] = roleSelectors(role({ matchLabels: { a: 'b' } }))
  const [same, other] = roleSelectors(role({ matchLabels: { a: 'b' } }, { matchLabels: { a: 'c' } }))
  t.equal(same, one)
  t.not(other, one)
  t.ok(one?.matches({ a: 'b' }) && !one.matches({ a: 'c' }))
})

t.test('whether there are any is known without compiling them', async t => {
  const malformed = role({ matchExpressions: [{ key: 'a', operator: 'Maybe' }] })
  t.ok(hasRoleSelectors(malformed))
  t.notOk(roleSelectors(malformed)[0]?.matches({ a: 'b' }), 'a malformed one selects nothing')
  t.notOk(hasRoleSelectors(role()))
  t.notOk(hasRoleSelectors(undefined))
})
