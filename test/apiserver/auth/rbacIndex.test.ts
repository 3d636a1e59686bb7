import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { RbacIndex } from '../../../src/apiserver/auth/rbacIndex.ts'
import { countSteps } from '../../support/countSteps.ts'

const binding = (kind: string, name: string, namespace = ''): KubeObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind,
  metadata: { name, ...(namespace && { namespace }) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
  subjects: [{ kind: 'User', name: 'alice' }],
})

t.test('others have their turn while the bindings of a space are indexed', async t => {
  const names = Array.from({ length: 500 }, (_, i) => `b${i}`)
  const { result, steps } = countSteps(
    RbacIndex.of({
      clusterRoles: [],
      clusterRoleBindings: names.map(name => binding('ClusterRoleBinding', name)),
      roles: [],
      roleBindings: names.map(name => binding('RoleBinding', name, 'n')),
    }),
  )
  t.ok(steps >= 1000, `${steps} rests`)
  const alice = { name: 'alice', groups: [] }
  t.equal(result.grants(alice, 'n').flatMap(({ grants }) => grants).length, 1000)
  t.equal(result.grants(alice, '').flatMap(({ grants }) => grants).length, 500)
})

t.test('the many subjects of a binding share what it grants, and others have their turn between them', async t => {
  const subjects = Array.from({ length: 10_000 }, (_, i) => ({ kind: 'User', name: `u${i}` }))
  const wide = (name: string): KubeObject => ({ ...binding('ClusterRoleBinding', name), subjects })
  const own = { ...binding('ClusterRoleBinding', 'own'), subjects: [{ kind: 'User', name: 'u1' }] }
  const { result, steps } = countSteps(
    RbacIndex.of({ clusterRoles: [], clusterRoleBindings: [wide('wide'), own], roles: [], roleBindings: [] }),
  )
  t.ok(steps >= 20, `${steps} rests`)
  const of = (name: string) => result.grants({ name, groups: [] }, '')
  t.equal(of('u7')[0]!.grants, of('u8')[0]!.grants, 'no list for each')
  t.same(
    of('u1').flatMap(({ subject, grants }) => grants.map(grant => grant.reasonFor(subject))),
    ['wide', 'own'].map(name => `RBAC: allowed by ClusterRoleBinding "${name}" of ClusterRole "r" to User "u1"`),
  )
  t.equal(of('u9').flatMap(({ grants }) => grants).length, 1, 'what one is granted besides is theirs alone')
})
