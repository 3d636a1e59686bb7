/**
 * The baseline level of the Pod Security Standards: what opens a way out of the container.
 * @see https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
 */
import { has, record, records, str, strings } from '../../../apimachinery/fields.ts'
import {
  type ContainerForm,
  counted,
  culprits,
  faulty,
  hasOwnUsers,
  type PodForm,
  plural,
  quoted,
  sorted,
} from './podForm.ts'

/** Fault of a pod. */
export interface Violation {
  /** Short and the same for all pods. */
  reason: string
  /** Names what is to be changed in this one. */
  detail: string
}
export interface Check {
  readonly id: string
  /** The first minor version of the standards that has it. */
  readonly since: number
  /** Checks of the level below that this one says more strictly. */
  readonly replaces?: readonly string[]
  run(pod: PodForm, minor: number): Violation | undefined
}

const APP_ARMOR = 'container.apparmor.security.beta.kubernetes.io/'
const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod'
const SECCOMP_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/'
const PROFILES = ['RuntimeDefault', 'Localhost']
const CAPABILITIES = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE', 'SETFCAP'],
  ...['SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t']
/** By the version that came to know them as safe. */
const SYSCTLS: Readonly<Record<string, number>> = {
  'kernel.shm_rmid_forced': 0,
  'net.ipv4.ip_local_port_range': 0,
  'net.ipv4.tcp_syncookies': 0,
  'net.ipv4.ping_group_range': 0,
  'net.ipv4.ip_unprivileged_port_start': 0,
  'net.ipv4.ip_local_reserved_ports': 27,
  'net.ipv4.tcp_keepalive_time': 29,
  'net.ipv4.tcp_fin_timeout': 29,
  'net.ipv4.tcp_keepalive_intvl': 29,
  'net.ipv4.tcp_keepalive_probes': 29,
  'net.ipv4.tcp_rmem': 32,
  'net.ipv4.tcp_wmem': 32,
}
const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'].map(field => [field])
const HOOKS = ['postStart', 'preStop'].map(field => ['lifecycle', field])

/** In the order in which their violations are listed. */
export const BASELINE: readonly Check[] = [
  { id: 'appArmorProfile', since: 0, run: appArmorProfile },
  {
    id: 'capabilities_baseline',
    since: 0,
    run(pod) {
      const odd = (c: ContainerForm) => strings(c.context, 'capabilities', 'add').filter(x => !CAPABILITIES.includes(x))
      const names = faulty(pod, c => odd(c).length > 0)
      if (names.length === 0) return undefined
      const added = quoted(sorted(pod.containers.flatMap(odd)))
      const detail = `${counted('container', names)} must not include ${added} in securityContext.capabilities.add`
      return { reason: 'non-default capabilities', detail }
    },
  },
  {
    id: 'hostNamespaces',
    since: 0,
    run({ spec }) {
      const shared = ['hostNetwork', 'hostPID', 'hostIPC'].filter(field => spec[field] === true)
      if (shared.length === 0) return undefined
      return { reason: 'host namespaces', detail: shared.map(field => `${field}=true`).join(', ') }
    },
  },
  {
    id: 'hostPathVolumes',
    since: 0,
    run({ spec }) {
      const volumes = records(spec, 'volumes').filter(volume => has(volume, 'hostPath'))
      if (volumes.length === 0) return undefined
      const names = volumes.map(volume => str(volume, 'name'))
      return { reason: 'hostPath volumes', detail: counted('volume', names) }
    },
  },
  {
    id: 'hostPorts',
    since: 0,
    run(pod) {
      const ports = ({ fields }: ContainerForm) =>
        records(fields, 'ports').flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []))
      const names = faulty(pod, c => ports(c).length > 0)
      if (names.length === 0) return undefined
      const used = sorted(pod.containers.flatMap(ports))
      const verb = plural(names.length, 'uses', 'use')
      const detail = `${counted('container', names)} ${verb} ${plural(used.length, 'hostPort')} ${used.join(', ')}`
      return { reason: 'hostPort', detail }
    },
  },
  {
    id: 'hostProbesAndHostLifecycle',
    since: 34,
    run(pod) {
      const hosts = ({ fields }: ContainerForm) =>
        [...PROBES, ...HOOKS].flatMap(path =>
          ['httpGet', 'tcpSocket'].map(handler => str(fields, ...path, handler, 'host')).filter(host => host !== ''),
        )
      const names = sorted(faulty(pod, c => hosts(c).length > 0))
      if (names.length === 0) return undefined
      const used = sorted(pod.containers.flatMap(hosts))
      const noun = plural(used.length, 'probe or lifecycle host')
      const detail = `${counted('container', names)} ${plural(names.length, 'uses', 'use')} ${noun} ${quoted(used)}`
      return { reason: 'probe or lifecycle host', detail }
    },
  },
  {
    id: 'privileged',
    since: 0,
    run(pod) {
      const names = faulty(pod, c => c.context.privileged === true)
      if (names.length === 0) return undefined
      const detail = `${counted('container', names)} must not set securityContext.privileged=true`
      return { reason: 'privileged', detail }
    },
  },
  {
    id: 'procMount_baseline',
    since: 0,
    run: (pod, minor) => (minor >= 35 && hasOwnUsers(pod) ? undefined : procMount(pod)),
  },
  { id: 'seLinuxOptions', since: 0, run: seLinuxOptions },
  {
    id: 'seccompProfile_baseline',
    since: 0,
    run: (pod, minor) => (minor < 19 ? seccompAnnotations(pod) : seccompFields(pod)),
  },
  {
    id: 'sysctls',
    since: 0,
    run({ context }, minor) {
      const safe = (name: string) => Object.hasOwn(SYSCTLS, name) && SYSCTLS[name]! <= minor
      const odd = records(context, 'sysctls')
        .map(sysctl => str(sysctl, 'name'))
        .filter(name => !safe(name))
      return odd.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: odd.join(', ') }
    },
  },
  {
    id: 'windowsHostProcess',
    since: 0,
    run(pod) {
      const hosts = ({ context }: Pick<ContainerForm, 'context'>) =>
        record(context, 'windowsOptions').hostProcess === true
      const who = culprits(hosts(pod), faulty(pod, hosts))
      if (who === '') return undefined
      return { reason: 'hostProcess', detail: `${who} must not set securityContext.windowsOptions.hostProcess=true` }
    },
  },
]

