/** NetworkPolicies. @see https://kubernetes.io/docs/concepts/services-networking/network-policies/ */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  list,
  num,
  record,
  records,
  setDefault,
  str,
  strings,
} from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { optionalSelector, portNumber, portOrName } from '../checks.ts'
import type { Strategies } from '../kind.ts'
import { when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'
import { cidr, cidrWarnings, isStrictlyWithin, parseRange } from './addresses.ts'

const PROTOCOLS = ['TCP', 'UDP', 'SCTP']
const TYPES = ['Ingress', 'Egress']
const DIRECTIONS = [
  ['ingress', 'from'],
  ['egress', 'to'],
] as const

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
  validate(object, old) {
    const spec = record(object, 'spec')
    const types = strings(spec, 'policyTypes')
    const known = new Set(
      old === undefined ? [] : blocksOf(old).flatMap(({ ranges }) => ranges.map(([range]) => range)),
    )
    return [
      ...optionalSelector(spec.podSelector, 'spec.podSelector'),
      ...DIRECTIONS.flatMap(([direction, peers]) =>
        records(spec, direction).flatMap((rule, i) => [
          ...records(rule, 'ports').flatMap((port, j) => policyPort(port, `spec.${direction}[${i}].ports[${j}]`)),
          ...records(rule, peers).flatMap((peer, j) =>
            policyPeer(peer, `spec.${direction}[${i}].${peers}[${j}]`, known),
          ),
        ]),
      ),
      ...(types.length > TYPES.length
        ? [fieldError.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')]
        : types.flatMap((type, i) =>
            when(!TYPES.includes(type), () => fieldError.notSupported(`spec.policyTypes[${i}]`, type, TYPES)),
          )),
    ]
  },
  warnings: object =>
    blocksOf(object).flatMap(({ ranges }) => ranges.flatMap(([range, at]) => cidrWarnings(range, at))),
}

export const networkPolicyStrategies: Strategies = { 'networking.k8s.io/networkpolicies': networkPolicies }

/** Every range that a policy names, with its place. */
function blocksOf(object: KubeObject): { ranges: (readonly [range: string, at: string])[] }[] {
  return DIRECTIONS.flatMap(([direction, peers]) =>
    records(object, 'spec', direction).flatMap((rule, i) =>
      records(rule, peers)
        .map((peer, j) => [record(peer, 'ipBlock'), `spec.${direction}[${i}].${peers}[${j}].ipBlock`] as const)
        .map(([block, at]) => ({
          ranges: [
            [str(block, 'cidr'), `${at}.cidr`] as const,
            ...strings(block, 'except').map((range, k) => [range, `${at}.except[${k}]`] as const),
          ],
        })),
    ),
  )
}

function policyPort(port: Fields, path: string): FieldError[] {
  const protocol = str(port, 'protocol')
  const errors = when(!PROTOCOLS.includes(protocol), () =>
    fieldError.notSupported(`${path}.protocol`, protocol, PROTOCOLS),
  )
  const end = num(port, 'endPort')
  const invalid = (detail: string) => fieldError.invalid(`${path}.endPort`, end, detail)
  if (typeof port.port === 'string') {
    if (has(port, 'endPort')) errors.push(invalid('may not be specified when `port` is non-numeric'))
    return [...errors, ...portOrName(port.port, `${path}.port`)]
  }
  if (has(port, 'port')) errors.push(...portNumber(port.port, `${path}.port`))
  if (!has(port, 'endPort')) return errors
  if (!has(port, 'port')) return [...errors, invalid('may not be specified when `port` is not specified')]
  return [
    ...errors,
    ...when(end < num(port, 'port'), () => invalid('must be greater than or equal to `port`')),
    ...portNumber(end, `${path}.endPort`),
  ]
}

function policyPeer(peer: Fields, path: string, known: ReadonlySet<string>): FieldError[] {
  const errors = [
    ...optionalSelector(peer.podSelector, `${path}.podSelector`),
    ...optionalSelector(peer.namespaceSelector, `${path}.namespaceSelector`),
    ...(has(peer, 'ipBlock') ? addressBlock(record(peer, 'ipBlock'), `${path}.ipBlock`, known) : []),
  ]
  const selectors = has(peer, 'podSelector') || has(peer, 'namespaceSelector')
  if (!selectors && !has(peer, 'ipBlock')) errors.push(fieldError.required(path, 'must specify a peer'))
  else if (selectors && has(peer, 'ipBlock')) {
    errors.push(fieldError.forbidden(path, 'may not specify both ipBlock and another peer'))
  }
  return errors
}

/** `known`: ranges that were in the policy before, however they look. */
function addressBlock(block: Fields, path: string, known: ReadonlySet<string>): FieldError[] {
  const whole = str(block, 'cidr')
  if (whole === '') return [fieldError.required(`${path}.cidr`)]
  const check = (range: string, field: string): FieldError[] => (known.has(range) ? [] : cidr(range, field))
  const errors = check(whole, `${path}.cidr`)
  const outer = parseRange(whole)
  if (outer === undefined) return errors
  for (const [i, except] of strings(block, 'except').entries()) {
    const field = `${path}.except[${i}]`
    const inner = parseRange(except)
    errors.push(
      ...check(except, field),
      ...when(inner !== undefined && !isStrictlyWithin(inner, outer), () =>
        fieldError.invalid(field, except, 'must be a strict subset of `cidr`'),
      ),
    )
  }
  return errors
}
