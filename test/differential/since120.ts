/** What objects got since Kubernetes 1.20: our peer cannot say it, so it is left out where the two are compared. */
import { isRecord } from '../../src/apimachinery/object.ts'

/** Fields by kind; the reason is the release that made the server fill them in. */
const NEWER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Namespace: { 'metadata.labels': '1.21: kubernetes.io/metadata.name' },
}

export function withoutNewer(value: unknown, kind?: string): unknown {
  if (Array.isArray(value)) return value.map(item => withoutNewer(item))
  if (!isRecord(value)) return value
  const own = typeof value.kind === 'string' && 'metadata' in value ? value.kind : kind
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    copy[name] =
      name === 'items' && Array.isArray(member) && own?.endsWith('List')
        ? member.map(item => withoutNewer(item, own.slice(0, -4)))
        : withoutNewer(member)
  }
  for (const path of Object.keys(own === undefined ? {} : (NEWER[own] ?? {}))) drop(copy, path.split('.'))
  return copy
}

function drop(value: unknown, [step, ...rest]: readonly string[]): void {
  if (step === undefined || typeof value !== 'object' || value === null) return
  const members = value as Record<string, unknown>
  const name = step.replaceAll('~1', '.')
  if (name === '*') for (const member of Object.values(members)) drop(member, rest)
  else if (rest.length > 0) drop(members[name], rest)
  else delete members[name]
}
