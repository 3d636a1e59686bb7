/** Apply conflicts, worded as kube-apiserver words them. */
import { type StatusCause, StatusError } from '../errors.ts'
import { type FieldSet, pathsOf, showPath } from './fieldSet.ts'
import type { Manager } from './managers.ts'

export interface Conflict {
  manager: Manager
  /** The fields of the manager that the configuration would change. */
  set: FieldSet
}

/** 409 Conflict with one cause per field; managers in the order of their names. */
export function conflictError(conflicts: readonly Conflict[]): StatusError {
  const groups = new Map<string, string[]>()
  const named = conflicts.map(({ manager, set }) => ({
    title: titleOf(manager),
    paths: [...pathsOf(set)].map(path => showPath(path)),
  }))
  for (const { title, paths } of named.toSorted((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : 0)))
    groups.set(title, [...(groups.get(title) ?? []), ...paths])

  const causes: StatusCause[] = []
  for (const [title, paths] of groups)
    for (const field of paths) causes.push({ reason: 'FieldManagerConflict', message: `conflict with ${title}`, field })
  return new StatusError('Conflict', messageOf(groups, causes), { causes })
}

function messageOf(groups: ReadonlyMap<string, string[]>, causes: readonly StatusCause[]): string {
  if (causes.length === 1) return `Apply failed with 1 conflict: ${causes[0]!.message}: ${causes[0]!.field}`
  const lines: string[] = []
  for (const [title, paths] of groups) lines.push(`conflicts with ${title}:`, ...paths.map(path => `- ${path}`))
  return `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`
}

/** `"kubectl-edit" using apps/v1`; appliers, who are the same over all versions, without the version. */
function titleOf(manager: Manager): string {
  const subresource = manager.subresource === '' ? '' : ` with subresource ${JSON.stringify(manager.subresource)}`
  const version = manager.operation === 'Update' ? ` using ${manager.apiVersion}` : ''
  return `${JSON.stringify(manager.name)}${subresource}${version}`
}
