/**
 * Rules of jobs for failure and success: pod failure policies, success policies, limits of indexed jobs.
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/job/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, list, num, record, records, str } from '../../apimachinery/fields.ts'
import { quotedAsGo } from '../../apimachinery/go/goPrint.ts'
import { qualifiedName } from '../../apimachinery/names.ts'
import { invalidBy, nonNegative, repeats } from '../checks.ts'
import { atMost, choice, STATUSES, when } from '../shapes.ts'

const MOST_RULES = 20
const MOST_EXIT_CODES = 255
const MOST_PATTERNS = 20
const MOST_PARALLEL = 100_000
/** Above so many completions, the lists of indexes in the status could grow too long. */
const MANY_COMPLETIONS = 100_000
const MOST_WITH_MANY_COMPLETIONS = 10_000
const INDEXES_LIMIT_BYTES = 64 * 1024

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const OPERATORS = ['In', 'NotIn']
const INDEXED_ONLY = 'requires indexed completion mode'

const without = (field: string, detail: string): FieldError => ({
  type: 'Invalid',
  field,
  omitValue: true,
  detail,
})

/** The counts that only jobs with indexes have, and what they may be. */
export function validateIndexing(spec: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const field = (name: string): string => `${path}.${name}`
  const above = (name: string, limit: number, detail: string): FieldError[] =>
    when(num(spec, name) > limit, () => fieldError.invalid(field(name), num(spec, name), detail))
  const mode = str(spec, 'completionMode')
  if (mode === 'Indexed') {
    const completions = num(spec, 'completions')
    if (!has(spec, 'completions')) {
      errors.push(fieldError.required(field('completions'), 'when completion mode is Indexed'))
    }
    errors.push(
      ...above(
        'parallelism',
        MOST_PARALLEL,
        `must be less than or equal to ${MOST_PARALLEL} when completion mode is Indexed`,
      ),
      ...(has(spec, 'completions')
        ? above('maxFailedIndexes', completions, 'must be less than or equal to completions')
        : []),
      ...above('maxFailedIndexes', MOST_PARALLEL, `must be less than or equal to ${MOST_PARALLEL}`),
    )
    if (completions > MANY_COMPLETIONS && has(spec, 'backoffLimitPerIndex')) {
      const detail = `must be less than or equal to ${MOST_WITH_MANY_COMPLETIONS} when completions are above ${MANY_COMPLETIONS} and used with backoff limit per index`
      if (!has(spec, 'maxFailedIndexes')) {
        const missing = `must be specified when completions is above ${MANY_COMPLETIONS}`
        errors.push(fieldError.required(field('maxFailedIndexes'), missing))
      }
      errors.push(
        ...above('parallelism', MOST_WITH_MANY_COMPLETIONS, detail),
        ...above('maxFailedIndexes', MOST_WITH_MANY_COMPLETIONS, detail),
      )
    }
  } else if (mode === '' || mode === 'NonIndexed') {
    for (const name of ['backoffLimitPerIndex', 'maxFailedIndexes']) {
      if (has(spec, name)) errors.push(fieldError.invalid(field(name), num(spec, name), INDEXED_ONLY))
    }
  }
  return errors
}

export function validatePodFailurePolicy(spec: Fields, path: string): FieldError[] {
  if (!has(spec, 'podFailurePolicy')) return []
  const rules = records(spec, 'podFailurePolicy', 'rules')
  const podSpec = record(spec, 'template', 'spec')
  const containers = [...records(podSpec, 'containers'), ...records(podSpec, 'initContainers')].map(c => str(c, 'name'))
  return [
    ...atMost(rules, MOST_RULES, `${path}.rules`),
    ...rules.flatMap((rule, i) => validateFailureRule(rule, `${path}.rules[${i}]`, spec, containers)),
  ]
}

