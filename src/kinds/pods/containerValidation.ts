/** The three lists of containers of a pod spec: names, images, ports, and what each kind of container may have. */
import { type FieldError, fieldError, oneOf } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, isEmpty, list, record, records, str } from '../../apimachinery/fields.ts'
import { invalidBy, PROTOCOLS, portName, portNumber, repeats, requiredName } from '../checks.ts'
import { choice } from '../shapes.ts'
import { validateEnvironment } from './containerEnvironment.ts'
import { RUNNING_ONLY, validateRunning } from './containerHandlers.ts'
import { validateDevices, validateMounts } from './containerMounts.ts'
import type { PodScope } from './podScope.ts'
import { requirements } from './resources.ts'
import { containerSecurity } from './securityContext.ts'

const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']

export function validateContainers(scope: PodScope): FieldError[] {
  const path = `${scope.path}.containers`
  const containers = records(scope.spec, 'containers')
  if (containers.length === 0) return [fieldError.required(path)]
  const names = new Set<string>()
  const errors = containers.flatMap((container, i) => {
    const here = `${path}[${i}]`
    return [
      ...validateContainer(container, here, scope),
      ...takenName(container, names, here),
      ...validateRunning(container, here, scope),
      ...restartRules(container, here),
    ]
  })
  return [...errors, ...hostPortConflicts(containers, path)]
}

export function validateInitContainers(scope: PodScope): FieldError[] {
  const path = `${scope.path}.initContainers`
  const names = new Set(records(scope.spec, 'containers').map(container => str(container, 'name')))
  return records(scope.spec, 'initContainers').flatMap((container, i) => {
    const here = `${path}[${i}]`
    const detail = 'may not be set for init containers without restartPolicy=Always'
    return [
      ...validateContainer(container, here, scope),
      ...restartRules(container, here),
      ...takenName(container, names, here),
      // they run one by one, so each has the ports for itself
      ...hostPortConflicts([container], path),
      ...(container.restartPolicy === 'Always'
        ? validateRunning(container, here, scope)
        : RUNNING_ONLY.filter(field => has(container, field)).map(f => fieldError.forbidden(`${here}.${f}`, detail))),
    ]
  })
}

/** Fields that an ephemeral container cannot have: it is a guest. */
const NOT_EPHEMERAL = [
  ...['ports', 'resources', 'resizePolicy', 'restartPolicy', 'restartPolicyRules'],
  ...['livenessProbe', 'readinessProbe', 'startupProbe', 'lifecycle'],
]

export function validateEphemeralContainers(scope: PodScope): FieldError[] {
  const others = ['containers', 'initContainers'].flatMap(field => records(scope.spec, field))
  const residents = new Set(others.map(container => str(container, 'name')))
  const names = new Set(residents)
  return records(scope.spec, 'ephemeralContainers').flatMap((container, i) => {
    const here = `${scope.path}.ephemeralContainers[${i}]`
    const target = str(container, 'targetContainerName')
    const guest = 'cannot be set for an Ephemeral Container'
    return [
      ...validateContainer(container, here, scope),
      ...imageSpaces(container, here),
      ...takenName(container, names, here),
      ...(target !== '' && !residents.has(target) ? [fieldError.notFound(`${here}.targetContainerName`, target)] : []),
      ...NOT_EPHEMERAL.filter(field => isSet(container[field])).map(f => fieldError.forbidden(`${here}.${f}`, guest)),
      ...records(container, 'volumeMounts').flatMap((mount, j) =>
        ['subPath', 'subPathExpr']
          .filter(field => str(mount, field) !== '')
          .map(field => fieldError.forbidden(`${here}.volumeMounts[${j}].${field}`, guest)),
      ),
    ]
  })
}

const isSet = (value: unknown): boolean =>
  !isEmpty(value) && (typeof value !== 'object' || value === null || Object.keys(value).length > 0)

/** Pods alone report it, templates never did. */
export function imageSpaces(container: Fields, path: string): FieldError[] {
  const image = str(container, 'image')
  if (image === image.trim()) return []
  return [fieldError.invalid(`${path}.image`, image, 'must not have leading or trailing whitespace')]
}

function takenName(container: Fields, names: Set<string>, path: string): FieldError[] {
  const name = str(container, 'name')
  if (names.has(name)) return [fieldError.duplicate(`${path}.name`, name)]
  if (name !== '') names.add(name)
  return []
}

