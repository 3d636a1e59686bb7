/** Validation of the containers of a pod spec: names, images, ports, environment, mounts, probes, resources. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import {
  configKey,
  duplicates,
  invalidBy,
  nonNegative,
  oneOf,
  portName,
  portNumber,
  portOrName,
  requiredName,
  resourceRequirements,
} from './checks.ts'
import { type Fields, has, isEmpty, list, num, record, records, str } from './fields.ts'

const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep']

/** `path` is the pod spec's. */
export function validateContainers(spec: Fields, path: string): FieldError[] {
  const containers = records(spec, 'containers')
  if (containers.length === 0) return [fieldError.required(`${path}.containers`)]
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [i, container] of containers.entries()) {
    const here = `${path}.containers[${i}]`
    errors.push(...validateContainer(container, spec, here), ...takenName(container, names, here))
    errors.push(...validateLifecycle(container, here), ...validateProbes(container, here))
  }
  return errors
}

export function validateInitContainers(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set(records(spec, 'containers').map(c => str(c, 'name')))
  for (const [i, container] of records(spec, 'initContainers').entries()) {
    const here = `${path}.initContainers[${i}]`
    errors.push(...validateContainer(container, spec, here), ...takenName(container, names, here))
    if (container.restartPolicy === 'Always') {
      errors.push(...validateLifecycle(container, here), ...validateProbes(container, here))
      continue
    }
    for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe']) {
      if (!has(container, field)) continue
      const detail = 'may not be set for init containers without restartPolicy=Always'
      errors.push(fieldError.forbidden(`${here}.${field}`, detail))
    }
  }
  return errors
}

function takenName(container: Fields, names: Set<string>, path: string): FieldError[] {
  const name = str(container, 'name')
  if (names.has(name)) return [fieldError.duplicate(`${path}.name`, name)]
  names.add(name)
  return []
}

function validateContainer(container: Fields, spec: Fields, path: string): FieldError[] {
  const errors = requiredName(str(container, 'name'), `${path}.name`)
  const image = str(container, 'image')
  if (image === '') errors.push(fieldError.required(`${path}.image`))
  else if (image !== image.trim()) {
    errors.push(fieldError.invalid(`${path}.image`, image, 'must not have leading or trailing whitespace'))
  }
  errors.push(
    ...terminationMessagePolicy(str(container, 'terminationMessagePolicy'), `${path}.terminationMessagePolicy`),
    ...validatePorts(container, spec, `${path}.ports`),
  )
  for (const [i, variable] of records(container, 'env').entries()) {
    errors.push(...validateVariable(variable, `${path}.env[${i}]`))
  }
  for (const [i, source] of records(container, 'envFrom').entries()) {
    errors.push(...validateVariables(source, `${path}.envFrom`, i))
  }
  errors.push(...validateMounts(container, spec, path))
  errors.push(...oneOf(str(container, 'imagePullPolicy'), `${path}.imagePullPolicy`, PULL_POLICIES))
  errors.push(...resourceRequirements(container.resources, `${path}.resources`))
  return errors
}

function terminationMessagePolicy(policy: string, field: string): FieldError[] {
  if (policy === '') return [fieldError.required(field)]
  if (policy === 'File' || policy === 'FallbackToLogsOnError') return []
  return [fieldError.invalid(field, policy, "must be 'File' or 'FallbackToLogsOnError'")]
}

function validatePorts(container: Fields, spec: Fields, path: string): FieldError[] {
  const ports = records(container, 'ports')
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [i, port] of ports.entries()) {
    const here = `${path}[${i}]`
    const name = str(port, 'name')
    if (name !== '') {
      const nameErrors = invalidBy(portName, name, `${here}.name`)
      errors.push(
        ...(nameErrors.length === 0 && names.has(name) ? [fieldError.duplicate(`${here}.name`, name)] : nameErrors),
      )
      names.add(name)
    }
    if (isEmpty(port.containerPort)) errors.push(fieldError.required(`${here}.containerPort`))
    else errors.push(...portNumber(port.containerPort, `${here}.containerPort`))
    if (!isEmpty(port.hostPort)) {
      errors.push(...portNumber(port.hostPort, `${here}.hostPort`))
      if (spec.hostNetwork === true && port.hostPort !== port.containerPort) {
        errors.push(
          fieldError.invalid(
            `${here}.containerPort`,
            port.containerPort,
            'must match `hostPort` when `hostNetwork` is true',
          ),
        )
      }
    }
    errors.push(...oneOf(str(port, 'protocol'), `${here}.protocol`, PROTOCOLS))
  }
  return errors
}

/** Printable ASCII but `=`. */
export function environmentName(value: string): string[] {
  if (/^[ -<>-~]+$/.test(value)) return []
  return ["a valid environment variable name must consist only of printable ASCII characters other than '='"]
}

const VALUE_SOURCES = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef']

