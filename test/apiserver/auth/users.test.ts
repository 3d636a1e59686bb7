import t from 'tap'
import {
  allowsAnonymous,
  effectiveUser,
  parseServiceAccountUserName,
  serviceAccountUserName,
} from '../../../src/apiserver/auth/users.ts'

t.test('ServiceAccount user names', async t => {
  const ref = { namespace: 'ns', name: 'sa' }
  t.same(parseServiceAccountUserName(serviceAccountUserName(ref)), ref)
  for (const name of ['ann', 'system:serviceaccount:ns', 'system:serviceaccount:a:b:c', 'system:serviceaccount::b']) {
    t.equal(parseServiceAccountUserName(name), undefined, name)
  }
})

t.test('a ServiceAccount abroad is a stranger of its cluster group', async t => {
  const extra = { 'authentication.kubernetes.io/cluster-name': ['s1'] }
  const account = { name: 'system:serviceaccount:ns:sa', uid: 'u', groups: ['system:serviceaccounts'], extra }
  t.equal(effectiveUser(account, 's1'), account)
  for (const space of ['s2', '*']) {
    t.same(effectiveUser(account, space), {
      name: 'system:anonymous',
      groups: ['system:authenticated', 'system:cluster:s1'],
    })
  }
})

t.test('every scope must hold the space', async t => {
  const scoped = (...scopes: string[]) => ({
    name: 'ann',
    groups: ['system:masters'],
    extra: { 'authentication.kcp.io/scopes': scopes },
  })
  const counts = (user: ReturnType<typeof scoped>, space: string) => effectiveUser(user, space) === user
  t.ok(counts(scoped('cluster:a,cluster:b', 'cluster:b'), 'b'))
  t.notOk(counts(scoped('cluster:a,cluster:b', 'cluster:b'), 'a'))
  t.notOk(counts(scoped('cluster:a'), '*'))
  t.notOk(counts(scoped('cluster:ab'), 'a'))
  t.same(effectiveUser(scoped('cluster:a'), 'b').groups, ['system:authenticated'])
})

t.test('paths that probes use need no credentials', async t => {
  for (const path of ['/livez', '/readyz', '/healthz', '/version', '/version/']) t.ok(allowsAnonymous(path), path)
  for (const path of ['/', '/metrics', '/api', '/livezx', '/readyz/etcd']) t.notOk(allowsAnonymous(path), path)
})
