/** Ingresses and IngressClasses. @see https://kubernetes.io/docs/concepts/services-networking/ingress/ */
import { isIP } from 'node:net'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, num, record, records, setDefault, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, pathSegment } from '../../apimachinery/names.ts'
import { immutable, invalidBy, portName, portNumber, requiredName, wildcardSubdomain } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { domainPrefixedPath, optionalName, when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'
import { ipAddress } from './addresses.ts'

const PATH_TYPES = ['Exact', 'ImplementationSpecific', 'Prefix']
const BAD_SEQUENCES = ['//', '/./', '/../', '%2f', '%2F']
const BAD_SUFFIXES = ['/..', '/.']
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class'
const LONGEST_CONTROLLER = 250
const NOT_AN_ADDRESS = 'must be a DNS name, not an IP address'

const ingresses = withStatus(
  {
    validate(object, old) {
      const spec = record(object, 'spec')
      const rules = records(spec, 'rules')
      const detail = 'either `defaultBackend` or `rules` must be specified'
      const annotation = object.metadata.annotations?.[CLASS_ANNOTATION]
      const anySecret = old !== undefined && records(old, 'spec', 'tls').some(tls => secretErrors(tls, '').length > 0)
      const anyWild = records(old, 'spec', 'rules').some(rule => isWild(rule) && validatePaths(rule, '').length > 0)
      return [
        ...when(rules.length === 0 && !has(spec, 'defaultBackend'), () =>
          fieldError.invalid('spec', spec.rules ?? null, detail),
        ),
        ...(has(spec, 'defaultBackend') ? validateBackend(record(spec, 'defaultBackend'), 'spec.defaultBackend') : []),
        ...rules.flatMap((rule, i) => validateIngressRule(rule, `spec.rules[${i}]`, anyWild)),
        ...records(spec, 'tls').flatMap((tls, i) => [
          ...strings(tls, 'hosts').flatMap((host, j) => invalidBy(hostRule(host), host, `spec.tls[${i}].hosts[${j}]`)),
          ...(anySecret ? [] : secretErrors(tls, `spec.tls[${i}].secretName`)),
        ]),
        ...(has(spec, 'ingressClassName')
          ? invalidBy(dns1123Subdomain, str(spec, 'ingressClassName'), 'spec.ingressClassName')
          : []),
        ...when(
          old === undefined &&
            annotation !== undefined &&
            has(spec, 'ingressClassName') &&
            annotation !== spec.ingressClassName,
          () =>
            fieldError.invalid(
              `annotations.${CLASS_ANNOTATION}`,
              annotation,
              'must match `ingressClassName` when both are specified',
            ),
        ),
      ]
    },
    validateStatusUpdate: (object, old) => {
      const known = new Set(records(old, 'status', 'loadBalancer', 'ingress').map(({ ip }) => ip))
      return records(object, 'status', 'loadBalancer', 'ingress').flatMap((point, i) => {
        const path = `status.loadBalancer.ingress[${i}]`
        const [ip, host] = [str(point, 'ip'), str(point, 'hostname')]
        return [
          ...(ip === '' || known.has(ip) ? [] : ipAddress(ip, `${path}.ip`)),
          ...optionalName(host, `${path}.hostname`, dns1123Subdomain),
          ...when(isIP(host) !== 0, () => fieldError.invalid(`${path}.hostname`, host, NOT_AN_ADDRESS)),
        ]
      })
    },
    warnings: (object, old) =>
      when(
        old === undefined &&
          object.metadata.annotations?.[CLASS_ANNOTATION] !== undefined &&
          !has(object, 'spec', 'ingressClassName'),
        () => `annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`,
      ),
  },
  () => ({ loadBalancer: {} }),
)

const ingressClasses: Strategy = {
  applyDefaults(object) {
    if (has(object, 'spec', 'parameters')) setDefault(ensure(ensure(object, 'spec'), 'parameters'), 'scope', 'Cluster')
  },
  validate(object) {
    const controller = str(object, 'spec', 'controller')
    const field = 'spec.controller'
    return [
      ...when(controller.length > LONGEST_CONTROLLER, () => fieldError.tooLong(field, LONGEST_CONTROLLER)),
      ...domainPrefixedPath(controller, field),
      ...(has(object, 'spec', 'parameters') ? validateParameters(record(object, 'spec', 'parameters')) : []),
    ]
  },
  validateUpdate: (object, old) =>
    immutable(record(object, 'spec').controller, record(old, 'spec').controller, 'spec.controller'),
}

export const ingressStrategies: Strategies = {
  'networking.k8s.io/ingresses': ingresses,
  'networking.k8s.io/ingressclasses': ingressClasses,
}

const hostRule = (host: string) => (host.includes('*') ? wildcardSubdomain : dns1123Subdomain)

const secretErrors = (tls: Fields, field: string): FieldError[] =>
  optionalName(str(tls, 'secretName'), field, dns1123Subdomain)

function validateParameters(parameters: Fields): FieldError[] {
  const path = 'spec.parameters'
  const scope = str(parameters, 'scope')
  const errors = namedObject(parameters, path)
  if (scope !== 'Cluster' && scope !== 'Namespace') {
    errors.push(fieldError.notSupported(`${path}.scope`, scope, ['Cluster', 'Namespace']))
  } else if (scope === 'Namespace') {
    errors.push(
      ...(has(parameters, 'namespace')
        ? invalidBy(dns1123Label, str(parameters, 'namespace'), `${path}.namespace`)
        : [fieldError.required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'")]),
    )
  } else if (has(parameters, 'namespace')) {
    errors.push(fieldError.forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"))
  }
  return errors
}

function namedObject(reference: Fields, path: string): FieldError[] {
  return [
    ...(has(reference, 'apiGroup') ? invalidBy(dns1123Subdomain, str(reference, 'apiGroup'), `${path}.apiGroup`) : []),
    ...['kind', 'name'].flatMap(field => requiredName(str(reference, field), `${path}.${field}`, pathSegment)),
  ]
}

const isWild = (rule: Fields): boolean => str(rule, 'host').includes('*')

/** `anyWild`: a rule of a wildcard host was wrong before; then they may be so. */
function validateIngressRule(rule: Fields, path: string, anyWild: boolean): FieldError[] {
  const host = str(rule, 'host')
  const errors = [
    ...when(isIP(host) !== 0, () => fieldError.invalid(`${path}.host`, host, NOT_AN_ADDRESS)),
    ...(host === '' ? [] : invalidBy(hostRule(host), host, `${path}.host`)),
  ]
  return anyWild && isWild(rule) ? errors : [...errors, ...validatePaths(rule, path)]
}

function validatePaths(rule: Fields, path: string): FieldError[] {
  if (!has(rule, 'http')) return []
  const paths = records(rule, 'http', 'paths')
  if (paths.length === 0) return [fieldError.required(`${path}.http.paths`)]
  return paths.flatMap((entry, i) => validatePath(entry, `${path}.http.paths[${i}]`))
}

function validatePath(entry: Fields, path: string): FieldError[] {
  if (!has(entry, 'pathType')) return [fieldError.required(`${path}.pathType`, 'pathType must be specified')]
  const type = str(entry, 'pathType')
  const value = str(entry, 'path')
  const invalid = (detail: string) => fieldError.invalid(`${path}.path`, value, detail)
  const errors: FieldError[] = []
  if (!PATH_TYPES.includes(type)) errors.push(fieldError.notSupported(`${path}.pathType`, type, PATH_TYPES))
  else if (!value.startsWith('/') && (value !== '' || type !== 'ImplementationSpecific')) {
    errors.push(invalid('must be an absolute path'))
  }
  if (type === 'Exact' || type === 'Prefix') {
    errors.push(
      ...BAD_SEQUENCES.filter(part => value.includes(part)).map(part => invalid(`must not contain '${part}'`)),
      ...BAD_SUFFIXES.filter(part => value.endsWith(part)).map(part => invalid(`cannot end with '${part}'`)),
    )
  }
  return [...errors, ...validateBackend(record(entry, 'backend'), `${path}.backend`)]
}

function validateBackend(backend: Fields, path: string): FieldError[] {
  if (has(backend, 'resource')) {
    return has(backend, 'service')
      ? [fieldError.invalid(path, '', 'cannot set both resource and service backends')]
      : namedObject(record(backend, 'resource'), `${path}.resource`)
  }
  if (!has(backend, 'service')) return [fieldError.invalid(path, '', 'resource or service backend is required')]
  const errors = requiredName(str(backend, 'service', 'name'), `${path}.service.name`)
  const port = record(backend, 'service', 'port')
  const [name, number] = [str(port, 'name'), num(port, 'number')]
  if (name !== '' && number !== 0) errors.push(fieldError.invalid(path, '', 'cannot set both port name & port number'))
  else if (name !== '') errors.push(...invalidBy(portName, name, `${path}.service.port.name`))
  else if (number !== 0) errors.push(...portNumber(number, `${path}.service.port.number`))
  else errors.push(fieldError.required(path, 'port name or number is required'))
  return errors
}
