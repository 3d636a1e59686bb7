import t from 'tap'
import { forbidden, forbiddenMessage } from '../../../src/apiserver/auth/forbidden.ts'

const user = { name: 'bob', groups: [] }
const pods = { group: '', version: 'v1', resource: 'pods', subresource: '', namespace: 'default', name: '' }

t.test('refusals read as those of kube-apiserver', async t => {
  const list = { user, space: 's', verb: 'list', resource: pods, path: '' }
  t.equal(forbiddenMessage(list), 'User "bob" cannot list resource "pods" in API group "" in the namespace "default"')
  t.equal(forbidden(list).message, `pods is forbidden: ${forbiddenMessage(list)}`)
  const log = { ...list, verb: 'get', resource: { ...pods, subresource: 'log', name: 'x' } }
  const status = forbidden(log, 'RBAC: role.rbac.authorization.k8s.io "r" not found').toStatus()
  t.equal(
    status.message,
    'pods "x" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "default": ' +
      'RBAC: role.rbac.authorization.k8s.io "r" not found',
  )
  t.same(status.details, { name: 'x', kind: 'pods' })
  const deployments = { ...pods, group: 'apps', resource: 'deployments', namespace: '' }
  t.equal(
    forbidden({ ...list, resource: deployments }).message,
    'deployments.apps is forbidden: User "bob" cannot list resource "deployments" in API group "apps" at the cluster scope',
  )
})

t.test('paths', async t => {
  const status = forbidden({ user, space: 's', verb: 'get', path: '/foo' }).toStatus()
  t.equal(status.message, 'forbidden: User "bob" cannot get path "/foo"')
  t.same(status.details, {})
  t.equal(status.code, 403)
})
