/** EndpointSlices. @see https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/ */
import { isIP } from 'node:net'
import { type FieldError, fieldError, oneOf } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, record, records, setDefaults, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { validateLabels } from '../../apimachinery/objectMeta.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { immutable, invalidBy, PROTOCOLS, repeated, repeats } from '../checks.ts'
import type { Strategies } from '../kind.ts'
import { atMost, optionalName, qualifiedDomain, when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'
import { addressWarnings, ordinaryAddress } from './addresses.ts'

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6']
const MOST = { endpoints: 1000, addresses: 100, ports: 20_000, topology: 16, hints: 8 }
const ZONE = 'topology.kubernetes.io/zone'
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
/** They write canonical addresses. */
const CONTROLLERS = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']

const endpointSlices: Strategy = {
  applyDefaults(object) {
    for (const port of records(object, 'ports')) setDefaults(port, { name: '', protocol: 'TCP' })
    for (const endpoint of records(object, 'endpoints')) ensure(endpoint, 'conditions')
  },
  prepareForUpdate(object, old) {
    if (sameMeaning(object.metadata.labels, old.metadata.labels)) return
    object.metadata.generation = (old.metadata.generation ?? 0) + 1
  },
  validate(object, old) {
    // the server's own may be a loopback one
    const known = new Set(records(old, 'endpoints').flatMap(endpoint => strings(endpoint, 'addresses')))
    const endpoints = records(object, 'endpoints')
    const ports = records(object, 'ports')
    const type = str(object, 'addressType')
    const tooMany = atMost(endpoints, MOST.endpoints, 'endpoints')
    return [
      ...oneOf(type, 'addressType', ADDRESS_TYPES),
      ...(tooMany.length > 0
        ? tooMany
        : endpoints.flatMap((endpoint, i) => validateEndpoint(endpoint, { type, known }, `endpoints[${i}]`))),
      ...validatePorts(ports),
    ]
  },
  validateUpdate: (object, old) => immutable(object.addressType, old.addressType, 'addressType'),
  warnings: (object, old) => [
    ...when(
      old === undefined && object.addressType === 'FQDN',
      () => 'spec.addressType: FQDN endpoints are deprecated',
    ),
    ...unusualAddresses(object),
  ],
}

export const endpointSliceStrategies: Strategies = { 'discovery.k8s.io/endpointslices': endpointSlices }

function unusualAddresses(object: KubeObject): string[] {
  if (CONTROLLERS.includes(object.metadata.labels?.[MANAGED_BY] ?? '')) return []
  if (object.addressType !== 'IPv4' && object.addressType !== 'IPv6') return []
  return records(object, 'endpoints').flatMap((endpoint, i) =>
    strings(endpoint, 'addresses').flatMap((address, j) => addressWarnings(address, `endpoints[${i}].addresses[${j}]`)),
  )
}

function validateEndpoint(endpoint: Fields, rule: AddressRule, path: string): FieldError[] {
  const addresses = strings(endpoint, 'addresses')
  const field = `${path}.addresses`
  const topology = record(endpoint, 'deprecatedTopology') as Record<string, string>
  const at = `${path}.deprecatedTopology`
  return [
    ...when(addresses.length === 0, () => fieldError.required(field, 'must contain at least 1 address')),
    ...atMost(addresses, MOST.addresses, field),
    ...addresses.flatMap((address, i) => validateAddress(address, rule, `${field}[${i}]`)),
    ...(has(endpoint, 'nodeName') ? invalidBy(dns1123Subdomain, str(endpoint, 'nodeName'), `${path}.nodeName`) : []),
    ...atMost(Object.keys(topology), MOST.topology, at),
    ...validateLabels(topology, at),
    ...when(topology[ZONE] !== undefined, () => ({
      type: 'InternalError' as const,
      field: `${at}[${ZONE}]`,
      detail: 'reserved key was not removed in conversion',
    })),
    ...(has(endpoint, 'hostname') ? invalidBy(dns1123Label, str(endpoint, 'hostname'), `${path}.hostname`) : []),
    ...validateHints(endpoint, 'forZones', labelValue, `${path}.hints.forZones`),
    ...validateHints(endpoint, 'forNodes', dns1123Subdomain, `${path}.hints.forNodes`),
  ]
}

interface AddressRule {
  type: string
  /** Addresses of the stored object. */
  known: ReadonlySet<string>
}

function validateAddress(address: string, { type, known }: AddressRule, field: string): FieldError[] {
  if (type === 'FQDN') return qualifiedDomain(address, field)
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const is = isIP(address) === (type === 'IPv4' ? 4 : 6)
  return [
    ...when(!is, () => fieldError.invalid(field, address, `must be a valid ${type} address`)),
    ...(known.has(address) ? [] : ordinaryAddress(address, field)),
  ]
}

function validateHints(
  endpoint: Fields,
  member: string,
  rule: (value: string) => string[],
  field: string,
): FieldError[] {
  const names = records(endpoint, 'hints', member).map(hint => str(hint, 'name'))
  const tooMany = atMost(names, MOST.hints, field)
  if (tooMany.length > 0) return tooMany
  return [
    ...repeated(names, i => `${field}[${i}].name`),
    ...names.flatMap((name, i) => invalidBy(rule, name, `${field}[${i}].name`)),
  ]
}

function validatePorts(ports: readonly Fields[]): FieldError[] {
  const tooMany = atMost(ports, MOST.ports, 'ports')
  if (tooMany.length > 0) return tooMany
  const again = repeats(ports.map(port => str(port, 'name')))
  return ports.flatMap((port, i) => {
    const name = str(port, 'name')
    return [
      ...optionalName(name, `ports[${i}].name`, dns1123Label),
      ...when(again[i]!, () => fieldError.duplicate(`ports[${i}].name`, name)),
      ...oneOf(str(port, 'protocol'), `ports[${i}].protocol`, PROTOCOLS),
      ...(has(port, 'appProtocol')
        ? invalidBy(qualifiedName, str(port, 'appProtocol'), `ports[${i}].appProtocol`)
        : []),
    ]
  })
}
