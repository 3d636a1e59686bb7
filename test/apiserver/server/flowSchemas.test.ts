/** The FlowSchemas that a space shows say what the server does: each request is on the level that they would put it on. */
import fc from 'fast-check'
import t from 'tap'
import { GROUPS } from '../../../src/apiserver/auth/users.ts'
import { parseRequest, type RequestInfo } from '../../../src/apiserver/request/requestInfo.ts'
import { flowSchemas, priorityLevelConfigurations } from '../../../src/apiserver/server/flowSchemas.ts'
import { PRIORITY_LEVELS, priorityLevelOf } from '../../../src/apiserver/server/priorityLevels.ts'

interface ResourceRule {
  verbs: string[]
  apiGroups: string[]
  resources: string[]
  clusterScope?: boolean
  namespaces: string[]
}
interface Rule {
  subjects: { kind: string; group?: { name: string }; user?: { name: string } }[]
  resourceRules?: ResourceRule[]
  nonResourceRules?: { verbs: string[]; nonResourceURLs: string[] }[]
}
interface Spec {
  priorityLevelConfiguration: { name: string }
  matchingPrecedence: number
  rules: Rule[]
}
const SINCE = '2026-01-01T00:00:00Z'
const specs = flowSchemas(SINCE)
  .map(object => ({ name: object.metadata.name!, ...(object.spec as Spec) }))
  .sort((a, b) => a.matchingPrecedence - b.matchingPrecedence || (a.name < b.name ? -1 : 1))

const among = (list: string[], value: string): boolean => list.includes('*') || list.includes(value)

function matches(rule: Rule, user: { name: string; groups: string[] }, { verb, path, resource }: RequestInfo): boolean {
  const isSubject = rule.subjects.some(subject =>
    subject.kind === 'Group' ? user.groups.includes(subject.group!.name) : subject.user!.name === user.name,
  )
  if (!isSubject) return false
  if (resource === undefined)
    return (rule.nonResourceRules ?? []).some(each => among(each.verbs, verb) && among(each.nonResourceURLs, path))
  const name = resource.subresource === '' ? resource.resource : `${resource.resource}/${resource.subresource}`
  return (rule.resourceRules ?? []).some(
    each =>
      among(each.verbs, verb) &&
      among(each.apiGroups, resource.group) &&
      among(each.resources, name) &&
      (resource.namespace === '' ? each.clusterScope === true || each.namespaces.includes('*') : true),
  )
}

t.test('what they say is what happens', async () => {
  const name = fc.constantFrom('system:kube-controller-manager', 'system:kube-scheduler', 'system:node:n', 'ann')
  const groups = fc
    .subarray([GROUPS.masters, GROUPS.serviceAccounts, 'system:nodes', 'staff'])
    .chain(own => fc.constantFrom(GROUPS.authenticated, GROUPS.unauthenticated).map(last => [...own, last]))
  const path = fc.constantFrom(
    '/livez',
    '/readyz',
    '/healthz',
    '/version',
    '/apis',
    '/api/v1/nodes/n',
    '/api/v1/nodes/n/status',
    '/api/v1/nodes/n/proxy',
    '/api/v1/namespaces/ns/pods',
    '/apis/coordination.k8s.io/v1/namespaces/ns/leases/l',
    '/apis/example.org/v1/namespaces/ns/leases/l',
  )
  const method = fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE')
  fc.assert(
    fc.property(name, groups, path, method, (name, groups, path, method) => {
      const user = { name, groups }
      const info = parseRequest(method, path)
      const spec = specs.find(each => each.rules.some(rule => matches(rule, user, info)))
      return priorityLevelOf(user, info) === spec?.priorityLevelConfiguration.name
    }),
    { numRuns: 2000 },
  )
})

t.test('each level that they name is there, with the shares that count', async t => {
  const levels = priorityLevelConfigurations(SINCE)
  t.strictSame(levels.map(level => level.metadata.name).sort(), Object.keys(PRIORITY_LEVELS).sort())
  for (const spec of specs) t.ok(levels.some(level => level.metadata.name === spec.priorityLevelConfiguration.name))
  const low = levels.find(level => level.metadata.name === 'workload-low')
  t.match(low?.spec, { type: 'Limited', limited: { nominalConcurrencyShares: 100, lendablePercent: 90 } })
})
