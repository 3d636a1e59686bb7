/** Which names a CustomResourceDefinition gets, when others of its group want or have the same. */
import type { KubeObject } from '../object.ts'
import { type CrdNames, list, readNames, record, text } from './definition.ts'

export interface CrdCondition {
  type: 'NamesAccepted' | 'Established'
  status: 'True' | 'False'
  reason: string
  message: string
  /** Carried over from the CRD while the status of the condition is the same; absent when it changed. */
  lastTransitionTime?: string
}

/** `status.acceptedNames`; empty parts are left out. */
export interface AcceptedNames {
  plural: string
  singular?: string
  kind: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

/**
 * The names that `crd` may use and the conditions that say so. `others` are the remaining CRDs of its space; those of other
 * groups are ignored. A name that another CRD had accepted before stays with that CRD.
 */
export function namesConflicts(
  crd: KubeObject,
  others: readonly KubeObject[],
): { acceptedNames: AcceptedNames; conditions: CrdCondition[] } {
  const { resources, kinds } = usedNames(crd, others)
  const wanted = readNames(record(crd.spec).names)
  const had = readNames(record(crd.status).acceptedNames)
  const accepted: CrdNames = { ...had, categories: wanted.categories }
  let conflict: { reason: string; message: string } | undefined
  const take = (field: 'plural' | 'singular' | 'kind' | 'listKind', used: ReadonlySet<string>, reason: string) => {
    if (wanted[field] === had[field] || !used.has(wanted[field])) accepted[field] = wanted[field]
    else conflict = { reason, message: inUse(wanted[field]) }
  }
  take('plural', resources, 'PluralConflict')
  take('singular', resources, 'SingularConflict')
  const taken = wanted.shortNames.filter(name => !had.shortNames.includes(name) && resources.has(name))
  if (taken.length === 0) accepted.shortNames = wanted.shortNames
  else conflict = { reason: 'ShortNamesConflict', message: aggregate(taken.map(inUse)) }
  take('kind', kinds, 'KindConflict')
  take('listKind', kinds, 'ListKindConflict')
  return { acceptedNames: present(accepted), conditions: conditionsFor(crd, conflict) }
}

function conditionsFor(crd: KubeObject, conflict: { reason: string; message: string } | undefined): CrdCondition[] {
  const before = new Map(
    list(record(crd.status).conditions)
      .map(record)
      .map(condition => [text(condition.type), condition] as const),
  )
  const namesAccepted: CrdCondition = {
    type: 'NamesAccepted',
    ...(conflict === undefined
      ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { status: 'False', ...conflict }),
  }
  // once established, a CRD stays so: its instances exist
  const isEstablished = before.get('Established')?.status === 'True' || conflict === undefined
  const established: CrdCondition = {
    type: 'Established',
    ...(isEstablished
      ? { status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
      : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }),
  }
  return [namesAccepted, established].map(condition => {
    const old = before.get(condition.type)
    const since = old?.status === condition.status ? text(old.lastTransitionTime) : ''
    return since === '' ? condition : { ...condition, lastTransitionTime: since }
  })
}

function usedNames(crd: KubeObject, others: readonly KubeObject[]): { resources: Set<string>; kinds: Set<string> } {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  const group = record(crd.spec).group
  for (const other of others) {
    if (record(other.spec).group !== group || other.metadata.name === crd.metadata.name) continue
    const names = readNames(record(other.status).acceptedNames)
    for (const name of [names.plural, names.singular, ...names.shortNames]) resources.add(name)
    for (const kind of [names.kind, names.listKind]) kinds.add(kind)
  }
  resources.delete('')
  kinds.delete('')
  return { resources, kinds }
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
}

function aggregate(messages: readonly string[]): string {
  return messages.length === 1 ? messages[0]! : `[${messages.join(', ')}]`
}

function present(names: CrdNames): AcceptedNames {
  return {
    plural: names.plural,
    ...(names.singular && { singular: names.singular }),
    kind: names.kind,
    ...(names.listKind && { listKind: names.listKind }),
    ...(names.shortNames.length > 0 && { shortNames: names.shortNames }),
    ...(names.categories.length > 0 && { categories: names.categories }),
  }
}
