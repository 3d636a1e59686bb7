/**
 * ResourceSlices: the devices that a driver offers.
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, at as member, num, record, records, str } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../apimachinery/names.ts'
import { immutable, invalidBy, requiredName } from '../checks.ts'
import type { Strategies } from '../kind.ts'
import { nodeSelector } from '../pods/affinity.ts'
import { when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'
import { csiDriverName } from '../volumes/volumeRules.ts'
import { validateCapacity } from './deviceCapacity.ts'
import { attributeName, bindingConditions, eachOf, poolName, TAINT_EFFECTS } from './devices.ts'

const MOST = {
  devices: 128,
  /** Taints and counters make devices larger. */
  elaborateDevices: 64,
  attributes: 32,
  counterSets: 8,
  counters: 32,
  taints: 16,
  consumed: 2,
}
const LONGEST_VALUE = 64
const NUMBER = '(0|[1-9]\\d*)'
const PRERELEASE = '(0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const BUILD = '[0-9a-zA-Z-]+'
const SEMANTIC_VERSION = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(-${PRERELEASE}(\\.${PRERELEASE})*)?(\\+${BUILD}(\\.${BUILD})*)?$`,
)
const NODES = ['nodeName', 'nodeSelector', 'allNodes']
const NOT_TRUE = 'must be either unset or set to true'

const slices: Strategy = {
  validate(object) {
    const spec = record(object, 'spec')
    const pool = record(spec, 'pool')
    const count = num(pool, 'resourceSliceCount')
    const generation = num(pool, 'generation')
    const devices = records(spec, 'devices')
    const elaborate = devices.some(
      device => list(device, 'taints').length + list(device, 'consumesCounters').length > 0,
    )
    return [
      ...csiDriverName(str(spec, 'driver'), 'spec.driver'),
      ...poolName(str(pool, 'name'), 'spec.pool.name'),
      ...when(count <= 0, () => fieldError.invalid('spec.pool.resourceSliceCount', count, 'must be greater than zero')),
      ...when(generation < 0, () =>
        fieldError.invalid('spec.pool.generation', generation, 'must be greater than or equal to zero'),
      ),
      ...validateNodes(spec),
      ...when(has(spec, 'sharedCounters') && has(spec, 'devices'), () =>
        fieldError.invalid('spec', '', 'only one of `sharedCounters` or `devices` is allowed'),
      ),
      ...eachOf(
        devices,
        elaborate ? MOST.elaborateDevices : MOST.devices,
        'spec.devices',
        (device, path) => validateDevice(device, path, spec.perDeviceNodeSelection === true),
        device => str(device, 'name'),
      ),
      ...eachOf(
        records(spec, 'sharedCounters'),
        MOST.counterSets,
        'spec.sharedCounters',
        (set, path) => [...requiredName(str(set, 'name'), `${path}.name`), ...validateCounters(set, path)],
        set => str(set, 'name'),
      ),
    ]
  },
  validateUpdate: (object, old) =>
    [['pool', 'name'], ['driver'], ['nodeName']].flatMap(path =>
      immutable(member(object.spec, ...path), member(old.spec, ...path), ['spec', ...path].join('.')),
    ),
  selectableFields: object => ({
    'spec.nodeName': str(object, 'spec', 'nodeName'),
    'spec.driver': str(object, 'spec', 'driver'),
  }),
}

export const resourceSliceStrategies: Strategies = { 'resource.k8s.io/resourceslices': slices }

/** Exactly one field gives the nodes from which the devices are reached. */
function validateNodes(spec: Fields): FieldError[] {
  const rule = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  const terms = list(spec, 'nodeSelector', 'nodeSelectorTerms')
  const { errors, present } = nodesOf(spec, 'spec', 'must be either unset or set to a non-empty string', true)
  if (has(spec, 'nodeSelector') && terms.length !== 1) {
    const field = 'spec.nodeSelector.nodeSelectorTerms'
    errors.push(fieldError.invalid(field, terms, 'must have exactly one node selector term'))
  }
  if (present.length === 0) errors.push(fieldError.required('spec', rule))
  if (present.length > 1) {
    errors.push(fieldError.invalid('spec', `{${present.join(', ')}}`, `${rule}, but multiple fields are set`))
  }
  return errors
}

function nodesOf(
  holder: Fields,
  path: string,
  emptyName: string,
  slice: boolean,
): { errors: FieldError[]; present: string[] } {
  const errors: FieldError[] = []
  const present: string[] = []
  if (has(holder, 'nodeName')) {
    const name = str(holder, 'nodeName')
    if (name === '') errors.push(fieldError.invalid(`${path}.nodeName`, name, emptyName))
    else {
      present.push('`nodeName`')
      errors.push(...invalidBy(dns1123Subdomain, name, `${path}.nodeName`))
    }
  }
  if (has(holder, 'nodeSelector')) {
    present.push('`nodeSelector`')
    errors.push(...nodeSelector(record(holder, 'nodeSelector'), `${path}.nodeSelector`))
  }
  for (const field of slice ? ['allNodes', 'perDeviceNodeSelection'] : ['allNodes']) {
    if (!has(holder, field)) continue
    if (holder[field] === true) present.push(`\`${field}\``)
    else errors.push(fieldError.invalid(`${path}.${field}`, holder[field], NOT_TRUE))
  }
  return { errors, present }
}

