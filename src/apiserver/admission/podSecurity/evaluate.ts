/**
 * Holds a pod against a level of the Pod Security Standards, as they were in a version of Kubernetes.
 * @see https://kubernetes.io/docs/concepts/security/pod-security-standards/
 */
import { BASELINE, type Check, type Violation } from './baselineChecks.ts'
import { podForm } from './podForm.ts'
import { type LevelVersion, levelText } from './policy.ts'
import { RESTRICTED } from './restrictedChecks.ts'

/** `holder` has `metadata` and `spec`. Empty when the pod is as it should be. */
export function evaluate(required: LevelVersion, holder: unknown): Violation[] {
  if (required.level === 'privileged') return []
  const pod = podForm(holder)
  return checksOf(required).flatMap(check => check.run(pod, required.minor) ?? [])
}

function checksOf({ level, minor }: LevelVersion): readonly Check[] {
  const known = (check: Check) => check.since <= minor
  const baseline = BASELINE.filter(known)
  if (level === 'baseline') return baseline
  const restricted = RESTRICTED.filter(known)
  const replaced = new Set(restricted.flatMap(check => check.replaces ?? []))
  return [...baseline.filter(check => !replaced.has(check.id)), ...restricted]
}

/** `host namespaces, privileged`: what many pods have in common. */
export function reasonsText(violations: readonly Violation[]): string {
  return violations.map(({ reason }) => reason).join(', ')
}

/** `violate PodSecurity "baseline:latest": privileged (container "a" must …)`, after `would` or with an `s`. */
export function violationText(verb: string, required: LevelVersion, violations: readonly Violation[]): string {
  const details = violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ')
  return `${verb} PodSecurity "${levelText(required)}": ${details}`
}
