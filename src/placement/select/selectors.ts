/** Lists of label selectors as users write them: the sound ones compiled, the malformed ones reported. */

import { isStatusError } from '../../apimachinery/errors.ts'
import { formatFieldError } from '../../apimachinery/fieldErrors.ts'
import { list } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
  validateLabelSelector,
} from '../../apimachinery/selectors.ts'
import { MAX_SELECTOR_PARTS, SelectorParts } from './selectorParts.ts'

interface CompiledSelectors {
  selectors: LabelSelector[]
  /** Field, fault and remedy; in the order of the list. */
  faults: string[]
}

const REMEDY = 'correct or remove this selector; until then it selects nothing and the others still count'

/** `field` is the path of the list; `parts` are shared with other lists of the same object. */
export function compileSelectors(items: unknown, field: string, parts = new SelectorParts()): CompiledSelectors {
  const compiled: CompiledSelectors = { selectors: [], faults: [] }
  for (const [index, item] of list(items).entries()) {
    if (!parts.take(item)) {
      compiled.faults.push(`${field}[${index}]: ${TOO_MANY}`)
      break
    }
    const one = compileSelector(item, `${field}[${index}]`)
    compiled.selectors.push(...one.selectors)
    compiled.faults.push(...one.faults)
  }
  return compiled
}

/** One selector; absent it selects nothing and is no fault. */
export function compileSelector(item: unknown, field: string): CompiledSelectors {
  if (item === undefined || item === null) return { selectors: [], faults: [] }
  if (!isRecord(item)) return { selectors: [], faults: [`${field}: must be an object; ${REMEDY}`] }
  try {
    return { selectors: [labelSelectorFromObject(item as LabelSelectorObject)], faults: [] }
  } catch (error) {
    if (!isStatusError(error)) throw error
    // what cannot be compiled is looked at once more, for where in it the faults are
    const errors = validateLabelSelector(item as LabelSelectorObject, field)
    if (errors.length === 0) return { selectors: [], faults: [`${field}: ${error.message}; ${REMEDY}`] }
    return { selectors: [], faults: errors.map(e => `${formatFieldError(e)}; ${REMEDY}`) }
  }
}

export const VALIDATION_ERROR_PREFIX = 'validation-error.kubestellar.io/'

const TOO_MANY = `it and all selectors behind it select nothing: a placement may have ${MAX_SELECTOR_PARTS} selectors, labels, expressions and values; use fewer selectors, or split the placement`

const TOO_MANY_SETS = `it and all sets behind it carry nothing: a placement may have ${MAX_SELECTOR_PARTS} upsync sets; name more objects in one set, or split the placement`

/** Faults of every selector and set of an EdgePlacement, also of those that only decide what is carried. */
export function placementFaults(spec: unknown): string[] {
  if (!isRecord(spec)) return []
  const { faults } = compileSelectors(spec.locationSelectors, 'spec.locationSelectors')
  const parts = new SelectorParts()
  for (const [i, test] of list(spec, 'downsync').entries()) {
    if (!isRecord(test)) continue
    const at = `spec.downsync[${i}]`
    if (!parts.takeTest()) {
      // an exhausted bound of an earlier test is reported already
      if (!faults.some(fault => fault.endsWith(TOO_MANY) && fault.startsWith('spec.downsync'))) {
        faults.push(`${at}: ${TOO_MANY}`)
      }
      break
    }
    for (const name of ['namespaceSelectors', 'labelSelectors']) {
      faults.push(...compileSelectors(test[name], `${at}.${name}`, parts).faults)
    }
  }
  return [...faults, ...upsyncFaults(spec.upsync)]
}

function upsyncFaults(value: unknown): string[] {
  const parts = new SelectorParts()
  for (const [i, set] of list(value).entries()) {
    if (isRecord(set) && !parts.takeTest()) return [`spec.upsync[${i}]: ${TOO_MANY_SETS}`]
  }
  return []
}

/** Annotations to set (or with null to remove) so that the object shows exactly these faults; `undefined` if it does. */
export function faultAnnotations(
  object: KubeObject,
  faults: readonly string[],
): Record<string, string | null> | undefined {
  const current = object.metadata.annotations ?? {}
  const changes: Record<string, string | null> = {}
  for (const key of Object.keys(current)) {
    if (!key.startsWith(VALIDATION_ERROR_PREFIX)) continue
    const index = key.slice(VALIDATION_ERROR_PREFIX.length)
    if (!/^\d+$/.test(index) || Number(index) >= faults.length) changes[key] = null
  }
  for (const [index, fault] of faults.entries()) {
    const key = `${VALIDATION_ERROR_PREFIX}${index}`
    if (current[key] !== fault) changes[key] = fault
  }
  return Object.keys(changes).length > 0 ? changes : undefined
}
