/** Services and Endpoints. Addresses are not allocated: there is no service network behind this server. */
import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { dns1123Label, dns1123Subdomain } from '../../../apimachinery/names.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { validateLabels } from '../../../apimachinery/objectMeta.ts'
import type { Strategy } from '../strategy.ts'
import { invalidBy, oneOf, portNumber, portOrName, requiredName } from './checks.ts'
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
  setDefaults,
  setIfEmpty,
  str,
  strings,
} from './fields.ts'
import { type Strategies, withStatus } from './kind.ts'

const PROTOCOLS = ['SCTP', 'TCP', 'UDP']
const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const NOT_AN_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

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
      if (spec.type === 'ExternalName') return
      setDefault(spec, 'internalTrafficPolicy', 'Cluster')
      if (spec.type === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true)
      if (spec.type !== 'ClusterIP' || list(spec, 'externalIPs').length > 0) {
        setIfEmpty(spec, 'externalTrafficPolicy', 'Cluster')
      }
    },
    prepareForCreate: allocate,
    prepareForUpdate(object, old) {
      keepAllocated(object, old)
      allocate(object)
    },
    validate: validateService,
    validateUpdate(object, old) {
      const now = strings(object, 'spec', 'clusterIPs')
      const before = strings(old, 'spec', 'clusterIPs')
      const moved = before.length > 0 && before[0] !== now[0] && str(object, 'spec', 'type') !== 'ExternalName'
      if (!moved || str(old, 'spec', 'type') === 'ExternalName') return []
      return [fieldError.invalid('spec.clusterIPs[0]', now, 'may not change once set')]
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
  validate(object) {
    const errors: FieldError[] = []
    for (const [i, subset] of records(object, 'subsets').entries()) {
      const path = `subsets[${i}]`
      if (list(subset, 'addresses').length + list(subset, 'notReadyAddresses').length === 0) {
        errors.push(fieldError.required(path, 'must specify `addresses` or `notReadyAddresses`'))
      }
      for (const kind of ['addresses', 'notReadyAddresses']) {
        for (const [j, address] of records(subset, kind).entries()) {
          const ip = str(address, 'ip')
          if (isIP(ip) === 0) errors.push(fieldError.invalid(`${path}.${kind}[${j}].ip`, ip, NOT_AN_IP))
        }
      }
      const ports = records(subset, 'ports')
      for (const [j, port] of ports.entries()) {
        const here = `${path}.ports[${j}]`
        if (ports.length > 1 || str(port, 'name') !== '')
          errors.push(...requiredName(str(port, 'name'), `${here}.name`))
        errors.push(...portNumber(port.port ?? 0, `${here}.port`))
        errors.push(...oneOf(str(port, 'protocol'), `${here}.protocol`, PROTOCOLS))
      }
    }
    return errors
  },
}

export const serviceStrategies: Strategies = { '/services': services, '/endpoints': endpoints }

/** What the client leaves to the server, as far as it can be said without a service network. */
function allocate(object: KubeObject): void {
  const spec = ensure(object, 'spec')
  if (spec.type === 'ExternalName') return
  if (str(spec, 'clusterIP') !== '' && list(spec, 'clusterIPs').length === 0) spec.clusterIPs = [spec.clusterIP]
  const headless = spec.clusterIP === 'None' && Object.keys(record(spec, 'selector')).length === 0
  setDefaults(spec, { ipFamilies: ['IPv4'], ipFamilyPolicy: headless ? 'RequireDualStack' : 'SingleStack' })
  if (headless && spec.ipFamilyPolicy === 'RequireDualStack' && list(spec, 'ipFamilies').length === 1) {
    spec.ipFamilies = ['IPv4', 'IPv6']
  }
}

