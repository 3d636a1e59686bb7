/**
 * ResourceClaims, their templates, and DeviceClasses.
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, num, record, records, setDefault, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain } from '../../apimachinery/names.ts'
import { validateAnnotations, validateLabels } from '../../apimachinery/objectMeta.ts'
import { immutable, invalidBy, repeated, requiredName } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { nodeSelector } from '../pods/affinity.ts'
import { conditions, when } from '../shapes.ts'
import { CLIENT_METADATA, type Strategy } from '../strategy.ts'
import { csiDriverName } from '../volumes/volumeRules.ts'
import {
  bindingConditions,
  configuration,
  deviceTolerations,
  eachOf,
  fullAttributeName,
  poolName,
  rawObject,
  requestName,
  selectors,
} from './devices.ts'

const MOST = { requests: 32, constraints: 32, config: 32, alternatives: 8, reserved: 256, results: 32, conditions: 8 }
const MOST_ADDRESSES = 16
const LONGEST = { interfaceName: 256, hardwareAddress: 128 }
const DATA_LIMIT_BYTES = 10 * 1024
const NOT_A_REQUEST =
  "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
const EXTENDED_RESOURCE = /^(?!requests\.)(?!(.*\.)?kubernetes\.io\/)[^/]+\/[^/]+$/

const claims = withStatus({
  noGeneration: true,
  statusKeeps: CLIENT_METADATA,
  applyDefaults: object => defaultDevices(record(object, 'spec', 'devices')),
  validate: (object, old) => (old ? [] : validateDevices(record(object, 'spec', 'devices'), 'spec.devices')),
  validateUpdate: (object, old) => immutable(object.spec, old.spec, 'spec'),
  validateStatusUpdate(object) {
    const status = record(object, 'status')
    const requests = requestsOf(record(object, 'spec', 'devices'))
    const reserved = records(status, 'reservedFor')
    const allocated = new Set(records(status, 'allocation', 'devices', 'results').map(deviceId))
    return [
      ...eachOf(reserved, MOST.reserved, 'status.reservedFor', validateConsumer, consumer => str(consumer, 'uid')),
      ...records(status, 'devices').flatMap((device, i) =>
        validateDeviceStatus(device, `status.devices[${i}]`, allocated),
      ),
      ...repeated(records(status, 'devices').map(deviceId), i => `status.devices[${i}]`),
      ...when(reserved.length > 0 && !has(status, 'allocation'), () =>
        fieldError.forbidden('status.reservedFor', 'may not be specified when `allocated` is not set'),
      ),
      ...(has(status, 'allocation')
        ? validateAllocation(record(status, 'allocation'), 'status.allocation', requests)
        : []),
    ]
  },
})

const templates: Strategy = {
  noGeneration: true,
  applyDefaults: object => defaultDevices(record(object, 'spec', 'spec', 'devices')),
  validate(object, old) {
    if (old) return []
    const metadata = record(object, 'spec', 'metadata')
    return [
      ...validateAnnotations(record(metadata, 'annotations') as Record<string, string>, 'spec.metadata.annotations'),
      ...validateLabels(record(metadata, 'labels') as Record<string, string>, 'spec.metadata.labels'),
      ...validateDevices(record(object, 'spec', 'spec', 'devices'), 'spec.spec.devices'),
    ]
  },
  validateUpdate: (object, old) => immutable(object.spec, old.spec, 'spec'),
}

const classes: Strategy = {
  validate(object) {
    const spec = record(object, 'spec')
    const extended = str(spec, 'extendedResourceName')
    return [
      ...selectors(spec, 'spec'),
      ...eachOf(records(spec, 'config'), MOST.config, 'spec.config', configuration),
      ...when(has(spec, 'extendedResourceName') && !EXTENDED_RESOURCE.test(extended), () =>
        fieldError.invalid('spec.extendedResourceName', extended, 'must be a valid extended resource name'),
      ),
    ]
  },
}

const GROUP = 'resource.k8s.io'
export const resourceClaimStrategies: Strategies = {
  [`${GROUP}/resourceclaims`]: claims,
  [`${GROUP}/resourceclaimtemplates`]: templates,
  [`${GROUP}/deviceclasses`]: classes,
}

function defaultDevices(devices: Fields): void {
  for (const request of records(devices, 'requests')) {
    for (const each of [
      ...(has(request, 'exactly') ? [ensure(request, 'exactly')] : []),
      ...records(request, 'firstAvailable'),
    ]) {
      setDefault(each, 'allocationMode', 'ExactCount')
      if (each.allocationMode === 'ExactCount') setDefault(each, 'count', 1)
      for (const toleration of records(each, 'tolerations')) setDefault(toleration, 'operator', 'Equal')
    }
  }
}

/** Names of the requests, and of their alternatives as `request/alternative`. */
function requestsOf(devices: Fields): ReadonlySet<string> {
  return new Set(
    records(devices, 'requests').flatMap(request => {
      const name = str(request, 'name')
      return [name, ...records(request, 'firstAvailable').map(each => `${name}/${str(each, 'name')}`)]
    }),
  )
}

