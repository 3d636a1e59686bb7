/** LimitRanges and ResourceQuotas. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import type { Strategy } from '../strategy.ts'
import { canonicalQuantities, exceeds, immutable, quantities } from './checks.ts'
import { ensure, type Fields, has, record, records, setDefaults, str, strings } from './fields.ts'
import { type Strategies, withStatus } from './kind.ts'

const limitRanges: Strategy = {
  noGeneration: true,
  applyDefaults(object) {
    for (const item of records(object, 'spec', 'limits')) {
      for (const field of LIMIT_FIELDS) canonicalQuantities(item[field])
      if (item.type !== 'Container') continue
      const defaults = ensure(item, 'default')
      setDefaults(defaults, record(item, 'max'))
      const requests = ensure(item, 'defaultRequest')
      setDefaults(requests, defaults)
      setDefaults(requests, record(item, 'min'))
      for (const field of ['default', 'defaultRequest'])
        if (Object.keys(record(item, field)).length === 0) delete item[field]
    }
  },
  validate(object) {
    const errors: FieldError[] = []
    const types = new Set<string>()
    for (const [i, item] of records(object, 'spec', 'limits').entries()) {
      const path = `spec.limits[${i}]`
      const type = str(item, 'type')
      if (types.has(type)) errors.push(fieldError.duplicate(`${path}.type`, type))
      types.add(type)
      for (const field of LIMIT_FIELDS) errors.push(...quantities(item[field], `${path}.${field}`))
      errors.push(...limitOrder(item, path))
    }
    return errors
  },
}
const LIMIT_FIELDS = ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio']

const resourceQuotas = withStatus({
  noGeneration: true,
  applyDefaults(object) {
    canonicalQuantities(record(object, 'spec').hard)
  },
  validate(object) {
    const errors = quantities(record(object, 'spec').hard, 'spec.hard')
    for (const name of Object.keys(record(object, 'spec', 'hard'))) {
      if (name.includes('/') || QUOTA_RESOURCES.has(name)) continue
      errors.push(
        fieldError.invalid(`spec.hard[${name}]`, name, 'must be a standard resource type or fully qualified'),
        fieldError.invalid(`spec.hard[${name}]`, name, 'must be a standard resource for quota'),
      )
    }
    const scopes = strings(object, 'spec', 'scopes')
    if (scopes.some(scope => !QUOTA_SCOPES.includes(scope))) {
      errors.push(fieldError.invalid('spec.scopes', scopes, 'unsupported scope'))
    }
    return errors
  },
  validateUpdate: (object, old) => immutable(record(object, 'spec').scopes, record(old, 'spec').scopes, 'spec.scopes'),
})
const QUOTA_RESOURCES: ReadonlySet<string> = new Set(
  [
    ['cpu', 'memory', 'storage', 'ephemeral-storage', 'pods', 'services', 'replicationcontrollers', 'resourcequotas'],
    ['secrets', 'configmaps', 'persistentvolumeclaims', 'services.nodeports', 'services.loadbalancers'],
    ['requests.cpu', 'requests.memory', 'requests.storage', 'requests.ephemeral-storage'],
    ['limits.cpu', 'limits.memory', 'limits.ephemeral-storage'],
  ].flat(),
)
const QUOTA_SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]

export const quotaStrategies: Strategies = { '/limitranges': limitRanges, '/resourcequotas': resourceQuotas }

function limitOrder(item: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const below = (low: string, high: string, at: string, words: string) => {
    for (const [name, value] of Object.entries(record(item, low))) {
      if (!has(item, high, name) || !exceeds(value, record(item, high)[name])) continue
      const shown = record(item, at)[name]
      const detail = words.replace('%l', String(value)).replace('%h', String(record(item, high)[name]))
      errors.push(fieldError.invalid(`${path}.${at}[${name}]`, shown, detail))
    }
  }
  below('min', 'max', 'min', 'min value %l is greater than max value %h')
  below('min', 'defaultRequest', 'defaultRequest', 'min value %l is greater than default request value %h')
  below('defaultRequest', 'max', 'defaultRequest', 'default request value %l is greater than max value %h')
  below(
    'defaultRequest',
    'default',
    'defaultRequest',
    'default request value %l is greater than default limit value %h',
  )
  below('min', 'default', 'default', 'min value %l is greater than default value %h')
  below('default', 'max', 'default', 'default value %l is greater than max value %h')
  return errors
}
