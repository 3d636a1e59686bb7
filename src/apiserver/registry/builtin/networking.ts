/** Ingresses, IngressClasses, NetworkPolicies and EndpointSlices. */
import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { dns1123Label, dns1123Subdomain } from '../../../apimachinery/names.ts'
import type { Strategy } from '../strategy.ts'
import {
  immutable,
  invalidBy,
  oneOf,
  optionalSelector,
  portName,
  portNumber,
  portOrName,
  requiredName,
  wildcardSubdomain,
} from './checks.ts'
import {
  ensure,
  type Fields,
  has,
  list,
  num,
  record,
  records,
  setDefault,
  setDefaults,
  str,
  strings,
} from './fields.ts'
import { type Strategies, withStatus } from './kind.ts'

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const BAD_SUFFIXES = ['/..', '/.']

const ingresses = withStatus(
  {
    validate(object) {
      const spec = record(object, 'spec')
      const rules = records(spec, 'rules')
      const errors: FieldError[] = []
      if (rules.length === 0 && !has(spec, 'defaultBackend')) {
        const detail = 'either `defaultBackend` or `rules` must be specified'
        errors.push(fieldError.invalid('spec', spec.rules ?? null, detail))
      }
      for (const [i, rule] of rules.entries()) errors.push(...validateIngressRule(rule, `spec.rules[${i}]`))
      if (has(spec, 'defaultBackend')) {
        errors.push(...validateBackend(record(spec, 'defaultBackend'), 'spec.defaultBackend'))
      }
      for (const [i, tls] of records(spec, 'tls').entries()) {
        for (const [j, host] of strings(tls, 'hosts').entries()) {
          errors.push(...invalidBy(hostRule(host), host, `spec.tls[${i}].hosts[${j}]`))
        }
      }
      if (str(spec, 'ingressClassName') !== '') {
        errors.push(...invalidBy(dns1123Subdomain, str(spec, 'ingressClassName'), 'spec.ingressClassName'))
      }
      return errors
    },
  },
  () => ({ loadBalancer: {} }),
)

const ingressClasses: Strategy = {
  applyDefaults(object) {
    if (has(object, 'spec', 'parameters')) setDefault(ensure(ensure(object, 'spec'), 'parameters'), 'scope', 'Cluster')
  },
  validate(object) {
    const controller = str(object, 'spec', 'controller')
    if (controller === '') return [fieldError.required('spec.controller')]
    const slash = controller.indexOf('/')
    const domain = controller.slice(0, slash)
    if (slash > 0 && slash < controller.length - 1 && dns1123Subdomain(domain).length === 0) return []
    return [fieldError.invalid('spec.controller', controller, 'must be a domain-prefixed path (such as "acme.io/foo")')]
  },
  validateUpdate: (object, old) =>
    immutable(record(object, 'spec').controller, record(old, 'spec').controller, 'spec.controller'),
}

const networkPolicies: Strategy = {
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    for (const rule of [...records(spec, 'ingress'), ...records(spec, 'egress')]) {
      for (const port of records(rule, 'ports')) setDefault(port, 'protocol', 'TCP')
    }
    if (list(spec, 'policyTypes').length === 0) {
      spec.policyTypes = list(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
    }
    setDefault(spec, 'podSelector', {})
  },
  validate(object) {
    const spec = record(object, 'spec')
    const errors = optionalSelector(spec.podSelector, 'spec.podSelector')
    for (const [direction, peers] of [
      ['ingress', 'from'],
      ['egress', 'to'],
    ] as const) {
      for (const [i, rule] of records(spec, direction).entries()) {
        const path = `spec.${direction}[${i}]`
        for (const [j, port] of records(rule, 'ports').entries())
          errors.push(...policyPort(port, `${path}.ports[${j}]`))
        for (const [j, peer] of records(rule, peers).entries())
          errors.push(...policyPeer(peer, `${path}.${peers}[${j}]`))
      }
    }
    for (const [i, type] of strings(spec, 'policyTypes').entries()) {
      if (type === 'Ingress' || type === 'Egress') continue
      errors.push(fieldError.notSupported(`spec.policyTypes[${i}]`, type, ['Ingress', 'Egress']))
    }
    return errors
  },
}

