/** Which names a CustomResourceDefinition gets, when others of its group want or have the same. */
import { record, records, str } from '../fields.ts'
import { joinedAsGo } from '../go/goPrint.ts'
import type { KubeObject } from '../object.ts'
import type { CrdCondition } from './conditions.ts'
import { type CrdNames, readNames } from './definition.ts'

/** `status.acceptedNames`; empty parts are left out. */
export interface AcceptedNames {
  plural: string
  singular?: string
  kind: string
  listKind?: string
  shortNames?: string[]
  categories?: string[]
}

/** The names that the CRDs of one group and space have. */
export class NamesInUse {
  readonly #holders = { resource: new Map<string, Set<string>>(), kind: new Map<string, Set<string>>() }
  readonly #held = new Map<string, CrdNames>()

  /** Replaces what the CRD of that name holds. */
  hold(crd: string, accepted: unknown): void {
    this.release(crd)
    const names = readNames(accepted)
    this.#held.set(crd, names)
    for (const [space, name] of allOf(names)) {
      const holders = this.#holders[space].get(name)
      if (holders) holders.add(crd)
      else this.#holders[space].set(name, new Set([crd]))
    }
  }

  release(crd: string): void {
    const names = this.#held.get(crd)
    if (names === undefined) return
    this.#held.delete(crd)
    for (const [space, name] of allOf(names)) {
      const holders = this.#holders[space].get(name)
      holders?.delete(crd)
      if (holders?.size === 0) this.#holders[space].delete(name)
    }
  }

  /** Whether a CRD other than `crd` has the name. */
  isTaken(space: 'resource' | 'kind', name: string, crd: string): boolean {
    const holders = this.#holders[space].get(name)
    return holders !== undefined && (holders.size > 1 || !holders.has(crd))
  }
}

function allOf(names: CrdNames): ['resource' | 'kind', string][] {
  const resources = [names.plural, names.singular, ...names.shortNames].map(name => ['resource', name] as const)
  const kinds = [names.kind, names.listKind].map(name => ['kind', name] as const)
  return [...resources, ...kinds].filter(([, name]) => name !== '') as ['resource' | 'kind', string][]
}

/**
 * The names that `crd` may use and the conditions that say so. `others` are the remaining CRDs of its space (those of other
 * groups are ignored) or the names of its group. A name that another CRD had accepted before stays with that CRD.
 */
export function namesConflicts(
  crd: KubeObject,
  others: readonly KubeObject[] | NamesInUse,
): { acceptedNames: AcceptedNames; conditions: CrdCondition[] } {
  const names = others instanceof NamesInUse ? others : namesOf(crd, others)
  const self = crd.metadata.name ?? ''
  const wanted = readNames(record(crd.spec).names)
  const had = readNames(record(crd.status).acceptedNames)
  const accepted: CrdNames = { ...had, categories: wanted.categories }
  let conflict: { reason: string; message: string } | undefined
  const take = (field: 'plural' | 'singular' | 'kind' | 'listKind', space: 'resource' | 'kind', reason: string) => {
    if (wanted[field] === had[field] || !names.isTaken(space, wanted[field], self)) accepted[field] = wanted[field]
    else conflict = { reason, message: inUse(wanted[field]) }
  }
  take('plural', 'resource', 'PluralConflict')
  take('singular', 'resource', 'SingularConflict')
  const taken = wanted.shortNames.filter(
    name => !had.shortNames.includes(name) && names.isTaken('resource', name, self),
  )
  if (taken.length === 0) accepted.shortNames = wanted.shortNames
  else conflict = { reason: 'ShortNamesConflict', message: joinedAsGo(taken.map(inUse)) }
  take('kind', 'kind', 'KindConflict')
  take('listKind', 'kind', 'ListKindConflict')
  return { acceptedNames: present(accepted), conditions: conditionsFor(crd, conflict) }
}

function conditionsFor(crd: KubeObject, conflict: { reason: string; message: string } | undefined): CrdCondition[] {
  const namesAccepted: CrdCondition = {
    type: 'NamesAccepted',
    ...(conflict === undefined
      ? { status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
      : { status: 'False', ...conflict }),
  }
  const wasEstablished = records(crd.status, 'conditions').some(
    condition => str(condition.type) === 'Established' && condition.status === 'True',
  )
  // once established, a CRD stays so: its instances exist
  const established: CrdCondition = {
    type: 'Established',
    ...(wasEstablished || conflict === undefined
      ? { status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
      : { status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }),
  }
  return [namesAccepted, established]
}

function namesOf(crd: KubeObject, others: readonly KubeObject[]): NamesInUse {
  const names = new NamesInUse()
  const group = record(crd.spec).group
  for (const other of others) {
    if (record(other.spec).group === group) names.hold(other.metadata.name ?? '', record(other.status).acceptedNames)
  }
  return names
}

function inUse(name: string): string {
  return `${JSON.stringify(name)} is already in use`
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
