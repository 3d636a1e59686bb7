/**
 * Managers of one object: the decoded `metadata.managedFields`. One manager is one entry per name, operation, sub-resource
 * and, for updates, API version.
 */
import type { ManagedFieldsEntry } from '../object.ts'
import { atOnce, type Steps } from '../steps.ts'
import { type FieldSet, fromFieldsV1InSteps, isEmptySet, toFieldsV1InSteps, unionAll } from './fieldSet.ts'
import { withoutUnownable } from './typed.ts'

export interface Manager {
  readonly name: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
  /** RFC 3339, or undefined when the entry has none. */
  readonly time: string | undefined
  readonly set: FieldSet
  /** The entry that `set` was read from and still agrees with; spares encoding it again. */
  readonly entry?: ManagedFieldsEntry
}

/** Updates of more managers than this are merged, oldest first, into one. */
export const MAX_UPDATE_MANAGERS = 10
const ANCIENT_CHANGES = 'ancient-changes'

/** @throws Error when an entry is not a valid claim on fields */
export function decodeManagers(entries: readonly ManagedFieldsEntry[]): Manager[] {
  return atOnce(decodeInSteps(entries))
}

/** The same in steps. */
export function* decodeInSteps(entries: readonly ManagedFieldsEntry[]): Steps<Manager[]> {
  const managers = new Map<string, Manager>()
  for (const [i, entry] of entries.entries()) {
    if (entry.operation !== 'Apply' && entry.operation !== 'Update')
      throw new Error('operation must be `Apply` or `Update`')
    if (!entry.apiVersion) throw new Error('apiVersion must not be empty')
    if (entry.fieldsType !== 'FieldsV1')
      throw new Error(
        entry.fieldsType
          ? `invalid fieldsType ${JSON.stringify(entry.fieldsType)} in managed fields entry ${i}`
          : `missing fieldsType in managed fields entry ${i}`,
      )
    const read = yield* fromFieldsV1InSteps(entry.fieldsV1 ?? {})
    const set = withoutUnownable(read)
    const manager: Manager = {
      name: entry.manager ?? '',
      operation: entry.operation,
      apiVersion: entry.apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      set,
      ...(set === read && { entry }),
    }
    managers.set(identityOf(manager), manager)
    yield
  }
  return [...managers.values()].filter(manager => !isEmptySet(manager.set))
}

/** The entries in upstream's order: appliers first, then by time, name, version and sub-resource; `undefined` for none. */
export function* encodeManagers(managers: readonly Manager[]): Steps<ManagedFieldsEntry[] | undefined> {
  const kept = capUpdates(managers.filter(manager => !isEmptySet(manager.set)))
  if (kept.length === 0) return undefined
  const entries: ManagedFieldsEntry[] = []
  for (const manager of sortedManagers(kept, manager => manager)) entries.push(yield* encode(manager))
  return entries
}

/** Managers in upstream's order. */
export function sortedManagers<T>(all: readonly T[], of: (each: T) => Omit<Manager, 'set'>): T[] {
  return all.length === 1 ? [...all] : all.toSorted((a, b) => inOrder(of(a), of(b)))
}

export function sameManager(a: Omit<Manager, 'set' | 'time'>, b: Omit<Manager, 'set' | 'time'>): boolean {
  return (
    a.name === b.name &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === 'Apply' || a.apiVersion === b.apiVersion)
  )
}

/** A text that is the same for the same manager. */
function identityOf({ name, operation, subresource, apiVersion }: Manager): string {
  return JSON.stringify([name, operation, subresource, operation === 'Apply' ? '' : apiVersion])
}

/** The manager with another set; the same object when the set is the same. */
export function withSet(manager: Manager, set: FieldSet): Manager {
  if (set === manager.set) return manager
  const { entry: _entry, ...rest } = manager
  return { ...rest, set }
}

function* encode(manager: Manager): Steps<ManagedFieldsEntry> {
  const { entry } = manager
  if (entry !== undefined && entry.time === manager.time) return entry
  return {
    manager: manager.name,
    operation: manager.operation,
    apiVersion: manager.apiVersion,
    ...(manager.time !== undefined && { time: manager.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: yield* toFieldsV1InSteps(manager.set),
    ...(manager.subresource !== '' && { subresource: manager.subresource }),
  }
}

function inOrder(a: Omit<Manager, 'set'>, b: Omit<Manager, 'set'>): number {
  return (
    compareText(a.operation, b.operation) ||
    secondsOf(a) - secondsOf(b) ||
    compareText(a.name, b.name) ||
    compareText(a.apiVersion, b.apiVersion) ||
    compareText(a.subresource, b.subresource)
  )
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1
}

function secondsOf(manager: Pick<Manager, 'time'>): number {
  const ms = manager.time === undefined ? Number.NaN : Date.parse(manager.time)
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : Math.floor(ms / 1000)
}

/** Merges the oldest updates of a version with each other until few enough managers are left. */
function capUpdates(managers: readonly Manager[]): readonly Manager[] {
  let count = managers.filter(manager => manager.operation === 'Update').length
  if (count <= MAX_UPDATE_MANAGERS) return managers
  const kept = new Set(managers)
  const oldestFirst = managers.filter(manager => manager.operation === 'Update').toSorted(inOrder)
  const merged = new Map<string, Manager[]>()
  for (const manager of oldestFirst) {
    if (count <= MAX_UPDATE_MANAGERS) break
    const kin = merged.get(manager.apiVersion)
    if (kin === undefined) {
      merged.set(manager.apiVersion, [manager])
      continue
    }
    kin.push(manager)
    count--
  }
  for (const kin of merged.values()) {
    if (kin.length === 1) continue
    for (const manager of kin) kept.delete(manager)
    const { entry: _entry, ...newest } = kin.at(-1)!
    kept.add({ ...newest, name: ANCIENT_CHANGES, subresource: '', set: unionAll(kin.map(({ set }) => set)) })
  }
  return [...kept]
}
