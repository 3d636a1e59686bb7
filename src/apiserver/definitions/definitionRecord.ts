/** Retained facts about a CustomResourceDefinition: few, as there may be very many. */
import { conditionsOf, mergeConditions } from '../../apimachinery/conditions.ts'
import { type AcceptedNames, type CrdCondition, namesConflicts, ownConditions } from '../../apimachinery/crd/crd.ts'
import type { NamesInUse } from '../../apimachinery/crd/names.ts'
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

/** Status of a CRD, and whether its kinds are served. */
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
  const { isChanged } = mergeConditions(conditionsOf(definition), conditions, '')
  return !isChanged && equalJson(status.acceptedNames, acceptedNames)
}

/** Remaining work for a CRD. */
export function workFor(definition: KubeObject, verdict: Verdict): 'status' | 'cleanUp' | undefined {
  if (!verdict.isDeleting) return saysSo(definition, verdict) ? undefined : 'status'
  return definition.metadata.finalizers?.includes(CLEANUP_FINALIZER) ? 'cleanUp' : undefined
}
