/** PriorityLevelConfigurations. @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/ */

import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  records,
  setDefaults,
  setIfEmpty,
  str,
} from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { repeats } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { when } from '../shapes.ts'
import { CLIENT_METADATA } from '../strategy.ts'

const MOST_QUEUES = 10_000_000
const MOST_HASH_BITS = 60

/** Levels that are there for the server's own sake; nobody changes them. */
const FIXED_LEVELS: Readonly<Record<string, Fields>> = {
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  'catch-all': {
    type: 'Limited',
    limited: { nominalConcurrencyShares: 5, lendablePercent: 0, limitResponse: { type: 'Reject' } },
  },
}

const priorityLevels = withStatus({
  statusKeeps: CLIENT_METADATA,
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    if (spec.type === 'Exempt') ensure(spec, 'exempt')
    if (has(spec, 'exempt')) setDefaults(ensure(spec, 'exempt'), { nominalConcurrencyShares: 0, lendablePercent: 0 })
    if (!has(spec, 'limited')) return
    const limited = ensure(spec, 'limited')
    setDefaults(limited, { nominalConcurrencyShares: 30, lendablePercent: 0 })
    if (has(limited, 'limitResponse', 'queuing')) {
      const queuing = ensure(ensure(limited, 'limitResponse'), 'queuing')
      for (const [field, value] of Object.entries({ queues: 64, handSize: 8, queueLengthLimit: 50 })) {
        setIfEmpty(queuing, field, value)
      }
    }
  },
  validate(object) {
    const spec = record(object, 'spec')
    const type = str(spec, 'type')
    const isExempt = object.metadata.name === 'exempt'
    const errors = when(isExempt !== (type === 'Exempt'), () =>
      fieldError.invalid('spec.type', type, "type must be 'Exempt' if and only if name is 'exempt'"),
    )
    if (type === 'Exempt') {
      errors.push(
        ...when(has(spec, 'limited'), () =>
          fieldError.forbidden('spec.limited', 'must be nil if the type is not Limited'),
        ),
        ...shares(record(spec, 'exempt'), 'spec.exempt'),
      )
    } else if (type === 'Limited') {
      errors.push(
        ...when(has(spec, 'exempt'), () => fieldError.forbidden('spec.exempt', 'must be nil if the type is Limited')),
        ...(has(spec, 'limited')
          ? validateLimited(record(spec, 'limited'), 'spec.limited')
          : [fieldError.required('spec.limited', 'must not be empty when type is Limited')]),
      )
    } else errors.push(fieldError.notSupported('spec.type', type, ['Exempt', 'Limited']))
    // how much of the exempt level others may borrow is not fixed
    const fixed = ({ exempt: _, ...rest }: Fields): Fields => rest
    return [...errors, ...fixedValue(FIXED_LEVELS, object, fixed, isExempt ? " except the 'spec.exempt' field" : '')]
  },
  validateStatusUpdate: conditionTypes,
})

export const priorityLevelStrategies: Strategies = {
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevels,
}

/** An error when a fixed object is not what it has to be. `except` names what may differ. */
export function fixedValue(
  fixed: Readonly<Record<string, Fields>>,
  object: KubeObject,
  part: (spec: Fields) => Fields,
  except: string,
): FieldError[] {
  const { name = '' } = object.metadata
  if (!Object.hasOwn(fixed, name) || sameMeaning(part(record(object, 'spec')), part(fixed[name]!))) return []
  return [fieldError.invalid('spec', object.spec, `spec of '${name}'${except} must equal the fixed value`)]
}

/** Conditions have types, each its own. */
export function conditionTypes(object: KubeObject): FieldError[] {
  const types = records(object, 'status', 'conditions').map(condition => str(condition, 'type'))
  const again = repeats(types)
  return types.flatMap((type, i) => {
    const field = `status.conditions[${i}].type`
    return [
      ...when(again[i]!, () => fieldError.duplicate(field, type)),
      ...when(type === '', () => fieldError.required(field, 'must not be empty')),
    ]
  })
}

function shares(level: Fields, path: string): FieldError[] {
  const lendable = num(level, 'lendablePercent')
  return [
    ...when(num(level, 'nominalConcurrencyShares') < 0, () =>
      fieldError.invalid(
        `${path}.nominalConcurrencyShares`,
        num(level, 'nominalConcurrencyShares'),
        'must be a non-negative integer',
      ),
    ),
    ...when(lendable < 0 || lendable > 100, () =>
      fieldError.invalid(`${path}.lendablePercent`, lendable, 'must be between 0 and 100, inclusive'),
    ),
  ]
}

function validateLimited(limited: Fields, path: string): FieldError[] {
  const response = record(limited, 'limitResponse')
  const borrowing = num(limited, 'borrowingLimitPercent')
  const at = `${path}.limitResponse`
  const type = str(response, 'type')
  const queuing = has(response, 'queuing')
  return [
    ...shares(limited, path),
    ...when(type !== 'Queue' && type !== 'Reject', () =>
      fieldError.notSupported(`${at}.type`, type, ['Queue', 'Reject']),
    ),
    ...when(type === 'Reject' && queuing, () =>
      fieldError.forbidden(`${at}.queuing`, 'must be nil if limited.limitResponse.type is not Limited'),
    ),
    ...when(type === 'Queue' && !queuing, () =>
      fieldError.required(`${at}.queuing`, 'must not be empty if limited.limitResponse.type is Limited'),
    ),
    ...(type === 'Queue' && queuing ? validateQueuing(record(response, 'queuing'), `${at}.queuing`) : []),
    ...when(borrowing < 0, () =>
      fieldError.invalid(`${path}.borrowingLimitPercent`, borrowing, 'if specified, must be a non-negative integer'),
    ),
  ]
}

function validateQueuing(queuing: Fields, path: string): FieldError[] {
  const [queues, hand] = [num(queuing, 'queues'), num(queuing, 'handSize')]
  const invalid = (field: string, detail: string) => fieldError.invalid(`${path}.${field}`, num(queuing, field), detail)
  const positive = (field: string) => when(num(queuing, field) <= 0, () => invalid(field, 'must be positive'))
  const errors = [
    ...positive('queueLengthLimit'),
    ...positive('queues'),
    ...when(queues > MOST_QUEUES, () => invalid('queues', `must not be greater than ${MOST_QUEUES}`)),
    ...positive('handSize'),
  ]
  if (hand > 0 && hand > queues) {
    errors.push(invalid('handSize', `should not be greater than queues (${queues})`))
  } else if (hand > 0 && entropyBits(queues, hand) > MOST_HASH_BITS) {
    const detail = `required entropy bits of deckSize ${queues} and handSize ${hand} should not be greater than ${MOST_HASH_BITS}`
    errors.push(invalid('handSize', detail))
  }
  return errors
}

/** How many bits of a hash it takes to deal a hand from a deck. */
const entropyBits = (deck: number, hand: number): number => Math.ceil(Math.log2(deck) * hand)
