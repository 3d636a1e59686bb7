/**
 * Versions that may stand for another one. Stable comes before beta before alpha, higher before lower. Pure.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
 */
import { parseVersion } from './crd/versionOrder.ts'

/** The same version, else one of the same major number (v2 fits v2beta2, not v1), else another one. */
export function nearestVersion(wanted: string, served: readonly string[]): string | undefined {
  if (served.includes(wanted)) return wanted
  const { major } = parsed(wanted)
  const ranked = served.map(version => ({ version, ...parsed(version) }))
  ranked.sort(
    (a, b) =>
      Number(b.major === major) - Number(a.major === major) ||
      b.stability - a.stability ||
      b.major - a.major ||
      b.minor - a.minor,
  )
  return ranked[0]?.version
}

/** Whether objects of one are taken for objects of the other: they are of one shape. */
export function isOneShape(a: string, b: string): boolean {
  return a === b || (parsed(a).major === parsed(b).major && parsed(a).major >= 0)
}

/** Names of another form rank last. */
function parsed(version: string): { major: number; stability: number; minor: number } {
  return parseVersion(version) ?? { major: -1, stability: -1, minor: 0 }
}