function validateDevice(device: Fields, path: string, ownNodes: boolean): FieldError[] {
  const attributes = Object.entries(record(device, 'attributes'))
  const capacities = Object.entries(record(device, 'capacity'))
  const total = attributes.length + capacities.length
  const shared = device.allowMultipleAllocations === true
  return [
    ...invalidBy(dns1123Label, str(device, 'name'), `${path}.name`),
    ...when(total > MOST.attributes, () =>
      fieldError.invalid(
        path,
        total,
        `the total number of attributes and capacities must not exceed ${MOST.attributes}`,
      ),
    ),
    ...attributes.flatMap(([name, value]) => [
      ...attributeName(name, `${path}.attributes[${name}]`),
      ...validateAttribute(record(value), `${path}.attributes[${name}]`),
    ]),
    ...capacities.flatMap(([name, value]) => [
      ...attributeName(name, `${path}.capacity[${name}]`),
      ...validateCapacity(record(value), `${path}.capacity[${name}]`, shared),
    ]),
    ...eachOf(records(device, 'taints'), MOST.taints, `${path}.taints`, validateTaint),
    ...eachOf(
      records(device, 'consumesCounters'),
      MOST.consumed,
      `${path}.consumesCounters`,
      (use, at) => [...requiredName(str(use, 'counterSet'), `${at}.counterSet`), ...validateCounters(use, at)],
      use => str(use, 'counterSet'),
    ),
    ...validateDeviceNodes(device, path, ownNodes),
    ...bindingConditions(device, path),
  ]
}

function validateDeviceNodes(device: Fields, path: string, ownNodes: boolean): FieldError[] {
  if (!ownNodes) {
    return when(
      NODES.some(field => has(device, field)),
      () =>
        fieldError.invalid(
          path,
          'null',
          '`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec',
        ),
    )
  }
  const rule =
    'exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec'
  const { errors, present } = nodesOf(device, path, 'must not be empty', false)
  if (present.length === 0) errors.push(fieldError.required(path, rule))
  if (present.length > 1) errors.push(fieldError.invalid(path, `{${present.join(', ')}}`, rule))
  return errors
}

function validateCounters(holder: Fields, path: string): FieldError[] {
  const names = Object.keys(record(holder, 'counters'))
  const field = `${path}.counters`
  if (names.length === 0) return [fieldError.required(field)]
  if (names.length > MOST.counters) return [fieldError.tooMany(field, names.length, MOST.counters)]
  return names.flatMap(name => invalidBy(dns1123Label, name, `${field}[${name}]`))
}

function validateAttribute(attribute: Fields, path: string): FieldError[] {
  const present = ['bool', 'int', 'string', 'version'].filter(field => has(attribute, field))
  const version = str(attribute, 'version')
  return [
    ...['string', 'version'].flatMap(field => [
      ...when(field === 'version' && has(attribute, field) && !SEMANTIC_VERSION.test(version), () =>
        fieldError.invalid(`${path}.version`, version, 'must be a string compatible with semver.org spec 2.0.0'),
      ),
      ...when(str(attribute, field).length > LONGEST_VALUE, () =>
        fieldError.tooLong(`${path}.${field}`, LONGEST_VALUE),
      ),
    ]),
    ...when(present.length !== 1, () =>
      fieldError.invalid(path, present.length === 0 ? '' : attribute, 'exactly one value must be specified'),
    ),
  ]
}

function validateTaint(taint: Fields, path: string): FieldError[] {
  const effect = str(taint, 'effect')
  return [
    ...invalidBy(qualifiedName, str(taint, 'key'), `${path}.key`),
    ...invalidBy(labelValue, str(taint, 'value'), `${path}.value`),
    ...(effect === ''
      ? [fieldError.required(`${path}.effect`)]
      : when(!TAINT_EFFECTS.includes(effect), () => fieldError.notSupported(`${path}.effect`, effect, TAINT_EFFECTS))),
  ]
}