function validateFailureRule(rule: Fields, path: string, spec: Fields, containers: readonly string[]): FieldError[] {
  const action = str(rule, 'action')
  const errors: FieldError[] = []
  if (action === '') errors.push(fieldError.required(`${path}.action`, `valid values: ${quotedAsGo(ACTIONS)}`))
  else if (!ACTIONS.includes(action)) errors.push(fieldError.notSupported(`${path}.action`, action, ACTIONS))
  else if (action === 'FailIndex' && !has(spec, 'backoffLimitPerIndex')) {
    errors.push(fieldError.invalid(`${path}.action`, action, 'requires the backoffLimitPerIndex to be set'))
  }
  const codes = has(rule, 'onExitCodes')
  const patterns = records(rule, 'onPodConditions')
  if (codes) errors.push(...validateExitCodes(record(rule, 'onExitCodes'), `${path}.onExitCodes`, containers))
  errors.push(
    ...atMost(patterns, MOST_PATTERNS, `${path}.onPodConditions`),
    ...patterns.flatMap((pattern, i) => {
      const at = `${path}.onPodConditions[${i}]`
      return [
        ...invalidBy(qualifiedName, str(pattern, 'type'), `${at}.type`),
        ...requiredChoice(pattern, 'status', `${at}.status`, STATUSES),
      ]
    }),
  )
  if (codes && patterns.length > 0) {
    errors.push(without(path, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  }
  if (!codes && patterns.length === 0) {
    errors.push(without(path, 'specifying one of OnExitCodes and OnPodConditions is required'))
  }
  return errors
}

function validateExitCodes(codes: Fields, path: string, containers: readonly string[]): FieldError[] {
  const values = list(codes, 'values').map(Number)
  const at = `${path}.values`
  const errors = requiredChoice(codes, 'operator', `${path}.operator`, OPERATORS)
  const container = str(codes, 'containerName')
  if (has(codes, 'containerName') && !containers.includes(container)) {
    const detail = 'must be one of the container or initContainer names in the pod template'
    errors.push(fieldError.invalid(`${path}.containerName`, container, detail))
  }
  if (values.length === 0) errors.push(fieldError.invalid(at, codes.values ?? null, 'at least one value is required'))
  errors.push(...atMost(values, MOST_EXIT_CODES, at))
  const again = repeats(values)
  for (const [i, value] of values.entries()) {
    if (value === 0 && codes.operator === 'In') {
      errors.push(fieldError.invalid(`${at}[${i}]`, value, 'must not be 0 for the In operator'))
    }
    if (again[i]) errors.push(fieldError.duplicate(`${at}[${i}]`, value))
  }
  if (values.some((value, i) => i > 0 && values[i - 1]! > value)) {
    errors.push(fieldError.invalid(at, codes.values, 'must be ordered'))
  }
  return errors
}

function requiredChoice(object: Fields, name: string, field: string, supported: readonly string[]): FieldError[] {
  if (str(object, name) === '') return [fieldError.required(field, `valid values: ${quotedAsGo(supported)}`)]
  return choice(object, name, field, supported)
}

export function validateSuccessPolicy(spec: Fields, path: string): FieldError[] {
  if (!has(spec, 'successPolicy')) return []
  if (str(spec, 'completionMode') !== 'Indexed') return [fieldError.invalid(path, spec.successPolicy, INDEXED_ONLY)]
  const rules = records(spec, 'successPolicy', 'rules')
  const none = 'at least one rules must be specified when the successPolicy is specified'
  return [
    ...when(rules.length === 0, () => fieldError.required(`${path}.rules`, none)),
    ...atMost(rules, MOST_RULES, `${path}.rules`),
    ...rules.flatMap((rule, i) => validateSuccessRule(rule, `${path}.rules[${i}]`, num(spec, 'completions'))),
  ]
}

function validateSuccessRule(rule: Fields, path: string, completions: number): FieldError[] {
  const errors: FieldError[] = []
  const byCount = has(rule, 'succeededCount')
  const byIndexes = has(rule, 'succeededIndexes')
  if (!byCount && !byIndexes) {
    errors.push(fieldError.required(path, 'at least one of succeededCount or succeededIndexes must be specified'))
  }
  const indexes = str(rule, 'succeededIndexes')
  const { total, problem } = countIndexes(indexes, completions)
  if (byIndexes) {
    const field = `${path}.succeededIndexes`
    errors.push(
      ...when(indexes.length > INDEXES_LIMIT_BYTES, () => fieldError.tooLong(field, INDEXES_LIMIT_BYTES)),
      ...(problem === undefined
        ? []
        : [fieldError.invalid(field, indexes, `error parsing succeededIndexes: ${problem}`)]),
    )
  }
  if (!byCount) return errors
  const count = num(rule, 'succeededCount')
  const tooMany = (most: number, what: string): FieldError[] =>
    when(count > most, () =>
      fieldError.invalid(
        `${path}.succeededCount`,
        count,
        `must be less than or equal to ${most} (the number of ${what})`,
      ),
    )
  return [
    ...errors,
    ...nonNegative(rule, path, 'succeededCount'),
    ...tooMany(completions, 'specified completions'),
    ...(byIndexes ? tooMany(total, 'indexes in the specified succeededIndexes field') : []),
  ]
}

/** How many indexes a text such as `0,2-4` names, or what is wrong with it. */
export function countIndexes(text: string, completions: number): { total: number; problem?: string } {
  if (text === '') return { total: 0 }
  let total = 0
  let last: number | undefined
  const wrong = (problem: string) => ({ total: 0, problem })
  for (const interval of text.split(',')) {
    const limits = interval.split('-')
    if (limits.length > 2) {
      return wrong(
        `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`,
      )
    }
    const numbers: number[] = []
    for (const limit of limits) {
      if (!/^[+]?\d+$/.test(limit)) return wrong(`cannot convert string to integer for index: ${JSON.stringify(limit)}`)
      const number = Number.parseInt(limit, 10)
      if (number >= completions) return wrong(`too large index: ${JSON.stringify(limit)}`)
      numbers.push(number)
    }
    const [first = 0, end = first] = numbers
    const order = (previous: number, current: number) =>
      wrong(`non-increasing order, previous: ${previous}, current: ${current}`)
    if (limits.length > 1 && first >= end) return order(first, end)
    if (last !== undefined && last >= first) return order(last, first)
    total += end - first + 1
    last = end
  }
  return { total }
}
