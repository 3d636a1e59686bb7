/** Which schema takes a request: as upstream's would, and no name that counts in one space only buys anything. */
import t from 'tap'
import type { UserInfo } from '../../../src/apiserver/auth/types.ts'
import { bootstrapLevels, bootstrapSchemas } from '../../../src/apiserver/flowcontrol/bootstrapConfiguration.ts'
import { readFlowSchema, readPriorityLevel } from '../../../src/apiserver/flowcontrol/flowConfiguration.ts'
import { FlowControl } from '../../../src/apiserver/flowcontrol/flowControl.ts'
import { covers } from '../../../src/apiserver/flowcontrol/flowMatching.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { SteppedClock } from './steppedClock.ts'

const KNOWN = 'system:authenticated'
const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', KNOWN]
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/ns/leases/l'
const PODS = '/api/v1/namespaces/ns/pods'
const HOME = 'authentication.kubernetes.io/cluster-name'

const TREE: Record<string, string[]> = {
  root: ['root'],
  one: ['root', 'one'],
  two: ['root', 'two'],
  below: ['root', 'one', 'below'],
  here: ['root', 'here'],
  mailbox: ['root', 'one', 'mailbox'],
}

const control = new FlowControl({
  clock: new SteppedClock(),
  seats: 600,
  root: 'root',
  isSyncer: ({ extra }) => extra?.[HOME]?.[0] === 'mailbox',
  lineageOf: space => TREE[space] ?? [],
})
const schemas = bootstrapSchemas().map(readFlowSchema)
const levels = bootstrapLevels().map(readPriorityLevel)
control.configure(schemas, levels)

t.test('requests are where a kube-apiserver has them', async t => {
  const manager = { name: 'system:kube-controller-manager', groups: [KNOWN] }
  const scheduler = { name: 'system:kube-scheduler', groups: [KNOWN] }
  const account = (namespace: string, home: string): UserInfo => ({
    name: `system:serviceaccount:${namespace}:a`,
    groups: ACCOUNTS,
    extra: { [HOME]: [home] },
  })
  const node = { name: 'system:node:n', groups: ['system:nodes', KNOWN] }
  const ann = { name: 'ann', groups: ['staff', KNOWN] }
  const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
  const scoped = { 'authentication.kcp.io/scopes': ['cluster:x'] }
  const forged = { name: 'eve', groups: ['system:orrery:syncers', KNOWN] }
  const cases: [UserInfo, string, string, string][] = [
    [{ name: 'admin', groups: ['system:masters', KNOWN] }, 'DELETE', PODS, 'exempt'],
    [{ name: 'system:node:n', groups: ['system:nodes', 'system:masters'] }, 'GET', PODS, 'exempt'],
    [anonymous, 'GET', '/livez', 'probes'],
    [anonymous, 'GET', '/readyz?verbose', 'probes'],
    [ann, 'GET', '/healthz', 'probes'],
    [ann, 'POST', '/healthz', 'global-default'],
    [
      { name: 'host:system:kube-aggregator', groups: ['system:orrery:host-probes', KNOWN] },
      'GET',
      '/apis/a/v1',
      'probes',
    ],
    [{ ...ann, groups: ['system:orrery:host-probes'], extra: scoped }, 'GET', '/apis/a/v1', 'catch-all'],
    [ann, 'GET', '/readyz/etcd', 'global-default'],
    [anonymous, 'GET', PODS, 'global-default'],
    [{ name: 'nobody', groups: [] }, 'GET', PODS, 'catch-all'],
    [manager, 'GET', LEASE, 'system-leader-election'],
    [scheduler, 'PUT', LEASE, 'system-leader-election'],
    [account('kube-system', 'root'), 'PUT', LEASE, 'system-leader-election'],
    [account('kube-system', 'other'), 'PUT', LEASE, 'service-accounts'],
    [{ ...manager, extra: scoped }, 'GET', LEASE, 'global-default'],
    [{ ...node, extra: scoped }, 'PATCH', '/api/v1/nodes/n/status', 'global-default'],
    [manager, 'PATCH', LEASE, 'kube-controller-manager'],
    [manager, 'GET', '/apis/coordination.k8s.io/v1/leases', 'kube-controller-manager'],
    [scheduler, 'POST', `${PODS}/p/binding`, 'kube-scheduler'],
    [account('kube-system', 'root'), 'GET', PODS, 'kube-system-service-accounts'],
    [account('kube-system', 'other'), 'GET', PODS, 'service-accounts'],
    [account('kube-systems', 'root'), 'GET', PODS, 'service-accounts'],
    [account('default', 'mailbox'), 'GET', PODS, 'orrery-syncers'],
    [account('default', 'mailbox'), 'GET', '/services/stream/clusters/root', 'orrery-syncers'],
    [forged, 'GET', PODS, 'global-default'],
    [node, 'PATCH', '/api/v1/nodes/n/status', 'system-node-high'],
    [node, 'GET', '/api/v1/nodes/n', 'system-node-high'],
    [node, 'PUT', LEASE, 'system-node-high'],
    [node, 'GET', '/api/v1/nodes/n/proxy', 'system-nodes'],
    [node, 'GET', '/apis', 'system-nodes'],
    [ann, 'GET', '/services/stream/clusters/root', 'global-default'],
  ]
  for (const [user, method, url, schema] of cases) {
    const { spec } = control.flowOf(user, parseRequest(method, url), 'space').schema
    t.equal(spec.name, schema, `${user.name} ${method} ${url}`)
  }
})

