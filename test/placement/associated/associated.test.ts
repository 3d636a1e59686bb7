/** Kinds of associated objects: those that may come up at all, and those that a wish and grants have in common. */
import t from 'tap'
import { grantedKinds, isAssociable } from '../../../src/placement/associated/associated.ts'

t.test('Secrets, rights, definitions and Namespaces never come up, whatever the patterns', t => {
  const kinds = [
    ['', 'secrets'],
    ['', 'serviceaccounts'],
    ['', 'namespaces'],
    ['apiextensions.k8s.io', 'customresourcedefinitions'],
    ['rbac.authorization.k8s.io', 'roles'],
    ['edge.kubestellar.io', 'edgeplacements'],
    ['discovery.k8s.io', 'endpointslices'],
    ['events.k8s.io', 'events'],
  ] as const
  for (const [group, resource] of kinds) t.equal(isAssociable({ group, resource }), false, resource)
  for (const resource of ['pods', 'events', 'configmaps'])
    t.equal(isAssociable({ group: '', resource }), true, resource)
  t.end()
})

t.test('of two patterns that meet the narrower one is granted', t => {
  t.strictSame(grantedKinds(['*', 'pods'], ['*.apps', 'pods']), ['*.apps', 'pods'])
  t.strictSame(grantedKinds(['replicasets.*'], ['*.apps']), [])
  t.end()
})