/** Common rules of all kinds of containers. */
function validateContainer(container: Fields, path: string, scope: PodScope): FieldError[] {
  return [
    ...requiredName(str(container, 'name'), `${path}.name`),
    ...(str(container, 'image') === '' ? [fieldError.required(`${path}.image`)] : []),
    ...oneOf(str(container, 'terminationMessagePolicy'), `${path}.terminationMessagePolicy`, [
      'File',
      'FallbackToLogsOnError',
    ]),
    ...validatePorts(container, `${path}.ports`),
    ...validateEnvironment(container, path, scope),
    ...validateMounts(container, path, scope),
    ...validateDevices(container, path, scope),
    ...oneOf(str(container, 'imagePullPolicy'), `${path}.imagePullPolicy`, PULL_POLICIES),
    ...requirements(container.resources, `${path}.resources`, scope),
    ...resizePolicies(container, `${path}.resizePolicy`, scope),
    ...containerSecurity(container, `${path}.securityContext`, scope),
  ]
}

function validatePorts(container: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [i, port] of records(container, 'ports').entries()) {
    const here = `${path}[${i}]`
    const name = str(port, 'name')
    if (name !== '') {
      const wrong = invalidBy(portName, name, `${here}.name`)
      errors.push(...(wrong.length === 0 && names.has(name) ? [fieldError.duplicate(`${here}.name`, name)] : wrong))
      if (wrong.length === 0) names.add(name)
    }
    if (isEmpty(port.containerPort)) errors.push(fieldError.required(`${here}.containerPort`))
    else errors.push(...portNumber(port.containerPort, `${here}.containerPort`))
    if (!isEmpty(port.hostPort)) errors.push(...portNumber(port.hostPort, `${here}.hostPort`))
    errors.push(...oneOf(str(port, 'protocol'), `${here}.protocol`, PROTOCOLS))
  }
  return errors
}

/** A port of the host is one container's. @param path of the list; indexes count in `containers` */
function hostPortConflicts(containers: readonly Fields[], path: string): FieldError[] {
  const errors: FieldError[] = []
  const taken = new Set<string>()
  for (const [i, container] of containers.entries()) {
    for (const [j, port] of records(container, 'ports').entries()) {
      if (isEmpty(port.hostPort)) continue
      const key = `${str(port, 'protocol')}/${str(port, 'hostIP')}/${port.hostPort}`
      if (taken.has(key)) errors.push(fieldError.duplicate(`${path}[${i}].ports[${j}].hostPort`, key))
      taken.add(key)
    }
  }
  return errors
}

const MAX_RULES = 20
const MAX_EXIT_CODES = 255

/** @see https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#container-restart-rules */
function restartRules(container: Fields, path: string): FieldError[] {
  const rules = records(container, 'restartPolicyRules')
  const errors = choice(container, 'restartPolicy', `${path}.restartPolicy`, ['Always', 'Never', 'OnFailure'])
  if (rules.length > 0 && !has(container, 'restartPolicy')) {
    const detail = 'must specify restartPolicy when restart rules are used'
    errors.push(fieldError.required(`${path}.restartPolicy`, detail))
  }
  const field = `${path}.restartPolicyRules`
  if (rules.length > MAX_RULES) errors.push(fieldError.tooMany(field, rules.length, MAX_RULES))
  for (const [i, rule] of rules.entries()) {
    const here = `${field}[${i}]`
    errors.push(...mustBe(rule, here, 'action', ['Restart', 'RestartAllContainers']))
    if (!has(rule, 'exitCodes')) {
      errors.push(fieldError.required(`${here}.exitCodes`, 'must be specified'))
      continue
    }
    errors.push(...mustBe(record(rule, 'exitCodes'), `${here}.exitCodes`, 'operator', ['In', 'NotIn']))
    const codes = list(rule, 'exitCodes', 'values').length
    if (codes > MAX_EXIT_CODES) errors.push(fieldError.tooMany(`${here}.exitCodes.values`, codes, MAX_EXIT_CODES))
  }
  return errors
}

/** An enumeration whose absence is reported as the empty text. */
function mustBe(object: Fields, path: string, member: string, supported: readonly string[]): FieldError[] {
  const value = str(object, member)
  return supported.includes(value) ? [] : [fieldError.notSupported(`${path}.${member}`, value, supported)]
}

/** Reported for the whole list, as upstream does. */
function resizePolicies(container: Fields, path: string, { spec }: PodScope): FieldError[] {
  const errors: FieldError[] = []
  const policies = records(container, 'resizePolicy')
  const again = repeats(policies.map(policy => str(policy, 'resourceName')))
  for (const [i, policy] of policies.entries()) {
    const [resource, restart] = [str(policy, 'resourceName'), str(policy, 'restartPolicy')]
    if (again[i]) errors.push(fieldError.duplicate(`${path}[${i}]`, resource))
    errors.push(
      ...oneOf(resource, path, ['cpu', 'memory']),
      ...oneOf(restart, path, ['NotRequired', 'RestartContainer']),
    )
    if (spec.restartPolicy === 'Never' && restart !== 'NotRequired') {
      const detail = "must be 'NotRequired' when `restartPolicy` is 'Never'"
      errors.push(fieldError.invalid(path, restart, detail))
    }
  }
  return errors
}
