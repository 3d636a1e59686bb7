/**
 * Without fairness: so many requests at a time that read, so many that change, and whoever comes beyond is refused. Those of system:masters
 * always get in. In the form of levels and schemas, which the API does not show.
 * @see https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ (--enable-priority-and-fairness)
 */
import { GROUPS } from '../auth/users.ts'
import type { FlowRule, FlowSchemaSpec, PriorityLevelSpec, Subject } from './flowConfiguration.ts'
import type { FlowControl } from './flowControl.ts'

const group = (name: string): Subject => ({ kind: 'Group', name })

/** Nothing of it has a uid: there are no objects that could be named to a client. */
function schema(
  name: string,
  precedence: number,
  [level, subjects, verbs]: [string, Subject[], string[]],
): FlowSchemaSpec {
  const everything = { groups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }
  const rule: FlowRule = {
    subjects,
    resourceRules: [{ verbs, ...everything }],
    urlRules: [{ verbs, urls: ['*'] }],
  }
  return { name, uid: '', level, precedence, distinguishes: undefined, rules: [rule] }
}

function level(name: string, shares: number, exempt = false): PriorityLevelSpec {
  return { name, uid: '', exempt, shares, lendablePercent: 0, borrowingLimitPercent: 0, queuing: undefined }
}

const READING = ['get', 'list', 'watch', 'head']

/** To be called once, instead of obeying FlowSchemas. */
export function countOnly(flowControl: FlowControl, limits: { reading: number; mutating: number }): void {
  const everybody = [group('*')]
  const schemas = [
    schema('exempt', 1, ['exempt', [group(GROUPS.masters)], ['*']]),
    schema('readOnly', 2, ['readOnly', everybody, READING]),
    schema('catch-all', 3, ['mutating', everybody, ['*']]),
  ]
  const levels = [level('exempt', 0, true), level('readOnly', limits.reading), level('mutating', limits.mutating)]
  flowControl.configure(schemas, levels)
}
