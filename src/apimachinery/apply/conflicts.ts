/** Apply conflicts, worded as kube-apiserver words them. */
import { type StatusCause, StatusError, TEXT_CHARACTERS } from '../errors.ts'
import { countPaths, type FieldSet, pathsOf, showPath } from './fieldSet.ts'
import type { Manager } from './managers.ts'

export interface Conflict {
  manager: Manager
  /** The fields of the manager that the configuration would change. */
  set: FieldSet
}

/** 409 Conflict with one cause per field, managers in the order of their names. Only the first fields of very many are listed. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const titled = conflicts.map(({ manager, set }) => ({ title: titleOf(manager), set }))
  const groups = new Map<string, string[]>()
  let characters = 0
  for (const { title, set } of titled.toSorted((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : 0))) {
    if (characters >= TEXT_CHARACTERS) break
    const listed = groups.get(title) ?? []
    groups.set(title, listed)
    characters += title.length
    for (const path of pathsOf(set)) {
      const field = showPath(path)
      listed.push(field)
      characters += title.length + field.length
      if (characters >= TEXT_CHARACTERS) break
    }
  }
  const causes: StatusCause[] = []
  for (const [title, paths] of groups)
    for (const field of paths) causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${title}`, field })
  const count = titled.reduce((sum, { set }) => sum + countPaths(set), 0)
  return new StatusError('Conflict', messageOf(groups, causes, count), { causes })
}

function messageOf(groups: ReadonlyMap<string, string[]>, causes: readonly StatusCause[], count: number): string {
  if (count === 1) return `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
  const lines: string[] = []
  for (const [title, paths] of groups)
    lines.push([`conflicts with ${title}:`, ...paths.map(path => `- ${path}`)].join('\n'))
  if (count > causes.length) lines.push(`and ${count - causes.length} more`)
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`
}

/** `"kubectl-edit" using apps/v1`; appliers, who are the same over all versions, without the version. */
function titleOf(manager: Manager): string {
  const subresource = manager.subresource === '' ? '' : ` with subresource ${JSON.stringify(manager.subresource)}`
  const version = manager.operation === 'Update' ? ` using ${manager.apiVersion}` : ''
  return `${JSON.stringify(manager.name)}${subresource}${version}`
}
