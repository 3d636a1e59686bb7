/** FlowSchemas and PriorityLevelConfigurations as what they mean. Stored objects have passed validation. */
import type { Condition } from '../../apimachinery/conditions.ts'
import { type Fields, has, list, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Portion } from './borrowing.ts'
import type { Queuing } from './queueSet.ts'

export const FLOW_GROUP = 'flowcontrol.apiserver.k8s.io'
export const FLOW_SCHEMAS = { group: FLOW_GROUP, resource: 'flowschemas' } as const
export const PRIORITY_LEVELS = { group: FLOW_GROUP, resource: 'prioritylevelconfigurations' } as const

export type Subject =
  | { readonly kind: 'User'; readonly name: string }
  | { readonly kind: 'Group'; readonly name: string }
  | { readonly kind: 'ServiceAccount'; readonly namespace: string; readonly name: string }

export interface ResourceRule {
  readonly verbs: readonly string[]
  readonly groups: readonly string[]
  readonly resources: readonly string[]
  readonly namespaces: readonly string[]
  readonly clusterScope: boolean
}

export interface UrlRule {
  readonly verbs: readonly string[]
  readonly urls: readonly string[]
}

export interface FlowRule {
  readonly subjects: readonly Subject[]
  readonly resourceRules: readonly ResourceRule[]
  readonly urlRules: readonly UrlRule[]
}

export interface FlowSchemaSpec {
  readonly name: string
  readonly uid: string
  readonly level: string
  /** The lowest one that matches counts, then the name. */
  readonly precedence: number
  readonly distinguishes: 'user' | 'namespace' | undefined
  readonly rules: readonly FlowRule[]
}

export interface PriorityLevelSpec extends Portion {
  readonly name: string
  readonly uid: string
  readonly exempt: boolean
  /** Absent: whoever finds no seat is refused. */
  readonly queuing: Queuing | undefined
}

export function readFlowSchema({ metadata, spec }: KubeObject): FlowSchemaSpec {
  const by = str(spec, 'distinguisherMethod', 'type')
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    level: str(spec, 'priorityLevelConfiguration', 'name'),
    precedence: num(spec, 'matchingPrecedence'),
    distinguishes: by === 'ByUser' ? 'user' : by === 'ByNamespace' ? 'namespace' : undefined,
    rules: records(spec, 'rules').map(rule => ({
      subjects: records(rule, 'subjects').flatMap(readSubject),
      resourceRules: records(rule, 'resourceRules').map(each => ({
        verbs: strings(each, 'verbs'),
        groups: strings(each, 'apiGroups'),
        resources: strings(each, 'resources'),
        namespaces: strings(each, 'namespaces'),
        clusterScope: each.clusterScope === true,
      })),
      urlRules: records(rule, 'nonResourceRules').map(each => ({
        verbs: strings(each, 'verbs'),
        urls: list(each, 'nonResourceURLs').map(String),
      })),
    })),
  }
}

function readSubject(subject: Fields): Subject[] {
  const kind = str(subject, 'kind')
  if (kind === 'User') return [{ kind, name: str(subject, 'user', 'name') }]
  if (kind === 'Group') return [{ kind, name: str(subject, 'group', 'name') }]
  if (kind !== 'ServiceAccount') return []
  const { serviceAccount } = subject
  return [{ kind, namespace: str(serviceAccount, 'namespace'), name: str(serviceAccount, 'name') }]
}

export function readPriorityLevel({ metadata, spec }: KubeObject): PriorityLevelSpec {
  const exempt = str(spec, 'type') === 'Exempt'
  const portion = record(spec, exempt ? 'exempt' : 'limited')
  const queuing = record(portion, 'limitResponse', 'queuing')
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    exempt,
    shares: num(portion, 'nominalConcurrencyShares'),
    lendablePercent: num(portion, 'lendablePercent'),
    ...(has(portion, 'borrowingLimitPercent') && { borrowingLimitPercent: num(portion, 'borrowingLimitPercent') }),
    queuing:
      str(portion, 'limitResponse', 'type') === 'Queue'
        ? {
            queues: num(queuing, 'queues'),
            handSize: num(queuing, 'handSize'),
            lengthLimit: num(queuing, 'queueLengthLimit'),
          }
        : undefined,
  }
}

/** Condition of a FlowSchema about its level, but for the time. */
export function danglingCondition(level: string, isThere: boolean): Condition {
  return {
    type: 'Dangling',
    status: isThere ? 'False' : 'True',
    reason: isThere ? 'Found' : 'NotFound',
    message:
      `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ` +
      (isThere ? 'and it exists' : 'but there is no such object'),
  }
}