/** What was allocated stays when the client leaves it out and still needs it. */
function keepAllocated(object: KubeObject, old: KubeObject): void {
  const now = ensure(object, 'spec')
  const before = record(old, 'spec')
  if (now.type === 'ExternalName' || before.type === 'ExternalName') return
  if (isEmpty(now.clusterIP) && list(now, 'clusterIPs').length === 0 && !isEmpty(before.clusterIP)) {
    now.clusterIP = before.clusterIP
    now.clusterIPs = structuredClone(before.clusterIPs ?? [before.clusterIP])
  }
  if (now.type === 'ClusterIP') return
  const kept = new Map(records(before, 'ports').map(port => [`${port.protocol}/${port.port}`, port]))
  for (const port of records(now, 'ports')) {
    const same = kept.get(`${port.protocol}/${port.port}`)
    if (same !== undefined && has(same, 'nodePort')) setIfEmpty(port, 'nodePort', same.nodePort)
  }
}

function validateService(object: KubeObject): FieldError[] {
  const spec = record(object, 'spec')
  const type = str(spec, 'type')
  const clusterIP = str(spec, 'clusterIPs', 0) || str(spec, 'clusterIP')
  const ports = records(spec, 'ports')
  const errors: FieldError[] = []
  if (ports.length === 0 && clusterIP !== 'None' && type !== 'ExternalName')
    errors.push(fieldError.required('spec.ports'))
  if (type === 'ExternalName') {
    if (clusterIP !== '') {
      errors.push(fieldError.forbidden('spec.clusterIPs', 'may not be set for ExternalName services'))
    }
    const name = str(spec, 'externalName').replace(/\.$/, '')
    if (name === '') errors.push(fieldError.required('spec.externalName'))
    else errors.push(...invalidBy(dns1123Subdomain, name, 'spec.externalName'))
  }
  if (clusterIP === 'None' && (type === 'NodePort' || type === 'LoadBalancer')) {
    errors.push(fieldError.invalid('spec.clusterIPs[0]', clusterIP, `may not be set to 'None' for ${type} services`))
  }
  errors.push(...validatePorts(ports, type))
  errors.push(...validateLabels(record(spec, 'selector') as Record<string, string>, 'spec.selector'))
  errors.push(...oneOf(str(spec, 'sessionAffinity'), 'spec.sessionAffinity', ['ClientIP', 'None']))
  if (clusterIP !== '' && clusterIP !== 'None' && isIP(clusterIP) === 0) {
    errors.push(fieldError.invalid('spec.clusterIPs[0]', clusterIP, NOT_AN_IP))
  }
  for (const [i, ip] of strings(spec, 'externalIPs').entries()) {
    if (isIP(ip) === 0) errors.push(fieldError.invalid(`spec.externalIPs[${i}]`, ip, NOT_AN_IP))
  }
  errors.push(...oneOf(type, 'spec.type', TYPES))
  if (type === 'ClusterIP') {
    for (const [i, port] of ports.entries()) {
      if (num(port, 'nodePort') === 0) continue
      const detail = "may not be used when `type` is 'ClusterIP'"
      errors.push(fieldError.forbidden(`spec.ports[${i}].nodePort`, detail))
    }
  }
  return [...errors, ...duplicatePorts(ports)]
}

function validatePorts(ports: readonly Fields[], type: string): FieldError[] {
  const errors: FieldError[] = []
  const names = new Set<string>()
  for (const [i, port] of ports.entries()) {
    const path = `spec.ports[${i}]`
    const name = str(port, 'name')
    if (name === '' && ports.length > 1) errors.push(fieldError.required(`${path}.name`))
    else if (name !== '') {
      errors.push(...invalidBy(dns1123Label, name, `${path}.name`))
      if (names.has(name)) errors.push(fieldError.duplicate(`${path}.name`, name))
      names.add(name)
    }
    errors.push(...portNumber(port.port ?? 0, `${path}.port`))
    errors.push(...oneOf(str(port, 'protocol'), `${path}.protocol`, PROTOCOLS))
    errors.push(...portOrName(port.targetPort, `${path}.targetPort`))
    if (type !== 'ClusterIP' && !isEmpty(port.nodePort)) errors.push(...portNumber(port.nodePort, `${path}.nodePort`))
  }
  return errors
}

function duplicatePorts(ports: readonly Fields[]): FieldError[] {
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [i, { protocol, port }] of ports.entries()) {
    const identity = `${protocol}/${port}`
    if (seen.has(identity)) errors.push(fieldError.duplicate(`spec.ports[${i}]`, { protocol, port }))
    seen.add(identity)
  }
  return errors
}
