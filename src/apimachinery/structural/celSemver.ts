/**
 * Kubernetes' semantic version library for CEL.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-semver-library
 */
import type { Environment } from '@marcbachmann/cel-js'
import type { Comparable } from './celEquality.ts'
import { registerAll, registerOpaque } from './celRegister.ts'

export class CelSemver implements Comparable {
  readonly numbers: readonly [bigint, bigint, bigint]
  readonly prerelease: readonly string[]
  constructor(numbers: readonly [bigint, bigint, bigint], prerelease: readonly string[]) {
    this.numbers = numbers
    this.prerelease = prerelease
  }
  equals(other: CelSemver): boolean {
    return compare(this, other) === 0
  }
}

const SHAPE = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z.-]+)?$/

export function addSemanticVersions(environment: Environment): void {
  registerOpaque(environment, 'kubernetes.Semver', CelSemver)
  registerAll(environment, {
    'semver(string): kubernetes.Semver': (s: string) => semver(s),
    'semver(string, bool): kubernetes.Semver': (s: string, lenient: boolean) => semver(lenient ? normalized(s) : s),
    'isSemver(string): bool': (s: string) => parse(s) !== undefined,
    'isSemver(string, bool): bool': (s: string, lenient: boolean) => parse(lenient ? normalized(s) : s) !== undefined,
    'kubernetes.Semver.major(): int': ({ numbers }: CelSemver) => numbers[0],
    'kubernetes.Semver.minor(): int': ({ numbers }: CelSemver) => numbers[1],
    'kubernetes.Semver.patch(): int': ({ numbers }: CelSemver) => numbers[2],
    'kubernetes.Semver.compareTo(kubernetes.Semver): int': (a: CelSemver, b: CelSemver) => BigInt(compare(a, b)),
    'kubernetes.Semver.isLessThan(kubernetes.Semver): bool': (a: CelSemver, b: CelSemver) => compare(a, b) < 0,
    'kubernetes.Semver.isGreaterThan(kubernetes.Semver): bool': (a: CelSemver, b: CelSemver) => compare(a, b) > 0,
  })
}

function semver(s: string): CelSemver {
  const version = parse(s)
  if (version === undefined) throw new Error(`semver parse error during conversion from string: ${JSON.stringify(s)}`)
  return version
}

function parse(s: string): CelSemver | undefined {
  const match = SHAPE.exec(s)
  if (match === null) return undefined
  const prerelease = match[4]?.split('.') ?? []
  if (prerelease.some(part => /^0\d+$/.test(part))) return undefined
  return new CelSemver([BigInt(match[1]!), BigInt(match[2]!), BigInt(match[3]!)], prerelease)
}

/** Takes `v1.2` for `1.2.0`. */
function normalized(s: string): string {
  const match = /^v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(.*)$/.exec(s)
  if (match === null) return s
  const number = (text: string | undefined): string => String(BigInt(text ?? '0'))
  return `${number(match[1])}.${number(match[2])}.${number(match[3])}${match[4]}`
}

function compare(a: CelSemver, b: CelSemver): -1 | 0 | 1 {
  for (const i of [0, 1, 2] as const) {
    if (a.numbers[i] !== b.numbers[i]) return a.numbers[i] < b.numbers[i] ? -1 : 1
  }
  // a release comes after what leads to it
  if (a.prerelease.length === 0 || b.prerelease.length === 0) return order(b.prerelease.length, a.prerelease.length)
  for (const [i, left] of a.prerelease.entries()) {
    const right = b.prerelease[i]
    if (right === undefined) return 1
    const result = comparePart(left, right)
    if (result !== 0) return result
  }
  return order(a.prerelease.length, b.prerelease.length)
}

function comparePart(a: string, b: string): -1 | 0 | 1 {
  const numeric = [a, b].map(part => /^\d+$/.test(part))
  if (numeric[0] && numeric[1]) return order(Number(a), Number(b))
  if (numeric[0] !== numeric[1]) return numeric[0] ? -1 : 1
  return a === b ? 0 : a < b ? -1 : 1
}

function order(a: number, b: number): -1 | 0 | 1 {
  return a === b ? 0 : a < b ? -1 : 1
}
