/** Fields that a pod may not have on one operating system, and those that host namespaces exclude. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, record, records, str } from '../../apimachinery/fields.ts'
import { allContainers, type PodScope, securityOf } from './podScope.ts'

/** Host processes of Windows: all containers or none, and on the host's network. */
export function hostProcesses({ spec, path }: PodScope): FieldError[] {
  const ofPod = hostProcess(spec)
  const errors: FieldError[] = []
  const containers = allContainers(spec, path)
  let count = 0
  for (const [container, at] of containers) {
    const own = hostProcess(container)
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const detail = `pod hostProcess value must be identical if both are specified, was ${ofPod}`
      errors.push(fieldError.invalid(`${at}.securityContext.windowsOptions.hostProcess`, own, detail))
    }
    if (own ?? ofPod) count++
  }
  if (count === 0) return errors
  if (count !== containers.length) {
    const detail = 'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    errors.push(fieldError.invalid(path, '', detail))
  }
  if (spec.hostNetwork !== true) {
    const detail = 'hostNetwork must be true if pod contains any hostProcess containers'
    errors.push(fieldError.invalid(`${path}.hostNetwork`, false, detail))
  }
  return errors
}

const hostProcess = (holder: Fields): boolean | undefined => {
  const value = record(securityOf(holder), 'windowsOptions').hostProcess
  return typeof value === 'boolean' ? value : undefined
}

/** A user namespace of its own does not go with namespaces of the host. */
export function userNamespace({ spec, path, hostUsers }: PodScope): FieldError[] {
  if (hostUsers) return []
  // the capitals are upstream's
  return Object.entries({ hostNetwork: 'hostNetwork', hostPID: 'HostPID', hostIPC: 'HostIPC' })
    .filter(([field]) => spec[field] === true)
    .map(([, field]) => fieldError.forbidden(`${path}.${field}`, 'when `pod.Spec.HostUsers` is false'))
}

/** On the host's network a container's port is the host's. Templates may leave it out, pods cannot. */
export function hostNetworkPorts({ spec, path, isPod }: PodScope): FieldError[] {
  if (spec.hostNetwork !== true) return []
  return records(spec, 'containers').flatMap((container, i) =>
    records(container, 'ports').flatMap((port, j) => {
      const hostPort = port.hostPort ?? 0
      if (hostPort === (port.containerPort ?? 0) || (hostPort === 0 && !isPod)) return []
      const detail = 'must match `containerPort` when `hostNetwork` is true'
      return [fieldError.invalid(`${path}.containers[${i}].ports[${j}].hostPort`, hostPort, detail)]
    }),
  )
}

const LINUX_POD = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace']
const LINUX_POD_SECURITY = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'fsGroup', 'fsGroupChangePolicy', 'sysctls'],
  ...['runAsUser', 'runAsGroup', 'supplementalGroups', 'supplementalGroupsPolicy', 'seLinuxChangePolicy'],
]
const LINUX_CONTAINER_SECURITY = [
  ...['appArmorProfile', 'seLinuxOptions', 'seccompProfile', 'capabilities', 'readOnlyRootFilesystem', 'privileged'],
  ...['allowPrivilegeEscalation', 'procMount', 'runAsUser', 'runAsGroup'],
]

export function operatingSystem({ spec, path }: PodScope): FieldError[] {
  if (!has(spec, 'os')) return []
  const name = str(spec, 'os', 'name')
  if (name === '') return [fieldError.required(`${path}.os.name`, 'cannot be empty')]
  if (name !== 'linux' && name !== 'windows') {
    return [fieldError.notSupported(`${path}.os`, name, ['linux', 'windows'])]
  }
  const [detail, ofPod, ofSecurity, ofContainers] =
    name === 'linux'
      ? ['windows options cannot be set for a linux pod', [], ['windowsOptions'], ['windowsOptions']]
      : ['cannot be set for a windows pod', LINUX_POD, LINUX_POD_SECURITY, LINUX_CONTAINER_SECURITY]
  const forbidden = (holder: Fields, at: string, fields: readonly string[]): FieldError[] =>
    fields.filter(field => isSet(holder, field)).map(field => fieldError.forbidden(`${at}.${field}`, detail))
  return [
    ...forbidden(spec, path, ofPod),
    ...forbidden(securityOf(spec), `${path}.securityContext`, ofSecurity),
    ...allContainers(spec, path).flatMap(([container, at]) =>
      forbidden(securityOf(container), `${at}.securityContext`, ofContainers),
    ),
  ]
}

/** `hostPID: false` and an empty list of sysctls count as absent. */
function isSet(holder: Fields, field: string): boolean {
  if (field === 'hostPID' || field === 'hostIPC') return holder[field] === true
  return has(holder, field) && (field !== 'sysctls' || list(holder, field).length > 0)
}
