/** What the server remembers of a CustomResourceDefinition: little, as there may be very many. */
import { type AcceptedNames, type CrdCondition, namesConflicts, ownConditions } from '../../apimachinery/crd/crd.ts'
import type { NamesInUse } from '../../apimachinery/crd/names.ts'
import { objects } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'

/** Kept until the last instance is gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io'

export interface DefinitionRecord {
  group: string
  /** The same text means the same kinds: nothing needs to be served anew. */
  signature: string
  /** Waits for a name that another CRD has. */
  isWaiting: boolean
}

/** What a CRD's status has to say, and whether its kinds are served. */
export interface Verdict {
  acceptedNames: AcceptedNames
  conditions: CrdCondition[]
  isEstablished: boolean
  isDeleting: boolean
  record: DefinitionRecord
}

export function judge(definition: KubeObject, names: NamesInUse): Verdict {
  const { acceptedNames, conditions } = namesConflicts(definition, names)
  const holds = (type: string): boolean => conditions.some(c => c.type === type && c.status === 'True')
  const isEstablished = holds('Established')
  const { uid = '', generation = 1, deletionTimestamp } = definition.metadata
  const isDeleting = deletionTimestamp !== undefined
  const spec = isRecord(definition.spec) ? definition.spec : {}
  return {
    acceptedNames,
    conditions: [...conditions, ...ownConditions(definition)],
    isEstablished,
    isDeleting,
    record: {
      group: String(spec.group ?? ''),
      signature: JSON.stringify([uid, generation, isEstablished, isDeleting, acceptedNames]),
      isWaiting: !holds('NamesAccepted'),
    },
  }
}

/** Whether the stored status says it already. */
function saysSo(definition: KubeObject, { acceptedNames, conditions }: Verdict): boolean {
  const status = isRecord(definition.status) ? definition.status : {}
  const known = objects(status.conditions)
  return (
    equalJson(status.acceptedNames, acceptedNames) &&
    conditions.every(c =>
      known.some(k => k.type === c.type && k.status === c.status && k.reason === c.reason && k.message === c.message),
    )
  )
}

/** What remains to be done for a CRD. */
export function workFor(definition: KubeObject, verdict: Verdict): 'status' | 'cleanUp' | undefined {
  if (!verdict.isDeleting) return saysSo(definition, verdict) ? undefined : 'status'
  return definition.metadata.finalizers?.includes(CLEANUP_FINALIZER) ? 'cleanUp' : undefined
}

/** `before` with `now` in it; `lastTransitionTime` moves only when a condition's status does. */
export function mergeConditions(before: unknown, now: readonly CrdCondition[], time: string): CrdCondition[] {
  const merged = Array.isArray(before) ? (before.filter(isRecord) as unknown as CrdCondition[]) : []
  const result = [...merged]
  for (const condition of now) {
    const at = result.findIndex(other => other.type === condition.type)
    const old = result[at]
    const since = old?.status === condition.status ? (old.lastTransitionTime ?? time) : time
    const next = { lastTransitionTime: since, ...withoutTime(condition) }
    if (at < 0) result.push(next)
    else result[at] = next
  }
  return result
}

function withoutTime({ lastTransitionTime: _, ...condition }: CrdCondition): CrdCondition {
  return condition
}
