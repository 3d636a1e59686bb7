/**
 * Validation of Services, in upstream's order and words, and what upstream warns of.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/
 */
import { isIP } from 'node:net'
import { type FieldError, fieldError, oneOf } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, isEmpty, list, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { validateLabels } from '../../apimachinery/objectMeta.ts'
import { invalidBy, PROTOCOLS, portNumber, portOrName, repeats } from '../checks.ts'
import { choice, when } from '../shapes.ts'
import { cidr, ipAddress, ordinaryAddress } from './addresses.ts'
import { serviceIpErrors } from './serviceAddresses.ts'

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints'
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode'
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'
/** Seconds: three hours would do, but it is a day. */
const MAX_AFFINITY = 86400

const isHeadless = (spec: Fields): boolean =>
  list(spec, 'clusterIPs').length === 1 && list(spec, 'clusterIPs')[0] === 'None'

/** Reached from outside: the entry of its traffic is configurable. */
export const isExternal = (spec: Fields): boolean =>
  spec.type === 'LoadBalancer' ||
  spec.type === 'NodePort' ||
  (spec.type === 'ClusterIP' && list(spec, 'externalIPs').length > 0)

export const needsHealthCheck = (spec: Fields): boolean =>
  spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'

export function validateService(service: KubeObject, old?: KubeObject): FieldError[] {
  const spec = record(service, 'spec')
  const annotations = service.metadata.annotations ?? {}
  const type = str(spec, 'type')
  const ports = records(spec, 'ports')
  const errors: FieldError[] = []
  const [mode, hints] = [annotations[TOPOLOGY_MODE], annotations[TOPOLOGY_HINTS]]
  if (mode !== undefined && hints !== undefined && mode !== hints) {
    const detail = `must match annotations[${TOPOLOGY_HINTS}] when both are specified`
    errors.push(fieldError.invalid(`metadata.annotations[${TOPOLOGY_MODE}]`, mode, detail))
  }
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') errors.push(fieldError.required('spec.ports'))
  return [
    ...errors,
    ...typeErrors(spec, type),
    ...portErrors(ports),
    ...validateLabels(record(spec, 'selector') as Record<string, string>, 'spec.selector'),
    ...affinityErrors(spec),
    ...(type === 'ExternalName' ? [] : serviceIpErrors(spec, record(old, 'spec'))),
    ...externalIps(strings(spec, 'externalIPs'), new Set(strings(old, 'spec', 'externalIPs'))),
    ...oneOf(type, 'spec.type', TYPES),
    ...when(type === 'ClusterIP', () => ports).flatMap(own =>
      own.flatMap((port, i) =>
        when(num(port, 'nodePort') !== 0, () =>
          fieldError.forbidden(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"),
        ),
      ),
    ),
    ...repeatedPorts(ports),
    ...loadBalancerErrors(spec, annotations, old),
    ...trafficErrors(spec),
  ]
}

function typeErrors(spec: Fields, type: string): FieldError[] {
  if (type === 'LoadBalancer' || type === 'NodePort') {
    const detail = `may not be set to 'None' for ${type} services`
    return when(isHeadless(spec), () => fieldError.invalid('spec.clusterIPs[0]', 'None', detail))
  }
  if (type !== 'ExternalName') return []
  const errors = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy']
    .filter(field => (field === 'ipFamilyPolicy' ? has(spec, field) : list(spec, field).length > 0))
    .map(field => fieldError.forbidden(`spec.${field}`, 'may not be set for ExternalName services'))
  const name = str(spec, 'externalName').replace(/\.$/, '')
  if (name === '') return [...errors, fieldError.required('spec.externalName')]
  return [...errors, ...invalidBy(dns1123Subdomain, name, 'spec.externalName')]
}

function portErrors(ports: readonly Fields[]): FieldError[] {
  const names = new Set<string>()
  return ports.flatMap((port, i) => {
    const path = `spec.ports[${i}]`
    const name = str(port, 'name')
    const errors: FieldError[] = []
    if (name === '' && ports.length > 1) errors.push(fieldError.required(`${path}.name`))
    else if (name !== '') {
      errors.push(...invalidBy(dns1123Label, name, `${path}.name`))
      if (names.has(name)) errors.push(fieldError.duplicate(`${path}.name`, name))
      names.add(name)
    }
    return [
      ...errors,
      ...portNumber(port.port ?? 0, `${path}.port`),
      ...oneOf(str(port, 'protocol'), `${path}.protocol`, PROTOCOLS),
      ...portOrName(port.targetPort, `${path}.targetPort`),
      ...(has(port, 'appProtocol') ? invalidBy(qualifiedName, str(port, 'appProtocol'), `${path}.appProtocol`) : []),
      // the allocator validates it upstream
      ...(isEmpty(port.nodePort) ? [] : portNumber(port.nodePort, `${path}.nodePort`)),
    ]
  })
}

function repeatedPorts(ports: readonly Fields[]): FieldError[] {
  const nodePortAgain = repeats(ports.map(({ protocol, nodePort }) => `${protocol}/${nodePort}`))
  const portAgain = repeats(ports.map(({ protocol, port }) => `${protocol}/${port}`))
  return [
    ...ports.flatMap(({ nodePort }, i) =>
      nodePortAgain[i] && !isEmpty(nodePort) ? [fieldError.duplicate(`spec.ports[${i}].nodePort`, nodePort)] : [],
    ),
    ...ports.flatMap(({ protocol, port }, i) =>
      portAgain[i] ? [fieldError.duplicate(`spec.ports[${i}]`, { protocol, port })] : [],
    ),
  ]
}

function affinityErrors(spec: Fields): FieldError[] {
  const affinity = str(spec, 'sessionAffinity')
  const errors = oneOf(affinity, 'spec.sessionAffinity', ['ClientIP', 'None'])
  const path = 'spec.sessionAffinityConfig'
  if (affinity === 'None' && has(spec, 'sessionAffinityConfig')) {
    return [...errors, fieldError.forbidden(path, 'must not be set when session affinity is None')]
  }
  const seconds = num(spec, 'sessionAffinityConfig', 'clientIP', 'timeoutSeconds')
  if (affinity !== 'ClientIP' || (seconds > 0 && seconds <= MAX_AFFINITY)) return errors
  const detail = `must be greater than 0 and less than ${MAX_AFFINITY}`
  return [...errors, fieldError.invalid(`${path}.clientIP.timeoutSeconds`, seconds, detail)]
}

/** A value that was accepted once stays accepted. */
function externalIps(ips: readonly string[], known: ReadonlySet<string>): FieldError[] {
  return ips.flatMap((ip, i) => {
    const field = `spec.externalIPs[${i}]`
    const errors = known.has(ip) ? [] : ipAddress(ip, field)
    return errors.length > 0 ? errors : ordinaryAddress(ip, field)
  })
}

const ONLY_LOAD_BALANCERS = "may only be used when `type` is 'LoadBalancer'"

function loadBalancerErrors(
  spec: Fields,
  annotations: Readonly<Record<string, string>>,
  old: KubeObject | undefined,
): FieldError[] {
  const isBalancer = spec.type === 'LoadBalancer'
  const ranges = strings(spec, 'loadBalancerSourceRanges')
  const known = new Set(strings(old, 'spec', 'loadBalancerSourceRanges'))
  const errors: FieldError[] = []
  const only = (field: string): void => {
    if (!isBalancer) errors.push(fieldError.forbidden(field, ONLY_LOAD_BALANCERS))
  }
  const annotated = annotations[SOURCE_RANGES]
  if (ranges.length > 0) {
    // the capital is upstream's
    const field = 'spec.LoadBalancerSourceRanges'
    only(field)
    for (const [i, range] of ranges.entries())
      if (!known.has(range)) errors.push(...cidr(range.trim(), `${field}[${i}]`))
  } else if (annotated !== undefined) {
    const field = `metadata.annotations[${SOURCE_RANGES}]`
    only(field)
    const items =
      annotated.trim() === '' || old?.metadata.annotations?.[SOURCE_RANGES] === annotated
        ? []
        : annotated.trim().split(',')
    for (const range of new Set(items)) errors.push(...cidr(range.trim(), field))
  }
  if (has(spec, 'allocateLoadBalancerNodePorts')) only('spec.allocateLoadBalancerNodePorts')
  if (!has(spec, 'loadBalancerClass')) return errors
  if (!isBalancer) return [...errors, fieldError.forbidden('spec.loadBalancerClass', ONLY_LOAD_BALANCERS)]
  return [...errors, ...invalidBy(qualifiedName, str(spec, 'loadBalancerClass'), 'spec.loadBalancerClass')]
}

function trafficErrors(spec: Fields): FieldError[] {
  const errors: FieldError[] = []
  const policy = str(spec, 'externalTrafficPolicy')
  if (isExternal(spec)) errors.push(...oneOf(policy, 'spec.externalTrafficPolicy', ['Cluster', 'Local']))
  else if (policy !== '') {
    const detail = 'may only be set for externally-accessible services'
    errors.push(fieldError.invalid('spec.externalTrafficPolicy', policy, detail))
  }
  const port = num(spec, 'healthCheckNodePort')
  if (port !== 0) {
    const field = 'spec.healthCheckNodePort'
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    errors.push(...(needsHealthCheck(spec) ? portNumber(port, field) : [fieldError.invalid(field, port, detail)]))
  }
  return [
    ...errors,
    ...choice(spec, 'internalTrafficPolicy', 'spec.internalTrafficPolicy', ['Cluster', 'Local']),
    ...choice(spec, 'trafficDistribution', 'spec.trafficDistribution', DISTRIBUTIONS),
  ]
}
const DISTRIBUTIONS = ['PreferClose', 'PreferSameNode', 'PreferSameZone']

/** Addresses that the load balancer got. */
export function validateServiceStatus(service: KubeObject, old: KubeObject): FieldError[] {
  const path = 'status.loadBalancer.ingress'
  const ingress = records(service, 'status', 'loadBalancer', 'ingress')
  if (record(service, 'spec').type !== 'LoadBalancer' && ingress.length > 0) {
    return [fieldError.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  const known = new Set(records(old, 'status', 'loadBalancer', 'ingress').map(point => str(point, 'ip')))
  return ingress.flatMap((point, i) => {
    const here = `${path}[${i}]`
    const [ip, host] = [str(point, 'ip'), str(point, 'hostname')]
    const errors = ip === '' || known.has(ip) ? [] : ipAddress(ip, `${here}.ip`)
    if (has(point, 'ipMode') && ip === '') {
      errors.push(fieldError.forbidden(`${here}.ipMode`, 'may not be specified when `ip` is not set'))
    } else errors.push(...choice(point, 'ipMode', `${here}.ipMode`, ['Proxy', 'VIP']))
    if (host === '') return errors
    errors.push(...invalidBy(dns1123Subdomain, host, `${here}.hostname`))
    if (isIP(host) === 0) return errors
    return [...errors, fieldError.invalid(`${here}.hostname`, host, 'must be a DNS name, not an IP address')]
  })
}
