/** Which level a request is on: who asks decides, and for a few what is asked. */
import t from 'tap'
import type { UserInfo } from '../../../src/apiserver/auth/types.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { PRIORITY_LEVELS, priorityLevelOf } from '../../../src/apiserver/server/priorityLevels.ts'

const KNOWN = 'system:authenticated'
const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:ns', KNOWN]
const CORE = '/api/v1/namespaces/kube-system'
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/ns/leases/l'
const PODS = '/api/v1/namespaces/ns/pods'

t.test('requests are on the level where a kube-apiserver has them', async t => {
  const manager = { name: 'system:kube-controller-manager', groups: [KNOWN] }
  const scheduler = { name: 'system:kube-scheduler', groups: [KNOWN] }
  const central = (name: string) => ({ name: `system:serviceaccount:kube-system:${name}`, groups: ACCOUNTS })
  const account = { name: 'system:serviceaccount:ns:syncer', groups: ACCOUNTS }
  const node = { name: 'system:node:n', groups: ['system:nodes', KNOWN] }
  const ann = { name: 'ann', groups: ['staff', KNOWN] }
  const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
  const admin = { name: 'admin', groups: ['system:masters', KNOWN] }
  const scoped = { 'authentication.kcp.io/scopes': ['cluster:x'] }
  const cases: [UserInfo, string, string, string][] = [
    [admin, 'DELETE', PODS, 'exempt'],
    [{ name: 'system:node:n', groups: ['system:nodes', 'system:masters'] }, 'GET', PODS, 'exempt'],
    [anonymous, 'GET', '/livez', 'exempt'],
    [anonymous, 'GET', '/readyz?verbose', 'exempt'],
    [ann, 'GET', '/healthz', 'exempt'],
    [ann, 'POST', '/healthz', 'global-default'],
    [ann, 'GET', '/readyz/store', 'global-default'],
    [anonymous, 'GET', '/version', 'catch-all'],
    [anonymous, 'GET', PODS, 'catch-all'],
    [{ name: 'nobody', groups: [] }, 'GET', PODS, 'catch-all'],

    [manager, 'GET', LEASE, 'leader-election'],
    [scheduler, 'PUT', LEASE, 'leader-election'],
    [{ ...manager, extra: scoped }, 'GET', LEASE, 'global-default'],
    [{ ...node, extra: scoped }, 'PATCH', '/api/v1/nodes/n/status', 'global-default'],
    [central('deployer'), 'GET', LEASE, 'workload-low'],
    [manager, 'PUT', `${CORE}/endpoints/e`, 'workload-high'],
    [manager, 'GET', `${CORE}/configmaps/c`, 'workload-high'],
    [manager, 'PATCH', LEASE, 'workload-high'],
    [manager, 'DELETE', LEASE, 'workload-high'],
    [manager, 'GET', '/apis/coordination.k8s.io/v1/leases', 'workload-high'],
    [manager, 'PUT', '/apis/example.org/v1/namespaces/ns/leases/l', 'workload-high'],
    [account, 'PUT', LEASE, 'workload-low'],
    [ann, 'PUT', LEASE, 'global-default'],

    [node, 'PATCH', '/api/v1/nodes/n/status', 'node-high'],
    [node, 'GET', '/api/v1/nodes/n', 'node-high'],
    [node, 'PUT', LEASE, 'node-high'],
    [node, 'GET', '/api/v1/nodes/n/proxy', 'system'],
    [node, 'GET', PODS, 'system'],
    [node, 'GET', '/apis', 'system'],

    [manager, 'GET', PODS, 'workload-high'],
    [scheduler, 'POST', `${PODS}/p/binding`, 'workload-high'],
    [manager, 'GET', '/apis', 'workload-high'],
    [account, 'POST', PODS, 'workload-low'],
    [account, 'GET', '/clusters/root:mailbox/api', 'workload-low'],
    [{ name: 'system:serviceaccount:kube-systems:x', groups: ACCOUNTS }, 'GET', PODS, 'workload-low'],
    [ann, 'GET', PODS, 'global-default'],
    [ann, 'GET', '/services/stream/clusters/root', 'global-default'],
  ]
  for (const [user, method, url, level] of cases) {
    t.equal(priorityLevelOf(user, parseRequest(method, url)), level, `${user.name} ${method} ${url}`)
  }
  t.same([...new Set(cases.map(([, , , level]) => level))].sort(), Object.keys(PRIORITY_LEVELS).sort(), 'each is used')
})
