/** Which addresses services have: IPAddresses and ServiceCIDRs. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { has, record, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Subdomain, pathSegment } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { IMMUTABLE, immutable, invalidBy, requiredName } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { optionalName, when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'
import { canonicalAddress, cidr, parseRange } from './addresses.ts'

const ipAddresses: Strategy = {
  noGeneration: true,
  nameRule: 'pathSegment',
  validate(object, old) {
    if (old !== undefined) return []
    const path = 'spec.parentRef'
    const parent = record(object, 'spec', 'parentRef')
    const errors = invalidBy(canonicalAddress, object.metadata.name ?? '', 'metadata.name')
    if (!has(object, 'spec', 'parentRef')) return [...errors, fieldError.required(path)]
    return [
      ...errors,
      ...optionalName(str(parent, 'group'), `${path}.group`, dns1123Subdomain),
      ...['resource', 'name'].flatMap(field => requiredName(str(parent, field), `${path}.${field}`, pathSegment)),
      ...optionalName(str(parent, 'namespace'), `${path}.namespace`, pathSegment),
    ]
  },
  validateUpdate: (object, old) =>
    immutable(record(object, 'spec').parentRef, record(old, 'spec').parentRef, 'spec.parentRef'),
}

const serviceRanges: Strategy = withStatus({
  noGeneration: true,
  validate: (object, old) => (old === undefined ? validateRanges(rangesOf(object)) : []),
  validateUpdate(object, old) {
    const [now, before] = [rangesOf(object), rangesOf(old)]
    const changed = (i: number) =>
      when(now[i] !== before[i], () => fieldError.invalid(`${FIELD}[${i}]`, now[i], IMMUTABLE))
    if (now.length === before.length) return now.flatMap((_, i) => changed(i))
    // the other address family may be added
    if (before.length === 1 && now.length === 2) return [...changed(0), ...validateRanges(now)]
    return [fieldError.invalid(FIELD, now, IMMUTABLE)]
  },
  validateStatusUpdate: () => [],
})
const FIELD = 'spec.cidrs'

export const serviceRangeStrategies: Strategies = {
  'networking.k8s.io/ipaddresses': ipAddresses,
  'networking.k8s.io/servicecidrs': serviceRanges,
}

const rangesOf = (object: KubeObject): string[] => strings(object, 'spec', 'cidrs')

function validateRanges(ranges: readonly string[]): FieldError[] {
  if (ranges.length === 0) return [fieldError.required(FIELD, 'at least one CIDR required')]
  if (ranges.length > 2) return [fieldError.invalid(FIELD, { cidrs: ranges }, 'may only hold up to 2 values')]
  const [one, other] = ranges.map(range => parseRange(range)?.version)
  return [
    ...ranges.flatMap((range, i) => cidr(range, `${FIELD}[${i}]`, true)),
    ...when(ranges.length === 2 && one !== undefined && one === other, () =>
      fieldError.invalid(
        FIELD,
        ranges,
        'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
      ),
    ),
  ]
}
