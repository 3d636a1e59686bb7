/** Services and Endpoints. Values of the server are in `serviceNetwork/`. */
import { type FieldError, fieldError, oneOf } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  isEmpty,
  list,
  num,
  record,
  records,
  setDefault,
  setIfEmpty,
  str,
} from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'
import { invalidBy, PROTOCOLS, portNumber, requiredName } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import type { Strategy } from '../strategy.ts'
import { ipAddress, ordinaryAddress } from './addresses.ts'
import { serviceIpChanges } from './serviceAddresses.ts'
import { isExternal, needsHealthCheck, validateService, validateServiceStatus } from './serviceValidation.ts'
import { endpointsWarnings, serviceWarnings } from './serviceWarnings.ts'

const services = withStatus(
  {
    noGeneration: true,
    nameRule: 'dns1035Label',
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setIfEmpty(spec, 'sessionAffinity', 'None')
      setIfEmpty(spec, 'type', 'ClusterIP')
      if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
      else if (spec.sessionAffinity === 'ClientIP') {
        setDefault(ensure(ensure(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds', 10800)
      }
      for (const port of records(spec, 'ports')) {
        setIfEmpty(port, 'protocol', 'TCP')
        setIfEmpty(port, 'targetPort', port.port)
      }
      for (const point of records(object, 'status', 'loadBalancer', 'ingress')) {
        if (spec.type === 'LoadBalancer' && str(point, 'ip') !== '') setDefault(point, 'ipMode', 'VIP')
      }
      if (spec.type === 'ExternalName') return
      setDefault(spec, 'internalTrafficPolicy', 'Cluster')
      if (spec.type === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true)
      if (isExternal(spec)) setIfEmpty(spec, 'externalTrafficPolicy', 'Cluster')
    },
    prepareForCreate: object => pairAddresses(ensure(object, 'spec')),
    prepareForUpdate(object, old) {
      pairClusterIps(ensure(object, 'spec'), record(old, 'spec'))
      keepAllocated(object, old)
      dropUnused(ensure(object, 'spec'), record(old, 'spec'))
      pairAddresses(ensure(object, 'spec'))
    },
    validate: validateService,
    warnings: serviceWarnings,
    validateStatusUpdate: validateServiceStatus,
    validateUpdate(object, old) {
      const errors = serviceIpChanges(object, old)
      const [now, before] = [record(object, 'spec'), record(old, 'spec')]
      const bothBalance = now.type === 'LoadBalancer' && before.type === 'LoadBalancer'
      if (bothBalance && !sameMeaning(now.loadBalancerClass, before.loadBalancerClass)) {
        const shown = now.loadBalancerClass ?? null
        errors.push(fieldError.invalid('spec.loadBalancerClass', shown, 'may not change once set'))
      }
      const bothChecked = needsHealthCheck(now) && needsHealthCheck(before)
      if (bothChecked && num(now, 'healthCheckNodePort') !== num(before, 'healthCheckNodePort')) {
        errors.push(fieldError.forbidden('spec.healthCheckNodePort', 'field is immutable'))
      }
      return errors
    },
    selectableFields: object => ({
      'spec.clusterIP': str(object, 'spec', 'clusterIP'),
      'spec.type': str(object, 'spec', 'type'),
    }),
  },
  () => ({ loadBalancer: {} }),
)

const endpoints: Strategy = {
  noGeneration: true,
  createOnUpdate: true,
  applyDefaults(object) {
    for (const subset of records(object, 'subsets')) {
      for (const port of records(subset, 'ports')) setIfEmpty(port, 'protocol', 'TCP')
    }
  },
  warnings: endpointsWarnings,
  validate: (object, old) => {
    const known = records(old, 'subsets').flatMap(subset => ADDRESSES.flatMap(kind => records(subset, kind)))
    const ips = new Set(known.map(address => str(address, 'ip')))
    return records(object, 'subsets').flatMap((subset, i) => subsetErrors(subset, `subsets[${i}]`, ips))
  },
}
const ADDRESSES = ['addresses', 'notReadyAddresses']

/** @param known addresses that are stored, and not judged anew: the server's own may be a loopback one */
function subsetErrors(subset: Fields, path: string, known: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = []
  if (ADDRESSES.every(kind => list(subset, kind).length === 0)) {
    errors.push(fieldError.required(path, 'must specify `addresses` or `notReadyAddresses`'))
  }
  for (const kind of ADDRESSES) {
    for (const [i, address] of records(subset, kind).entries()) {
      const here = `${path}.${kind}[${i}]`
      const [ip, host] = [str(address, 'ip'), str(address, 'hostname')]
      if (!known.has(ip)) errors.push(...ipAddress(ip, `${here}.ip`))
      if (host !== '') errors.push(...invalidBy(dns1123Label, host, `${here}.hostname`))
      if (has(address, 'nodeName')) {
        errors.push(...invalidBy(dns1123Subdomain, str(address, 'nodeName'), `${here}.nodeName`))
      }
      if (!known.has(ip)) errors.push(...ordinaryAddress(ip, `${here}.ip`))
    }
  }
  const ports = records(subset, 'ports')
  for (const [i, port] of ports.entries()) {
    const here = `${path}.ports[${i}]`
    if (ports.length > 1 || str(port, 'name') !== '') errors.push(...requiredName(str(port, 'name'), `${here}.name`))
    errors.push(...portNumber(port.port ?? 0, `${here}.port`))
    errors.push(...oneOf(str(port, 'protocol'), `${here}.protocol`, PROTOCOLS))
    if (!has(port, 'appProtocol')) continue
    errors.push(...invalidBy(qualifiedName, str(port, 'appProtocol'), `${here}.appProtocol`))
  }
  return errors
}

export const serviceStrategies: Strategies = { '/services': services, '/endpoints': endpoints }

/** A single address stands in both fields. */
function pairAddresses(spec: Fields): void {
  if (str(spec, 'clusterIP') !== '' && list(spec, 'clusterIPs').length === 0) spec.clusterIPs = [spec.clusterIP]
}

/** Allocated values stay when the client leaves them out and the Service still needs them. */
function keepAllocated(object: KubeObject, old: KubeObject): void {
  const now = ensure(object, 'spec')
  const before = record(old, 'spec')
  if (now.type === 'ExternalName' || before.type === 'ExternalName') return
  if (isEmpty(now.clusterIP) && list(now, 'clusterIPs').length === 0 && !isEmpty(before.clusterIP)) {
    now.clusterIP = before.clusterIP
    now.clusterIPs = cloneJson(before.clusterIPs ?? [before.clusterIP])
  }
  if (needsHealthCheck(now) && needsHealthCheck(before) && has(before, 'healthCheckNodePort')) {
    setIfEmpty(now, 'healthCheckNodePort', before.healthCheckNodePort)
  }
  if (now.type === 'ClusterIP') return
  const kept = new Map(records(before, 'ports').map(port => [`${port.protocol}/${port.port}`, port]))
  for (const port of records(now, 'ports')) {
    const same = kept.get(`${port.protocol}/${port.port}`)
    if (same !== undefined && has(same, 'nodePort')) setIfEmpty(port, 'nodePort', same.nodePort)
  }
}

/** Values that the former type needed and this one cannot have go, unless the client changes them. */
function dropUnused(now: Fields, before: Fields): void {
  const drop = (had: boolean, needed: boolean, ...fields: readonly string[]): void => {
    if (!had || needed) return
    for (const field of fields) if (sameMeaning(now[field], before[field])) delete now[field]
  }
  const named = (spec: Fields): boolean => spec.type === 'ExternalName'
  const balances = (spec: Fields): boolean => spec.type === 'LoadBalancer'
  const onNodes = (spec: Fields): boolean => spec.type === 'NodePort' || balances(spec)
  if (!named(before) && named(now) && sameMeaning(now.clusterIPs ?? [], before.clusterIPs ?? [])) delete now.clusterIP
  drop(!named(before), !named(now), 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy')
  const nodePorts = (spec: Fields): unknown[] => records(spec, 'ports').map(port => port.nodePort)
  if (onNodes(before) && !onNodes(now) && sameMeaning(nodePorts(now), nodePorts(before))) {
    for (const port of records(now, 'ports')) delete port.nodePort
  }
  drop(needsHealthCheck(before), needsHealthCheck(now), 'healthCheckNodePort')
  drop(balances(before), balances(now), 'allocateLoadBalancerNodePorts', 'loadBalancerClass')
  drop(isExternal(before), isExternal(now), 'externalTrafficPolicy')
}

/** A client that knows one of the two fields changes both. */
function pairClusterIps(now: Fields, before: Fields): void {
  if (sameMeaning(now.clusterIP || undefined, before.clusterIP || undefined)) return
  if (isEmpty(before.clusterIP) || !sameMeaning(now.clusterIPs, before.clusterIPs)) return
  if (isEmpty(now.clusterIP)) delete now.clusterIPs
  else now.clusterIPs = [now.clusterIP]
}