function validateVariable(variable: Fields, path: string): FieldError[] {
  const errors = requiredName(str(variable, 'name'), `${path}.name`, environmentName)
  if (!has(variable, 'valueFrom')) return errors
  const source = record(variable, 'valueFrom')
  const here = `${path}.valueFrom`
  const used = VALUE_SOURCES.filter(name => has(source, name))
  if (used.length === 0) {
    const detail = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'
    errors.push(fieldError.invalid(here, '', detail))
  } else if (str(variable, 'value') !== '') {
    errors.push(fieldError.invalid(here, '', 'may not be specified when `value` is not empty'))
  } else if (used.length > 1) {
    errors.push(fieldError.invalid(here, '', 'may not have more than one field specified at a time'))
  }
  for (const name of used) {
    const reference = record(source, name)
    if (name === 'configMapKeyRef' || name === 'secretKeyRef') {
      if (str(reference, 'key') === '') errors.push(fieldError.required(`${here}.${name}.key`))
      else errors.push(...invalidBy(configKey, str(reference, 'key'), `${here}.${name}.key`))
    } else if (name === 'fieldRef' && str(reference, 'fieldPath') === '') {
      errors.push(fieldError.required(`${here}.fieldRef.fieldPath`))
    } else if (name === 'resourceFieldRef' && str(reference, 'resource') === '') {
      errors.push(fieldError.required(`${here}.resourceFieldRef.resource`))
    }
  }
  return errors
}

/** Errors about the choice of source are, as upstream's, on the whole list. */
function validateVariables(source: Fields, whole: string, index: number): FieldError[] {
  const path = `${whole}[${index}]`
  const errors: FieldError[] = []
  if (str(source, 'prefix') !== '') errors.push(...invalidBy(environmentName, str(source, 'prefix'), `${path}.prefix`))
  const used = ['configMapRef', 'secretRef'].filter(name => has(source, name))
  for (const name of used) {
    if (str(source, name, 'name') === '') errors.push(fieldError.required(`${path}.${name}.name`))
  }
  if (used.length === 0) {
    errors.push(fieldError.invalid(whole, '', 'must specify one of: `configMapRef` or `secretRef`'))
  } else if (used.length > 1) {
    errors.push(fieldError.invalid(whole, '', 'may not have more than one field specified at a time'))
  }
  return errors
}

function validateMounts(container: Fields, spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const volumes = new Set(records(spec, 'volumes').map(v => str(v, 'name')))
  const paths = new Set<string>()
  for (const [i, mount] of records(container, 'volumeMounts').entries()) {
    const here = `${path}.volumeMounts[${i}]`
    const name = str(mount, 'name')
    const mountPath = str(mount, 'mountPath')
    if (name === '') errors.push(fieldError.required(`${here}.name`))
    if (!volumes.has(name)) errors.push(fieldError.notFound(`${here}.name`, name))
    if (mountPath === '') errors.push(fieldError.required(`${here}.mountPath`))
    else if (paths.has(mountPath)) errors.push(fieldError.invalid(`${here}.mountPath`, mountPath, 'must be unique'))
    paths.add(mountPath)
    for (const field of ['subPath', 'subPathExpr']) {
      const value = str(mount, field)
      if (value.startsWith('/')) errors.push(fieldError.invalid(`${here}.${field}`, value, 'must be a relative path'))
      else if (value.split('/').includes('..')) {
        errors.push(fieldError.invalid(`${here}.${field}`, value, "must not contain '..'"))
      }
    }
  }
  for (const [i, device] of records(container, 'volumeDevices').entries()) {
    const here = `${path}.volumeDevices[${i}]`
    if (str(device, 'name') === '') errors.push(fieldError.required(`${here}.name`))
    else if (!volumes.has(str(device, 'name'))) errors.push(fieldError.notFound(`${here}.name`, str(device, 'name')))
    if (str(device, 'devicePath') === '') errors.push(fieldError.required(`${here}.devicePath`))
  }
  return [...errors, ...duplicates(records(container, 'volumeDevices'), `${path}.volumeDevices`, 'devicePath')]
}

function validateLifecycle(container: Fields, path: string): FieldError[] {
  return ['postStart', 'preStop']
    .filter(hook => has(container, 'lifecycle', hook))
    .flatMap(hook => validateHandler(record(container, 'lifecycle', hook), `${path}.lifecycle.${hook}`))
}

function validateProbes(container: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    if (!has(container, name)) continue
    const probe = record(container, name)
    const here = `${path}.${name}`
    errors.push(...validateHandler(probe, here))
    errors.push(
      ...nonNegative(
        probe,
        here,
        'initialDelaySeconds',
        'timeoutSeconds',
        'periodSeconds',
        'successThreshold',
        'failureThreshold',
      ),
    )
    if (name !== 'readinessProbe' && num(probe, 'successThreshold') !== 1) {
      errors.push(fieldError.invalid(`${here}.successThreshold`, num(probe, 'successThreshold'), 'must be 1'))
    }
  }
  return errors
}

function validateHandler(handler: Fields, path: string): FieldError[] {
  const used = HANDLERS.filter(name => has(handler, name))
  if (used.length === 0) return [fieldError.required(path, 'must specify a handler type')]
  const errors = used
    .slice(1)
    .map(name => fieldError.forbidden(`${path}.${name}`, 'may not specify more than 1 handler type'))
  const action = record(handler, used[0]!)
  const here = `${path}.${used[0]}`
  if (used[0] === 'exec' && list(action, 'command').length === 0) errors.push(fieldError.required(`${here}.command`))
  if (used[0] === 'httpGet' && str(action, 'path') === '') errors.push(fieldError.required(`${here}.path`))
  if (used[0] === 'httpGet' || used[0] === 'tcpSocket') errors.push(...portOrName(action.port, `${here}.port`))
  if (used[0] === 'httpGet') errors.push(...oneOf(str(action, 'scheme'), `${here}.scheme`, ['HTTP', 'HTTPS']))
  return errors
}