const endpointSlices: Strategy = {
  applyDefaults(object) {
    for (const port of records(object, 'ports')) setDefaults(port, { name: '', protocol: 'TCP' })
    for (const endpoint of records(object, 'endpoints')) ensure(endpoint, 'conditions')
  },
  validate(object) {
    const type = str(object, 'addressType')
    const errors =
      type === '' ? [fieldError.required('addressType')] : oneOf(type, 'addressType', ['FQDN', 'IPv4', 'IPv6'])
    for (const [i, endpoint] of records(object, 'endpoints').entries()) {
      const path = `endpoints[${i}].addresses`
      const addresses = strings(endpoint, 'addresses')
      if (addresses.length === 0) errors.push(fieldError.required(path, 'must contain at least 1 address'))
      if (addresses.length > 100) errors.push(fieldError.tooMany(path, addresses.length, 100))
      for (const [j, address] of addresses.entries()) {
        const family = type === 'IPv4' ? 4 : type === 'IPv6' ? 6 : 0
        if (family !== 0 && isIP(address) !== family) {
          errors.push(fieldError.invalid(`${path}[${j}]`, address, `must be a valid ${type} address`))
        } else if (type === 'FQDN') errors.push(...invalidBy(dns1123Subdomain, address, `${path}[${j}]`))
      }
    }
    const names = new Set<string>()
    for (const [i, port] of records(object, 'ports').entries()) {
      const name = str(port, 'name')
      if (name !== '') errors.push(...invalidBy(dns1123Label, name, `ports[${i}].name`))
      if (names.has(name)) errors.push(fieldError.duplicate(`ports[${i}].name`, name))
      names.add(name)
      errors.push(...oneOf(str(port, 'protocol'), `ports[${i}].protocol`, ['SCTP', 'TCP', 'UDP']))
    }
    return errors
  },
  validateUpdate: (object, old) => immutable(object.addressType, old.addressType, 'addressType'),
}

export const networkingStrategies: Strategies = {
  'networking.k8s.io/ingresses': ingresses,
  'networking.k8s.io/ingressclasses': ingressClasses,
  'networking.k8s.io/networkpolicies': networkPolicies,
  'discovery.k8s.io/endpointslices': endpointSlices,
}

const hostRule = (host: string) => (host.includes('*') ? wildcardSubdomain : dns1123Subdomain)

function validateIngressRule(rule: Fields, path: string): FieldError[] {
  const host = str(rule, 'host')
  const errors: FieldError[] = []
  if (isIP(host) !== 0) {
    errors.push(fieldError.invalid(`${path}.host`, host, 'must be a DNS name, not an IP address'))
  } else if (host !== '') errors.push(...invalidBy(hostRule(host), host, `${path}.host`))
  if (!has(rule, 'http')) return errors
  const paths = records(rule, 'http', 'paths')
  if (paths.length === 0) errors.push(fieldError.required(`${path}.http.paths`))
  for (const [i, entry] of paths.entries()) errors.push(...validatePath(entry, `${path}.http.paths[${i}]`))
  return errors
}

