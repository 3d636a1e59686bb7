/**
 * `securityContext` of pods and containers.
 * @see https://kubernetes.io/docs/tasks/configure-pod-container/security-context/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, record, records, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Subdomain } from '../../apimachinery/names.ts'
import { invalidBy, repeats } from '../checks.ts'
import { choice } from '../shapes.ts'
import { descendingPath } from './filePaths.ts'
import { type PodScope, securityOf } from './podScope.ts'

const MAX_ID = 2147483647

function validId(value: unknown, field: string): FieldError[] {
  if (value === undefined || value === null || ((value as number) >= 0 && (value as number) <= MAX_ID)) return []
  return [fieldError.invalid(field, value, `must be between 0 and ${MAX_ID}, inclusive`)]
}

const ids = (context: Fields, path: string, members: readonly string[]): FieldError[] =>
  members.flatMap(member => validId(context[member], `${path}.${member}`))

export function podSecurity({ spec, path: specPath }: PodScope): FieldError[] {
  const path = `${specPath}.securityContext`
  const context = securityOf(spec)
  const errors = ids(context, path, ['fsGroup', 'runAsUser', 'runAsGroup'])
  for (const [i, group] of list(context, 'supplementalGroups').entries()) {
    errors.push(...validId(group, `${path}.supplementalGroups[${i}]`))
  }
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled'
    errors.push(fieldError.invalid(`${path}.shareProcessNamespace`, true, detail))
  }
  return [
    ...errors,
    ...sysctls(context, path, spec),
    ...choice(context, 'fsGroupChangePolicy', `${path}.fsGroupChangePolicy`, ['Always', 'OnRootMismatch']),
    ...seccompProfile(context, path),
    ...windowsOptions(context, path),
    ...appArmorProfile(context, path),
    ...choice(context, 'supplementalGroupsPolicy', `${path}.supplementalGroupsPolicy`, ['Merge', 'Strict']),
    ...choice(context, 'seLinuxChangePolicy', `${path}.seLinuxChangePolicy`, ['MountOption', 'Recursive']),
  ]
}

/** @param path the context's */
export function containerSecurity(container: Fields, path: string, { hostUsers }: PodScope): FieldError[] {
  const context = securityOf(container)
  const errors = [
    ...ids(context, path, ['runAsUser', 'runAsGroup']),
    ...choice(context, 'procMount', `${path}.procMount`, ['Default', 'Unmasked']),
  ]
  if (hostUsers && context.procMount === 'Unmasked') {
    const detail = '`hostUsers` must be false to use `Unmasked`'
    errors.push(fieldError.invalid(`${path}.procMount`, 'Unmasked', detail))
  }
  errors.push(...seccompProfile(context, path))
  const both = 'cannot set `allowPrivilegeEscalation` to false and'
  if (context.allowPrivilegeEscalation === false) {
    if (context.privileged === true) errors.push(fieldError.invalid(path, context, `${both} \`privileged\` to true`))
    const admin = strings(context, 'capabilities', 'add').filter(name => name === 'CAP_SYS_ADMIN')
    errors.push(...admin.map(name => fieldError.invalid(path, context, `${both} \`capabilities.Add\` ${name}`)))
  }
  return [...errors, ...windowsOptions(context, path), ...appArmorProfile(context, path)]
}

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined']

function seccompProfile(context: Fields, at: string): FieldError[] {
  if (!has(context, 'seccompProfile')) return []
  const profile = record(context, 'seccompProfile')
  const path = `${at}.seccompProfile`
  const errors = profileType(profile, path, 'type is required when seccompProfile is set')
  const field = `${path}.localhostProfile`
  if (profile.type !== 'Localhost') {
    if (!has(profile, 'localhostProfile')) return errors
    return [...errors, fieldError.invalid(field, profile, 'can only be set when seccomp type is Localhost')]
  }
  return has(profile, 'localhostProfile')
    ? [...errors, ...descendingPath(str(profile, 'localhostProfile'), field)]
    : [...errors, fieldError.required(field, 'must be set when seccomp type is Localhost')]
}

function appArmorProfile(context: Fields, at: string): FieldError[] {
  if (!has(context, 'appArmorProfile')) return []
  const profile = record(context, 'appArmorProfile')
  const path = `${at}.appArmorProfile`
  const errors = profileType(profile, path, 'type is required when appArmorProfile is set')
  const field = `${path}.localhostProfile`
  const name = str(profile, 'localhostProfile')
  if (profile.type !== 'Localhost') {
    if (errors.length > 0 || !has(profile, 'localhostProfile')) return errors
    return [fieldError.invalid(field, name, 'can only be set when AppArmor type is Localhost')]
  }
  if (name !== name.trim()) errors.push(fieldError.invalid(field, name, 'must not be padded with whitespace'))
  else if (name === '') errors.push(fieldError.required(field, 'must be set when AppArmor type is Localhost'))
  if (Buffer.byteLength(name) > 4095) errors.push(fieldError.tooLong(field, 4095))
  return errors
}