function validateDevices(devices: Fields, path: string): FieldError[] {
  const names = requestsOf(devices)
  return [
    ...eachOf(records(devices, 'requests'), MOST.requests, `${path}.requests`, validateRequest, request =>
      str(request, 'name'),
    ),
    ...eachOf(records(devices, 'constraints'), MOST.constraints, `${path}.constraints`, (constraint, at) => [
      ...requestReferences(constraint, at, names),
      ...validateConstraint(constraint, at),
    ]),
    ...eachOf(records(devices, 'config'), MOST.config, `${path}.config`, (config, at) => [
      ...requestReferences(config, at, names),
      ...configuration(config, at),
    ]),
  ]
}

function validateRequest(request: Fields, path: string): FieldError[] {
  const alternatives = records(request, 'firstAvailable')
  const [exactly, several] = [has(request, 'exactly'), alternatives.length > 0]
  const rule = 'exactly one of `exactly` or `firstAvailable` is required'
  const errors = requestName(str(request, 'name'), `${path}.name`)
  if (!exactly && !several) return [...errors, fieldError.required(path, rule)]
  if (exactly && several) {
    return [...errors, fieldError.invalid(path, 'null', `${rule}, but multiple fields are set`)]
  }
  if (exactly) return [...errors, ...validateWanted(record(request, 'exactly'), `${path}.exactly`)]
  return [
    ...errors,
    ...eachOf(
      alternatives,
      MOST.alternatives,
      `${path}.firstAvailable`,
      (each, at) => [...requestName(str(each, 'name'), `${at}.name`), ...validateWanted(each, at)],
      each => str(each, 'name'),
    ),
  ]
}

function validateWanted(wanted: Fields, path: string): FieldError[] {
  const mode = str(wanted, 'allocationMode')
  const count = num(wanted, 'count')
  const invalid = (detail: string) => fieldError.invalid(`${path}.count`, count, detail)
  return [
    ...requiredName(str(wanted, 'deviceClassName'), `${path}.deviceClassName`, dns1123Subdomain),
    ...selectors(wanted, path),
    ...(mode === 'All'
      ? when(count !== 0, () => invalid("must not be specified when allocationMode is 'All'"))
      : mode === 'ExactCount'
        ? when(count <= 0, () => invalid('must be greater than zero'))
        : [fieldError.notSupported(`${path}.allocationMode`, mode, ['All', 'ExactCount'])]),
    ...deviceTolerations(wanted, path),
  ]
}