function validatePath(entry: Fields, path: string): FieldError[] {
  if (!has(entry, 'pathType')) return [fieldError.required(`${path}.pathType`, 'pathType must be specified')]
  const type = str(entry, 'pathType')
  const value = str(entry, 'path')
  const errors: FieldError[] = []
  if (!PATH_TYPES.includes(type)) errors.push(fieldError.notSupported(`${path}.pathType`, type, PATH_TYPES))
  else if (type === 'ImplementationSpecific') {
    if (value !== '' && !value.startsWith('/')) {
      errors.push(fieldError.invalid(`${path}.path`, value, 'must be an absolute path'))
    }
  } else if (!value.startsWith('/')) {
    errors.push(fieldError.invalid(`${path}.path`, value, 'must be an absolute path'))
  } else {
    for (const part of BAD_SEQUENCES) {
      if (value.includes(part)) errors.push(fieldError.invalid(`${path}.path`, value, `must not contain '${part}'`))
    }
    for (const part of BAD_SUFFIXES) {
      if (value.endsWith(part)) errors.push(fieldError.invalid(`${path}.path`, value, `cannot end with '${part}'`))
    }
  }
  return [...errors, ...validateBackend(record(entry, 'backend'), `${path}.backend`)]
}

function validateBackend(backend: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  if (has(backend, 'resource')) {
    if (has(backend, 'service')) {
      return [fieldError.invalid(path, '', 'cannot set both resource and service backends')]
    }
    for (const field of ['kind', 'name']) {
      if (str(backend, 'resource', field) === '') errors.push(fieldError.required(`${path}.resource.${field}`))
    }
    return errors
  }
  if (!has(backend, 'service')) {
    return [fieldError.invalid(path, '', 'resource or service backend is required')]
  } else {
    errors.push(...requiredName(str(backend, 'service', 'name'), `${path}.service.name`))
  }
  const port = record(backend, 'service', 'port')
  const here = `${path}.service.port`
  if (str(port, 'name') !== '') {
    if (num(port, 'number') !== 0) errors.push(fieldError.invalid(path, '', 'cannot set both port name & port number'))
    errors.push(...invalidBy(portName, str(port, 'name'), `${here}.name`))
  } else if (num(port, 'number') !== 0) errors.push(...portNumber(port.number, `${here}.number`))
  else errors.push(fieldError.required(path, 'port name or number is required'))
  return errors
}

function policyPort(port: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const protocols = ['TCP', 'UDP', 'SCTP']
  if (!protocols.includes(str(port, 'protocol'))) {
    errors.push(fieldError.notSupported(`${path}.protocol`, str(port, 'protocol'), protocols))
  }
  if (has(port, 'port')) errors.push(...portOrName(port.port, `${path}.port`))
  if (!has(port, 'endPort')) return errors
  if (!has(port, 'port'))
    errors.push(fieldError.required(`${path}.endPort`, 'may not be specified when `port` is not specified'))
  else if (num(port, 'endPort') < num(port, 'port')) {
    errors.push(fieldError.invalid(`${path}.endPort`, num(port, 'port'), 'must be greater than or equal to `port`'))
  }
  return errors
}

function policyPeer(peer: Fields, path: string): FieldError[] {
  const errors = [
    ...optionalSelector(peer.podSelector, `${path}.podSelector`),
    ...optionalSelector(peer.namespaceSelector, `${path}.namespaceSelector`),
  ]
  if (has(peer, 'ipBlock')) {
    const cidr = str(peer, 'ipBlock', 'cidr')
    if (cidr === '') errors.push(fieldError.required(`${path}.ipBlock.cidr`))
    else if (!isCidr(cidr)) errors.push(fieldError.invalid(`${path}.ipBlock.cidr`, cidr, NOT_A_CIDR))
  }
  const selectors = has(peer, 'podSelector') || has(peer, 'namespaceSelector')
  if (!selectors && !has(peer, 'ipBlock')) errors.push(fieldError.required(path, 'must specify a peer'))
  else if (selectors && has(peer, 'ipBlock')) {
    errors.push(fieldError.forbidden(path, 'may not specify both ipBlock and another peer'))
  }
  return errors
}

const NOT_A_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

function isCidr(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/')
  const family = isIP(address)
  if (family === 0 || bits === undefined || more.length > 0 || !/^\d{1,3}$/.test(bits)) return false
  return Number.parseInt(bits, 10) <= (family === 4 ? 32 : 128)
}
