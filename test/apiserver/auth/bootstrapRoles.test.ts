import t from 'tap'
import { bootstrapObjects } from '../../../src/apiserver/auth/bootstrapRoles.ts'
import { type PolicyRule, rulesOf } from '../../../src/apiserver/auth/rbacRules.ts'

const find = (name: string, kind = 'ClusterRole', root = false) =>
  bootstrapObjects({ root }).find(object => object.metadata.name === name && object.kind === kind)!
const grants = (name: string, verb: string, resource: string) =>
  rulesOf(find(name)).some((rule: PolicyRule) => rule.verbs.includes(verb) && rule.resources?.includes(resource))

t.test('the well-known roles are there, sorted, with lasting uids', async t => {
  const names = bootstrapObjects().map(object => `${object.kind}/${object.metadata.name}`)
  t.same(names, [...names].sort())
  for (const name of ['cluster-admin', 'admin', 'edit', 'view', 'system:discovery', 'system:kcp:workspace:access']) {
    t.ok(names.includes(`ClusterRole/${name}`), name)
  }
  t.same(bootstrapObjects(), bootstrapObjects())
  t.equal(new Set(bootstrapObjects().map(object => object.metadata.uid)).size, names.length)
  const creationTimestamp = '2030-01-01T00:00:00Z'
  t.equal(bootstrapObjects({ creationTimestamp })[0]?.metadata.creationTimestamp, creationTimestamp)
})

t.test('aggregated roles show their rules', async t => {
  t.ok(grants('view', 'list', 'pods'))
  t.notOk(grants('view', 'get', 'secrets'))
  t.notOk(grants('view', 'create', 'pods'))
  t.ok(grants('edit', 'create', 'deployments') && grants('edit', 'get', 'secrets') && grants('edit', 'list', 'events'))
  t.notOk(grants('edit', 'create', 'rolebindings'))
  t.ok(grants('admin', 'create', 'rolebindings') && grants('admin', 'delete', 'pods'))
})

t.test(
  'admin, edit and view hold what goes with them of the own kinds; consent is for administrators alone',
  async t => {
    for (const kind of ['edgeplacements', 'customizers', 'synctargets', 'locations']) {
      t.ok(grants('view', 'watch', kind) && !grants('view', 'create', kind), kind)
      t.ok(grants('edit', 'create', kind) && grants('admin', 'delete', kind), kind)
    }
    for (const kind of ['inventorybindings', 'placementgrants']) {
      t.ok(grants('view', 'get', kind), kind)
      t.notOk(grants('view', 'create', kind) || grants('edit', 'create', kind) || grants('edit', 'patch', kind), kind)
      t.ok(grants('admin', 'create', kind) && grants('admin', 'update', kind) && grants('admin', 'delete', kind), kind)
    }
    for (const kind of ['singleplacementslices', 'grantedlocations', 'syncerconfigs', 'edgesyncconfigs']) {
      t.notOk(grants('edit', 'update', kind) || grants('admin', 'update', kind), `${kind} are the center's`)
    }
    t.ok(grants('view', 'list', 'grantedlocations') && grants('view', 'get', 'edgeplacements/status'))
    t.notOk(grants('admin', 'update', 'edgeplacements/status'))
    t.notMatch(
      JSON.stringify(bootstrapObjects({ ownKinds: false })),
      'kubestellar',
      'a plain cluster knows none of them',
    )
  },
)

t.test('roles for apps hold what their name says, and join no other', t => {
  t.ok(grants('kubestellar:app-definitions', 'create', 'customresourcedefinitions'))
  t.ok(grants('kubestellar:app-roles', 'create', 'rolebindings') && grants('kubestellar:app-roles', 'get', 'roles'))
  for (const verb of ['bind', 'escalate', '*']) t.notOk(grants('kubestellar:app-roles', verb, 'roles'), verb)
  t.notOk(grants('kubestellar:app-roles', 'get', 'clusterroles'))
  t.notOk(grants('edit', 'create', 'customresourcedefinitions') || grants('edit', 'get', 'roles'))
  t.end()
})

t.test('a caller may change what it was given', async t => {
  const [first] = bootstrapObjects()
  rulesOf(first!).length = 0
  ;(first!.rules as unknown[]).length = 0
  t.ok(rulesOf(bootstrapObjects()[0]!).length > 0)
})

t.test('what only root has', async t => {
  t.equal(find('system:kcp:tenancy:reader'), undefined)
  t.match(find('system:kcp:tenancy:authenticated:access', 'ClusterRoleBinding', true), {
    roleRef: { name: 'system:kcp:workspace:access' },
    subjects: [{ kind: 'Group', name: 'system:authenticated' }],
  })
})
