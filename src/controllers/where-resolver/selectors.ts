/** Lists of label selectors as users write them: the sound ones compiled, the malformed ones said. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { formatFieldError } from '../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import {
  type LabelSelector,
  type LabelSelectorObject,
  labelSelectorFromObject,
  validateLabelSelector,
} from '../../apimachinery/selectors.ts'

export interface CompiledSelectors {
  selectors: LabelSelector[]
  /** Field, fault and remedy; in the order of the list. */
  faults: string[]
}

const REMEDY = 'correct or remove this selector; until then it selects nothing and the others still count'

/** `field` is the path of the list. */
export function compileSelectors(list: unknown, field: string): CompiledSelectors {
  const compiled: CompiledSelectors = { selectors: [], faults: [] }
  for (const [index, item] of (Array.isArray(list) ? list : []).entries()) {
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
    const errors = validateLabelSelector(item as LabelSelectorObject, field)
    if (errors.length > 0) return { selectors: [], faults: errors.map(e => `${formatFieldError(e)}; ${REMEDY}`) }
    return { selectors: [labelSelectorFromObject(item as LabelSelectorObject)], faults: [] }
  } catch (error) {
    if (!isStatusError(error)) throw error
    return { selectors: [], faults: [`${field}: ${error.message}; ${REMEDY}`] }
  }
}

export const VALIDATION_ERROR_PREFIX = 'validation-error.kubestellar.io/'

/** Faults of every selector of an EdgePlacement, also of those that only decide what is downsynced. */
export function placementFaults(spec: unknown): string[] {
  if (!isRecord(spec)) return []
  const tests: unknown[] = Array.isArray(spec.downsync) ? spec.downsync : []
  return [
    ...compileSelectors(spec.locationSelectors, 'spec.locationSelectors').faults,
    ...tests.flatMap((test, i) =>
      isRecord(test)
        ? [
            ...compileSelectors(test.namespaceSelectors, `spec.downsync[${i}].namespaceSelectors`).faults,
            ...compileSelectors(test.labelSelectors, `spec.downsync[${i}].labelSelectors`).faults,
          ]
        : [],
    ),
  ]
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
