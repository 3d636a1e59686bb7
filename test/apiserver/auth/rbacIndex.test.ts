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
  t.equal(result.grants(alice, 'n').flat().length, 1000)
  t.equal(result.grants(alice, '').flat().length, 500)
})
