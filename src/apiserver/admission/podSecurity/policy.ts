/**
 * Labels of a namespace: a level and a version of the Pod Security Standards for each of three modes.
 * @see https://kubernetes.io/docs/concepts/security/pod-security-admission/#pod-security-admission-labels-for-namespaces
 */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'

export const LEVELS = ['privileged', 'baseline', 'restricted'] as const
/** From the mildest to the strictest. */
export type Level = (typeof LEVELS)[number]
const MODES = ['enforce', 'audit', 'warn'] as const
type Mode = (typeof MODES)[number]

export interface LevelVersion {
  readonly level: Level
  /** The minor version of Kubernetes 1; `Infinity` is `latest`. */
  readonly minor: number
}
export interface Policy extends Readonly<Record<Mode, LevelVersion>> {
  /** One for each label that cannot be understood: enforcing falls back to `restricted:latest`, the others to nothing. */
  readonly errors: readonly FieldError[]
}

const PREFIX = 'pod-security.kubernetes.io/'
const LABELS = MODES.flatMap(mode => [`${PREFIX}${mode}`, `${PREFIX}${mode}-version`])
const NOTHING: LevelVersion = { level: 'privileged', minor: Number.POSITIVE_INFINITY }
const VERSION = /^v1\.(0|[1-9]\d*)$/

export type Labels = Readonly<Record<string, string>> | undefined

/** Whether a namespace says anything about the security of pods. */
export function speaksOfPodSecurity(labels: Labels): boolean {
  return labels !== undefined && LABELS.some(label => Object.hasOwn(labels, label))
}

/** Modes without a label ask for nothing. */
export function policyOf(labels: Labels): Policy {
  const errors: FieldError[] = []
  const read = (mode: Mode): LevelVersion => {
    let { level, minor } = NOTHING
    const required = labels?.[`${PREFIX}${mode}`]
    if (required !== undefined) {
      const known = LEVELS.find(each => each === required)
      if (known === undefined) errors.push(invalid(mode, required, `must be one of ${LEVELS.join(', ')}`))
      level = known ?? (mode === 'enforce' ? 'restricted' : 'privileged')
    }
    const version = labels?.[`${PREFIX}${mode}-version`]
    if (version !== undefined && version !== 'latest') {
      const match = VERSION.exec(version)
      if (match === null) errors.push(invalid(`${mode}-version`, version, 'must be "latest" or "v1.x"'))
      else minor = Number(match[1])
    }
    return { level, minor }
  }
  return { enforce: read('enforce'), audit: read('audit'), warn: read('warn'), errors }
}

function invalid(label: string, value: string, detail: string): FieldError {
  return fieldError.invalid(`metadata.labels[${PREFIX}${label}]`, value, detail)
}

/** `restricted:latest`, `baseline:v1.30`. */
export function levelText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Number.POSITIVE_INFINITY ? 'latest' : `v1.${minor}`}`
}

export function sameLevel(a: LevelVersion, b: LevelVersion): boolean {
  return a.level === b.level && a.minor === b.minor
}