function appArmorProfile(pod: PodForm): Violation | undefined {
  const type = ({ context }: Pick<ContainerForm, 'context'>) => str(context, 'appArmorProfile', 'type')
  const bad = (each: Pick<ContainerForm, 'context'>) => type(each) !== '' && !PROFILES.includes(type(each))
  const setters = culprits(bad(pod), faulty(pod, bad))
  const types = sorted([pod, ...pod.containers].filter(bad).map(type))
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(APP_ARMOR) && !isOwnProfile(value))
    .map(([key, value]) => `${key}="${value}"`)
    .sort()
  const values = [...types, ...annotations]
  if (values.length === 0) return undefined
  const who = [setters, annotations.length > 0 ? plural(annotations.length, 'annotation') : '']
  const subject = who.filter(part => part !== '').join(' and ')
  return {
    reason: plural(values.length, 'forbidden AppArmor profile'),
    detail: `${subject} must not set AppArmor profile type to ${quoted(values)}`,
  }
}

const isOwnProfile = (value: string): boolean =>
  value === '' || value === 'runtime/default' || value.startsWith('localhost/')

/** Also a check of the restricted level. */
export function procMount(pod: PodForm): Violation | undefined {
  const odd = ({ context }: ContainerForm) => !['', 'Default'].includes(str(context, 'procMount'))
  const names = faulty(pod, odd)
  if (names.length === 0) return undefined
  const types = sorted(pod.containers.filter(odd).map(({ context }) => str(context, 'procMount')))
  const detail = `${counted('container', names)} must not set securityContext.procMount to ${quoted(types)}`
  return { reason: 'procMount', detail }
}

function seLinuxOptions(pod: PodForm, minor: number): Violation | undefined {
  const allowed = minor >= 31 ? [...SELINUX_TYPES, 'container_engine_t'] : SELINUX_TYPES
  const options = ({ context }: Pick<ContainerForm, 'context'>) => record(context, 'seLinuxOptions')
  const oddType = (each: Pick<ContainerForm, 'context'>) => !allowed.includes(str(options(each), 'type'))
  const sets = (field: string) => (each: Pick<ContainerForm, 'context'>) => str(options(each), field) !== ''
  const bad = (each: Pick<ContainerForm, 'context'>) => oddType(each) || sets('user')(each) || sets('role')(each)
  const who = culprits(bad(pod), faulty(pod, bad))
  if (who === '') return undefined
  const all = [pod, ...pod.containers]
  const types = sorted(all.filter(oddType).map(each => str(options(each), 'type')))
  const details = [
    ...(types.length > 0 ? [counted('type', types)] : []),
    ...['user', 'role'].filter(field => all.some(sets(field))).map(field => `${field} may not be set`),
  ]
  const detail = `${who} set forbidden securityContext.seLinuxOptions: ${details.join('; ')}`
  return { reason: 'seLinuxOptions', detail }
}

function seccompAnnotations(pod: PodForm): Violation | undefined {
  const keys = [SECCOMP_POD, ...pod.containers.map(({ name }) => SECCOMP_CONTAINER + name)]
  const fine = (value: string) =>
    value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/')
  const odd = sorted(
    keys
      .filter(key => pod.annotations[key] !== undefined && !fine(pod.annotations[key]))
      .map(key => `${key}="${pod.annotations[key]}"`),
  )
  if (odd.length === 0) return undefined
  return { reason: 'seccompProfile', detail: `forbidden ${plural(odd.length, 'annotation')} ${odd.join(', ')}` }
}

/** The type of the seccomp profile that a pod or container sets; `undefined` when it sets none. */
export function seccompType({ context }: Pick<ContainerForm, 'context'>): string | undefined {
  return has(context, 'seccompProfile') ? str(context, 'seccompProfile', 'type') : undefined
}

/** Also a part of the restricted level's check. */
export function seccompFields(pod: PodForm): Violation | undefined {
  const bad = (each: Pick<ContainerForm, 'context'>) => !PROFILES.includes(seccompType(each) ?? PROFILES[0]!)
  const who = culprits(bad(pod), faulty(pod, bad))
  if (who === '') return undefined
  const types = sorted([pod, ...pod.containers].filter(bad).map(each => seccompType(each)!))
  const detail = `${who} must not set securityContext.seccompProfile.type to ${quoted(types)}`
  return { reason: 'seccompProfile', detail }
}
