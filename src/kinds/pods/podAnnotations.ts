/** Annotations of pods and templates that Kubernetes itself reads, most of them older than the fields that replaced them. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, record, str } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { tolerations } from './affinity.ts'
import { descendingPath } from './filePaths.ts'
import { allContainers, securityOf } from './podScope.ts'

type Annotations = Readonly<Record<string, string>>

const MIRROR = 'kubernetes.io/config.mirror'
export const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
export const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
export const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const TOLERATIONS = 'scheduler.alpha.kubernetes.io/tolerations'
const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost'

/** @param path of the annotations */
export function podAnnotations(annotations: Annotations, spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (Object.hasOwn(annotations, MIRROR) && str(spec, 'nodeName') === '') {
    const detail = 'must set spec.nodeName if mirror pod annotation is set'
    errors.push(fieldError.invalid(`${path}[${MIRROR}]`, annotations[MIRROR], detail))
  }
  if (annotations[TOLERATIONS]) errors.push(...tolerationList(annotations[TOLERATIONS], path))
  const cost = annotations[DELETION_COST]
  if (cost !== undefined && !isInt32(cost)) {
    errors.push(fieldError.invalid(`${path}[${DELETION_COST}]`, cost, 'must be a 32bit integer'))
  }
  for (const [key, value] of Object.entries(annotations)) {
    if (key === SECCOMP_POD || key.startsWith(SECCOMP_CONTAINER)) errors.push(...seccomp(value, `${path}.${key}`))
  }
  const profiles = Object.entries(annotations).filter(([key]) => key.startsWith(APP_ARMOR))
  const names = new Set(profiles.length === 0 ? [] : allContainers(spec, '').map(([container]) => container.name))
  for (const [key, value] of profiles) {
    const name = key.slice(APP_ARMOR.length)
    if (!names.has(name)) {
      errors.push(fieldError.invalid(`${path}[${key}]`, name, 'container not found'))
    }
    if (value !== '' && value !== 'runtime/default' && value !== 'unconfined' && !value.startsWith('localhost/')) {
      const detail = `invalid AppArmor profile name: ${JSON.stringify(value)}`
      errors.push(fieldError.invalid(`${path}[${key}]`, value, detail))
    }
  }
  return errors
}

function tolerationList(text: string, path: string): FieldError[] {
  try {
    const value: unknown = JSON.parse(text)
    const items = Array.isArray(value) ? value.map(item => (isRecord(item) ? item : {})) : []
    return tolerations(items, `${path}.${TOLERATIONS}`)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [fieldError.invalid(path, TOLERATIONS, error.message)]
  }
}

/** As Go's strconv takes it, but without a leading plus. */
const isInt32 = (text: string): boolean =>
  /^(0|-?[1-9]\d{0,9})$/.test(text) && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31

function seccomp(profile: string, field: string): FieldError[] {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return []
  if (profile.startsWith('localhost/')) return descendingPath(profile.slice('localhost/'.length), field)
  return [fieldError.invalid(field, profile, 'must be a valid seccomp profile')]
}

/** A profile that both fields set must be the same one. @param path of the spec */
export function profilesAgree(annotations: Annotations, spec: Fields, path: string): FieldError[] {
  const ofPod = securityOf(spec)
  const errors = agree('seccomp', annotations[SECCOMP_POD], ofPod.seccompProfile, `${path}.securityContext`)
  const containers = allContainers(spec, path)
  for (const [container, at] of containers) {
    const annotation = annotations[`${SECCOMP_CONTAINER}${container.name}`]
    errors.push(...agree('seccomp', annotation, securityOf(container).seccompProfile, `${at}.securityContext`))
  }
  if (str(spec, 'os', 'name') === 'windows') return errors
  for (const [container, at] of containers) {
    const profile = securityOf(container).appArmorProfile ?? ofPod.appArmorProfile
    errors.push(...agree('apparmor', annotations[`${APP_ARMOR}${container.name}`], profile, `${at}.securityContext`))
  }
  return errors
}

function agree(
  kind: 'seccomp' | 'apparmor',
  annotation: string | undefined,
  profile: unknown,
  at: string,
): FieldError[] {
  if (annotation === undefined || !isRecord(profile)) return []
  const path = `${at}.${kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile'}`
  const other = fieldError.forbidden(`${path}.type`, `${kind} type in annotation and field must match`)
  const words: Readonly<Record<string, readonly string[]>> = {
    Unconfined: ['unconfined'],
    RuntimeDefault: kind === 'seccomp' ? ['runtime/default', 'docker/default'] : ['runtime/default'],
  }
  const type = str(profile, 'type')
  if (type !== 'Localhost') return !Object.hasOwn(words, type) || words[type]!.includes(annotation) ? [] : [other]
  if (!annotation.startsWith('localhost/')) return [other]
  if (has(profile, 'localhostProfile') && annotation === `localhost/${str(profile, 'localhostProfile')}`) return []
  return [fieldError.forbidden(`${path}.localhostProfile`, `${kind} profile in annotation and field must match`)]
}

export const annotationsOf = (holder: unknown): Annotations => record(holder, 'metadata', 'annotations') as Annotations
