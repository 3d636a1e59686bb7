/**
 * The served version that is nearest to another one: the same, else one of the same major number (v2 fits v2beta2, not v1). Stable comes
 * before beta before alpha, higher before lower. Pure.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority
 */
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

const STABILITY = { alpha: 1, beta: 2 }

/** Names of another form rank last. */
function parsed(version: string): { major: number; stability: number; minor: number } {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
  if (match === null) return { major: -1, stability: 0, minor: 0 }
  const [, major = '', stage, minor = '0'] = match
  const stability = stage === 'alpha' || stage === 'beta' ? STABILITY[stage] : 3
  return { major: Number(major), stability, minor: Number(minor) }
}
