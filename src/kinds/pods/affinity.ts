/**
 * Where pods want to be and not to be: selectors of nodes, affinity, spreading, tolerations, taints.
 * @see https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, num, record, records, str, strings } from '../../apimachinery/fields.ts'
import { dns1123Label, dns1123Subdomain, labelValue, qualifiedName } from '../../apimachinery/names.ts'
import { invalidBy, optionalSelector, repeats } from '../checks.ts'
import { choice } from '../shapes.ts'

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution'

export function affinity(value: unknown, path: string): FieldError[] {
  const errors: FieldError[] = []
  const node = record(value, 'nodeAffinity')
  const here = `${path}.nodeAffinity`
  if (has(node, REQUIRED)) errors.push(...nodeSelector(record(node, REQUIRED), `${here}.${REQUIRED}`))
  for (const [i, term] of records(node, PREFERRED).entries()) {
    const at = `${here}.${PREFERRED}[${i}]`
    // values are not judged: a term that matches nothing does no harm here
    errors.push(...weight(term, at), ...selectorTerm(record(term, 'preference'), `${at}.preference`, false))
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const pods = record(value, kind)
    for (const [i, term] of records(pods, REQUIRED).entries()) {
      errors.push(...podTerm(term, `${path}.${kind}.${REQUIRED}[${i}]`))
    }
    for (const [i, term] of records(pods, PREFERRED).entries()) {
      const at = `${path}.${kind}.${PREFERRED}[${i}]`
      errors.push(...weight(term, at), ...podTerm(record(term, 'podAffinityTerm'), `${at}.podAffinityTerm`))
    }
  }
  return errors
}

function weight(term: Fields, path: string): FieldError[] {
  const value = num(term, 'weight')
  return value > 0 && value <= 100 ? [] : [fieldError.invalid(`${path}.weight`, value, 'must be in the range 1-100')]
}

/** A NodeSelector, also that of PersistentVolumes. */
export function nodeSelector(selector: Fields, path: string): FieldError[] {
  const terms = records(selector, 'nodeSelectorTerms')
  if (terms.length > 0) return terms.flatMap((term, i) => selectorTerm(term, `${path}.nodeSelectorTerms[${i}]`, true))
  return [fieldError.required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')]
}

function selectorTerm(term: Fields, path: string, judgeValues: boolean): FieldError[] {
  return [
    ...records(term, 'matchExpressions').flatMap((requirement, i) =>
      labelRequirement(requirement, `${path}.matchExpressions[${i}]`, judgeValues),
    ),
    ...records(term, 'matchFields').flatMap((requirement, i) =>
      fieldRequirement(requirement, `${path}.matchFields[${i}]`),
    ),
  ]
}

function labelRequirement(requirement: Fields, path: string, judgeValues: boolean): FieldError[] {
  const operator = str(requirement, 'operator')
  const values = strings(requirement, 'values')
  const errors: FieldError[] = []
  const field = `${path}.values`
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      errors.push(fieldError.required(field, "must be specified when `operator` is 'In' or 'NotIn'"))
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      errors.push(fieldError.forbidden(field, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
    }
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (values.length !== 1) {
      errors.push(fieldError.required(field, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    }
  } else errors.push(fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator'))
  errors.push(...invalidBy(qualifiedName, str(requirement, 'key'), `${path}.key`))
  if (!judgeValues) return errors
  return [...errors, ...values.flatMap((value, i) => invalidBy(labelValue, value, `${field}[${i}]`))]
}

function fieldRequirement(requirement: Fields, path: string): FieldError[] {
  const [operator, key] = [str(requirement, 'operator'), str(requirement, 'key')]
  const values = strings(requirement, 'values')
  const errors: FieldError[] = []
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.push(fieldError.invalid(`${path}.operator`, operator, 'not a valid selector operator'))
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
    errors.push(fieldError.required(`${path}.values`, detail))
  }
  if (key !== 'metadata.name') {
    return [...errors, fieldError.invalid(`${path}.key`, key, 'not a valid field selector key')]
  }
  return [...errors, ...values.flatMap((value, i) => invalidBy(dns1123Subdomain, value, `${path}.values[${i}]`))]
}

function podTerm(term: Fields, path: string): FieldError[] {
  const key = str(term, 'topologyKey')
  return [
    ...optionalSelector(term.labelSelector, `${path}.labelSelector`),
    ...optionalSelector(term.namespaceSelector, `${path}.namespaceSelector`),
    ...strings(term, 'namespaces').flatMap(name => invalidBy(dns1123Label, name, `${path}.namespace`)),
    ...labelKeys(term, path),
    ...(key === '' ? [fieldError.required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...invalidBy(qualifiedName, key, `${path}.topologyKey`),
  ]
}

const IN_BOTH = 'exists in both matchLabelKeys and'

/** `matchLabelKeys` and `mismatchLabelKeys`, which add to a selector that has to be there. */
function labelKeys(term: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  for (const member of ['matchLabelKeys', 'mismatchLabelKeys']) {
    const keys = strings(term, member)
    if (keys.length > 0 && !has(term, 'labelSelector')) {
      const detail = 'must not be specified when labelSelector is not set'
      errors.push(fieldError.forbidden(`${path}.${member}`, detail))
    } else errors.push(...keys.flatMap((key, i) => invalidBy(qualifiedName, key, `${path}.${member}[${i}]`)))
  }
  const matched = strings(term, 'matchLabelKeys')
  const places = new Map(matched.map((key, i) => [key, i]))
  const mismatched = new Set(strings(term, 'mismatchLabelKeys'))
  const selected = new Set(Object.keys(record(term, 'labelSelector', 'matchLabels')))
  for (const { key } of records(term, 'labelSelector', 'matchExpressions')) {
    const i = places.get(String(key))
    if (i !== undefined && selected.has(String(key))) {
      errors.push(fieldError.invalid(`${path}[${i}]`, key, `${IN_BOTH} labelSelector`))
    }
    selected.add(String(key))
  }
  for (const [i, key] of matched.entries()) {
    if (!mismatched.has(key)) continue
    errors.push(fieldError.invalid(`${path}.matchLabelKeys[${i}]`, key, `${IN_BOTH} mismatchLabelKeys`))
  }
  return errors
}

export function spreadConstraints(constraints: readonly Fields[], path: string): FieldError[] {
  const identity = (constraint: Fields): string =>
    `{${str(constraint, 'topologyKey')}, ${str(constraint, 'whenUnsatisfiable')}}`
  const last = new Map(constraints.map((constraint, i) => [identity(constraint), i]))
  return constraints.flatMap((constraint, i) => {
    const here = `${path}[${i}]`
    const [key, action] = [str(constraint, 'topologyKey'), str(constraint, 'whenUnsatisfiable')]
    const again = last.get(identity(constraint)) !== i
    const actions = ['DoNotSchedule', 'ScheduleAnyway']
    return [
      ...positive(constraint, here, 'maxSkew'),
      ...(key === '' ? [fieldError.required(`${here}.topologyKey`, 'can not be empty')] : []),
      ...(actions.includes(action) ? [] : [fieldError.notSupported(`${here}.whenUnsatisfiable`, action, actions)]),
      ...(again ? [fieldError.duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, identity(constraint))] : []),
      ...minDomains(constraint, here, action),
      ...choice(constraint, 'nodeAffinityPolicy', `${here}.nodeAffinityPolicy`, ['Honor', 'Ignore']),
      ...choice(constraint, 'nodeTaintsPolicy', `${here}.nodeTaintsPolicy`, ['Honor', 'Ignore']),
      ...spreadLabelKeys(constraint, here),
      ...optionalSelector(constraint.labelSelector, `${here}.labelSelector`),
    ]
  })
}

function positive(object: Fields, path: string, member: string): FieldError[] {
  const value = num(object, member)
  return value > 0 ? [] : [fieldError.invalid(`${path}.${member}`, value, 'must be greater than zero')]
}

function minDomains(constraint: Fields, path: string, action: string): FieldError[] {
  if (!has(constraint, 'minDomains')) return []
  const errors = positive(constraint, path, 'minDomains')
  if (action === 'DoNotSchedule') return errors
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`
  return [...errors, fieldError.invalid(`${path}.minDomains`, constraint.minDomains, detail)]
}

function spreadLabelKeys(constraint: Fields, path: string): FieldError[] {
  const keys = strings(constraint, 'matchLabelKeys')
  const field = `${path}.matchLabelKeys`
  if (keys.length === 0) return []
  const errors = has(constraint, 'labelSelector')
    ? []
    : [fieldError.forbidden(field, 'must not be specified when labelSelector is not set')]
  const selected = new Set([
    ...Object.keys(record(constraint, 'labelSelector', 'matchLabels')),
    ...records(constraint, 'labelSelector', 'matchExpressions').map(expression => str(expression, 'key')),
  ])
  for (const [i, key] of keys.entries()) {
    errors.push(...invalidBy(qualifiedName, key, `${field}[${i}]`))
    if (selected.has(key)) errors.push(fieldError.invalid(`${field}[${i}]`, key, `${IN_BOTH} labelSelector`))
  }
  return errors
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function tolerations(items: readonly Fields[], path: string): FieldError[] {
  return items.flatMap((toleration, i) => {
    const here = `${path}[${i}]`
    const [key, operator, effect, value] = ['key', 'operator', 'effect', 'value'].map(m => str(toleration, m)) as Four
    const errors = key === '' ? [] : invalidBy(qualifiedName, key, `${here}.key`)
    if (key === '' && operator !== 'Exists') {
      const detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
      errors.push(fieldError.invalid(`${here}.operator`, operator, detail))
    }
    if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
      errors.push(fieldError.invalid(`${here}.effect`, effect, detail))
    }
    if (operator === '' || operator === 'Equal') {
      const wrong = labelValue(value)
      if (wrong.length > 0) errors.push(fieldError.invalid(`${here}.operator`, value, wrong.join(';')))
    } else if (operator !== 'Exists') {
      errors.push(fieldError.notSupported(`${here}.operator`, operator, ['Equal', 'Exists']))
    } else if (value !== '') {
      errors.push(fieldError.invalid(`${here}.operator`, value, "value must be empty when `operator` is 'Exists'"))
    }
    if (effect === '' || EFFECTS.includes(effect)) return errors
    return [...errors, fieldError.notSupported(`${here}.effect`, effect, EFFECTS)]
  })
}
type Four = [string, string, string, string]

/** Taints of a node: one for each key and effect. */
export function taints(items: readonly Fields[], path: string): FieldError[] {
  const again = repeats(items.map(taint => `${str(taint, 'effect')}\n${str(taint, 'key')}`))
  return items.flatMap((taint, i) => {
    const here = `${path}[${i}]`
    const [key, value, effect] = ['key', 'value', 'effect'].map(member => str(taint, member)) as [
      string,
      string,
      string,
    ]
    const errors = invalidBy(qualifiedName, key, `${here}.key`)
    const wrong = labelValue(value)
    if (wrong.length > 0) errors.push(fieldError.invalid(`${here}.value`, value, wrong.join(';')))
    if (effect === '') errors.push(fieldError.required(`${here}.effect`))
    else if (!EFFECTS.includes(effect)) errors.push(fieldError.notSupported(`${here}.effect`, effect, EFFECTS))
    if (again[i]) {
      const detail = 'taints must be unique by key and effect pair'
      errors.push({ ...fieldError.duplicate(here, taint), detail })
    }
    return errors
  })
}