t.test('flows of the root are told apart by user or namespace', async t => {
  const ann = { name: 'ann', groups: [KNOWN] }
  const flow = (user: UserInfo, space: string, url = PODS) => control.flowOf(user, parseRequest('GET', url), space)
  t.equal(flow(ann, 'root'), flow(ann, 'root'), 'and worked out once')
  t.notSame(flow(ann, 'root').hand, flow(ann, '*').hand)
  t.notSame(flow(ann, 'root').hand, flow({ ...ann, name: 'bob' }, 'root').hand)
  const manager = { name: 'system:kube-scheduler', groups: [KNOWN] }
  t.notSame(flow(manager, 'root').hand, flow(manager, 'root', '/api/v1/namespaces/b/pods').hand)
})

t.test(
  'a tenant has one hand of queues, whatever users and spaces are invented, and its flows take turns in it',
  async t => {
    const flow = (user: UserInfo, space: string) => control.flowOf(user, parseRequest('GET', PODS), space)
    const known = (name: string, home?: string): UserInfo => ({
      name,
      groups: [KNOWN],
      ...(home !== undefined && { extra: { [HOME]: [home] } }),
    })
    const ann = flow(known('ann'), 'one')
    t.same(flow(known('invented'), 'one').hand, ann.hand)
    t.same(flow(known('ann'), 'below').hand, ann.hand)
    t.same(flow(known('account', 'below'), 'root').hand, ann.hand, 'also where it is a guest')
    t.same(flow(known('account', 'one'), 'two').hand, ann.hand)
    t.notSame(flow(known('ann'), 'two').hand, ann.hand)
    t.notSame(flow(known('account', 'gone'), 'root').hand, ann.hand)
    t.same(ann.path, ['one', '', 'ann'])
    t.same(flow(known('ann'), 'below').path, ['one', 'below', '', 'ann'])
    t.notSame(flow(known('a', 'here'), 'one').path, flow(known('a', 'one'), 'one').path)
    t.notSame(flow(known('syncer', 'mailbox'), 'root').hand, ann.hand, 'a syncer keeps its own')
  },
)

t.test('rules', async t => {
  const rule = (part: object) => [{ subjects: [], resourceRules: [], urlRules: [], ...part }]
  const ofPods = {
    verbs: ['get'],
    groups: [''],
    resources: ['pods', 'pods/log'],
    namespaces: ['a'],
    clusterScope: false,
  }
  const matches = (part: object, method: string, url: string) => covers(rule(part), parseRequest(method, url))
  const pods = { resourceRules: [ofPods] }
  t.ok(matches(pods, 'GET', '/api/v1/namespaces/a/pods/p'))
  t.ok(matches(pods, 'GET', '/api/v1/namespaces/a/pods/p/log'))
  t.notOk(matches(pods, 'GET', '/api/v1/namespaces/a/pods/p/status'))
  t.notOk(matches(pods, 'GET', '/api/v1/namespaces/b/pods/p'))
  t.notOk(matches(pods, 'DELETE', '/api/v1/namespaces/a/pods/p'))
  t.notOk(matches(pods, 'GET', '/apis/apps/v1/namespaces/a/pods/p'))
  t.notOk(matches(pods, 'GET', '/api'))
  const urls = { urlRules: [{ verbs: ['get'], urls: ['/healthz', '/openapi/*'] }] }
  t.ok(matches(urls, 'GET', '/openapi/v3/api'))
  t.notOk(matches(urls, 'GET', '/openapis'))
  t.notOk(matches(urls, 'GET', '/healthz/ping'))
})