function validateConstraint(constraint: Fields, path: string): FieldError[] {
  const attribute = ['matchAttribute', 'distinctAttribute'].find(field => has(constraint, field))
  if (attribute !== undefined) return fullAttributeName(str(constraint, attribute), `${path}.${attribute}`)
  return [
    fieldError.required(
      path,
      'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    ),
  ]
}

function requestReferences(holder: Fields, path: string, known: ReadonlySet<string>): FieldError[] {
  return eachOf(
    strings(holder, 'requests'),
    MOST.requests,
    `${path}.requests`,
    (name, at) => requestReference(name, at, known),
    name => name,
  )
}

function requestReference(name: string, field: string, known: ReadonlySet<string>): FieldError[] {
  const parts = name.split('/')
  if (parts.length > 2) return [fieldError.invalid(field, name, NOT_A_REQUEST)]
  return [
    ...parts.flatMap(part => requestName(part, field)),
    ...when(!known.has(name), () => fieldError.invalid(field, name, NOT_A_REQUEST)),
  ]
}

function validateConsumer(consumer: Fields, path: string): FieldError[] {
  return ['resource', 'name', 'uid'].flatMap(field =>
    when(str(consumer, field) === '', () => fieldError.required(`${path}.${field}`)),
  )
}

function validateAllocation(allocation: Fields, path: string, requests: ReadonlySet<string>): FieldError[] {
  const devices = record(allocation, 'devices')
  return [
    ...eachOf(records(devices, 'results'), MOST.results, `${path}.devices.results`, (result, at) => [
      ...requestReference(str(result, 'request'), `${at}.request`, requests),
      ...validateDeviceName(result, at),
      ...bindingConditions(result, at),
    ]),
    ...eachOf(records(devices, 'config'), 2 * MOST.config, `${path}.devices.config`, (config, at) => [
      ...validateSource(str(config, 'source'), `${at}.source`),
      ...requestReferences(config, at, requests),
      ...configuration(config, at),
    ]),
    ...(has(allocation, 'nodeSelector')
      ? nodeSelector(record(allocation, 'nodeSelector'), `${path}.nodeSelector`)
      : []),
  ]
}

function validateSource(source: string, field: string): FieldError[] {
  if (source === '') return [fieldError.required(field)]
  const known = ['FromClaim', 'FromClass']
  return when(!known.includes(source), () => fieldError.notSupported(field, source, known))
}

function validateDeviceName(device: Fields, path: string): FieldError[] {
  return [
    ...csiDriverName(str(device, 'driver'), `${path}.driver`),
    ...poolName(str(device, 'pool'), `${path}.pool`),
    ...invalidBy(dns1123Label, str(device, 'device'), `${path}.device`),
  ]
}

const deviceId = (device: Fields): string =>
  ['driver', 'pool', 'device', 'shareID']
    .filter(field => str(device, field) !== '')
    .map(field => str(device, field))
    .join('/')

function validateDeviceStatus(device: Fields, path: string, allocated: ReadonlySet<string>): FieldError[] {
  const network = record(device, 'networkData')
  const ips = strings(network, 'ips')
  return [
    ...validateDeviceName(device, path),
    ...when(!allocated.has(deviceId(device)), () =>
      fieldError.invalid(path, deviceId(device), 'must be an allocated device in the claim'),
    ),
    ...when(records(device, 'conditions').length > MOST.conditions, () =>
      fieldError.tooMany(`${path}.conditions`, records(device, 'conditions').length, MOST.conditions),
    ),
    ...conditions(device, 'conditions', `${path}.conditions`),
    ...(has(device, 'data') ? rawObject(device.data, `${path}.data`, DATA_LIMIT_BYTES) : []),
    ...Object.entries(LONGEST).flatMap(([field, limit]) =>
      when(str(network, field).length > limit, () => fieldError.tooLong(`${path}.networkData.${field}`, limit)),
    ),
    ...when(ips.length > MOST_ADDRESSES, () =>
      fieldError.tooMany(`${path}.networkData.ips`, ips.length, MOST_ADDRESSES),
    ),
    ...repeated(ips, i => `${path}.networkData.ips[${i}]`),
  ]
}
