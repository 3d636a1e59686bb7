/**
 * The usual update, without reading who claims what: its manager changes values of fields that are its own already, and nobody
 * else's. Then all claims stay as they are, but for its time.
 */
import type { FieldsV1, ManagedFieldsEntry } from '../object.ts'
import { isRecord } from '../object.ts'
import type { FieldSet } from './fieldSet.ts'
import { MAX_UPDATE_MANAGERS, type Manager, sameManager, sortedManagers } from './managers.ts'
import { isUnownable } from './typed.ts'

/**
 * The entries after an update by `own` that changes `changed` and makes and removes nothing; `undefined`: not so simple. Then
 * they have to be read.
 */
export function ownChanges(
  entries: readonly ManagedFieldsEntry[],
  own: Omit<Manager, 'set' | 'time'>,
  changed: FieldSet,
  now: string,
): ManagedFieldsEntry[] | undefined {
  if (entries.length > MAX_UPDATE_MANAGERS) return undefined
  let mine: ManagedFieldsEntry | undefined
  const others: ManagedFieldsEntry[] = []
  for (const entry of entries) {
    if (!isPlain(entry)) return undefined
    if (others.some(other => sameManager(idOf(other), idOf(entry)))) return undefined
    if (!sameManager(idOf(entry), own)) {
      if (holdsAny(entry.fieldsV1!, changed)) return undefined
      others.push(entry)
    } else if (mine !== undefined || !holdsAll(entry.fieldsV1!, changed)) return undefined
    else mine = entry
  }
  if (mine === undefined) return undefined
  const { fieldsType, fieldsV1 } = mine as Required<ManagedFieldsEntry>
  const { name: manager, operation, apiVersion, subresource } = own
  const renewed: ManagedFieldsEntry = { manager, operation, apiVersion, time: now, fieldsType, fieldsV1 }
  if (subresource !== '') renewed.subresource = subresource
  return sortedManagers([...others, renewed], idOf)
}

/** It claims something, and nothing that would be taken out of it. */
function isPlain(entry: ManagedFieldsEntry): boolean {
  const { operation, apiVersion, fieldsType, fieldsV1 } = entry
  if ((operation !== 'Update' && operation !== 'Apply') || !apiVersion || fieldsType !== 'FieldsV1') return false
  return isRecord(fieldsV1) && Object.keys(fieldsV1).length > 0 && !isUnownable(fieldsV1 as FieldsV1)
}

function idOf({ manager = '', operation, apiVersion = '', subresource = '', time }: ManagedFieldsEntry) {
  return { name: manager, operation: operation as Manager['operation'], apiVersion, subresource, time }
}

/** Whether the trie has all paths of a set of fields of structs and maps. */
function holdsAll(trie: FieldsV1, set: FieldSet): boolean {
  for (const [element, below] of set.children ?? []) {
    const node = trie[element]
    if (node === undefined) return false
    if (below.self && !isEnd(node)) return false
    if (below.children !== undefined && !holdsAll(node, below)) return false
  }
  return true
}

function holdsAny(trie: FieldsV1, set: FieldSet): boolean {
  let isList: boolean | undefined
  for (const [element, below] of set.children ?? []) {
    // elements of lists may be written in several ways
    if (isOfList(element)) {
      isList ??= Object.keys(trie).some(isOfList)
      if (isList) return true
    }
    const node = trie[element]
    if (node === undefined) continue
    if ((below.self && isEnd(node)) || holdsAny(node, below)) return true
  }
  return false
}

function isOfList(element: string): boolean {
  return element !== '.' && !element.startsWith('f:')
}

function isEnd(node: FieldsV1): boolean {
  return Object.hasOwn(node, '.') || Object.keys(node).length === 0
}