function profileType(profile: Fields, path: string, whenMissing: string): FieldError[] {
  const type = str(profile, 'type')
  if (type === '') return [fieldError.required(`${path}.type`, whenMissing)]
  return PROFILE_TYPES.includes(type) ? [] : [fieldError.notSupported(`${path}.type`, type, PROFILE_TYPES)]
}

const SYSCTL = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const SYSCTL_SEGMENT = /^[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const SYSCTL_MAX = 253
const IPC_SYSCTLS = ['kernel.sem']
const IPC_PREFIXES = ['kernel.shm', 'kernel.msg', 'fs.mqueue.']

function sysctls(context: Fields, at: string, spec: Fields): FieldError[] {
  const errors: FieldError[] = []
  const names = records(context, 'sysctls').map(sysctl => str(sysctl, 'name'))
  const again = repeats(names)
  for (const [i, name] of names.entries()) {
    const field = `${at}.sysctls[${i}].name`
    if (name === '') errors.push(fieldError.required(field))
    else if (name.length > SYSCTL_MAX || !name.split(/[./]/).every(segment => SYSCTL_SEGMENT.test(segment))) {
      errors.push(
        fieldError.invalid(field, name, `must have at most ${SYSCTL_MAX} characters and match regex ^${SYSCTL}$`),
      )
    } else if (again[i]) errors.push(fieldError.duplicate(field, name))
    const plain = dotted(name)
    const isIpc = IPC_SYSCTLS.includes(plain) || IPC_PREFIXES.some(prefix => plain.startsWith(prefix))
    const taken =
      plain.startsWith('net.') && spec.hostNetwork === true
        ? 'hostNetwork'
        : isIpc && spec.hostIPC === true
          ? 'hostIPC'
          : ''
    if (taken !== '') errors.push(fieldError.invalid(field, name, `may not be specified when '${taken}' is true`))
  }
  return errors
}

/** Where a slash comes first, slashes separate and dots are part of names. */
function dotted(name: string): string {
  const [first] = /[./]/.exec(name) ?? []
  if (first !== '/') return name
  return name.replace(/[./]/g, sign => (sign === '/' ? '.' : '/'))
}

const GMSA_SPEC_KIB = 64
const DOMAIN_MAX = 256
const USER_MAX = 104
const NET_BIOS = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const DNS_LABEL = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/

function windowsOptions(context: Fields, at: string): FieldError[] {
  const options = record(context, 'windowsOptions')
  const path = `${at}.windowsOptions`
  const errors: FieldError[] = []
  if (has(options, 'gmsaCredentialSpecName')) {
    const name = str(options, 'gmsaCredentialSpecName')
    errors.push(...invalidBy(dns1123Subdomain, name, `${path}.gmsaCredentialSpecName`))
  }
  const spec = str(options, 'gmsaCredentialSpec')
  if (has(options, 'gmsaCredentialSpec')) {
    const field = `${path}.gmsaCredentialSpec`
    if (spec === '') errors.push(fieldError.invalid(field, spec, 'gmsaCredentialSpec cannot be an empty string'))
    else if (Buffer.byteLength(spec) > GMSA_SPEC_KIB * 1024) {
      errors.push(fieldError.invalid(field, spec, `gmsaCredentialSpec size must be under ${GMSA_SPEC_KIB} KiB`))
    }
  }
  if (!has(options, 'runAsUserName')) return errors
  const user = str(options, 'runAsUserName')
  return [...errors, ...windowsUser(user).map(detail => fieldError.invalid(`${path}.runAsUserName`, user, detail))]
}

/** `USER` or `DOMAIN\USER`. */
function windowsUser(value: string): string[] {
  if (value === '') return ['runAsUserName cannot be an empty string']
  if (/\p{Cc}/u.test(value)) return ['runAsUserName cannot contain control characters']
  const parts = value.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const user = parts.at(-1)!
  const domain = parts.length === 2 ? parts[0]! : undefined
  const errors: string[] = []
  if (domain !== undefined) {
    if (domain.length >= DOMAIN_MAX) errors.push(`runAsUserName's Domain length must be under ${DOMAIN_MAX} characters`)
    if (!NET_BIOS.test(domain) && !domain.split('.').every(label => DNS_LABEL.test(label))) {
      errors.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    }
  }
  if (user === '') errors.push("runAsUserName's User cannot be empty")
  else if (user.length > USER_MAX) {
    errors.push(`runAsUserName's User length must not be longer than ${USER_MAX} characters`)
  }
  if (/^[. ]+$/.test(user)) errors.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    errors.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return errors
}
