/** Templates under a selector: what every kind that replaces its pods demands of them. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, isEmpty, record, str } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'
import {
  type LabelSelectorObject,
  labelSelectorFromObject,
  validateLabelSelector,
} from '../../apimachinery/selectors.ts'
import { optionalSelector, podSelector } from '../checks.ts'
import { labelsOf } from '../kind.ts'
import { validatePodTemplate } from '../pods/podValidation.ts'

export const SELECTOR_MISMATCH = '`selector` does not match template `labels`'

/** The rules of templates whose pods are replaced when they end: selected by their owner, always restarted. */
export function validateReplicaTemplate(spec: Fields, owner: string): FieldError[] {
  const path = 'spec.template'
  if (!isRecord(spec.template)) return [fieldError.required(path)]
  const errors: FieldError[] = []
  if (!selects(spec.selector, labelsOf(spec.template.metadata))) {
    errors.push(fieldError.invalid(`${path}.metadata.labels`, shownLabels(spec.template), SELECTOR_MISMATCH))
  }
  errors.push(...validatePodTemplate(spec.template, path))
  const restartPolicy = str(spec.template, 'spec', 'restartPolicy')
  if (restartPolicy !== 'Always') {
    errors.push(fieldError.notSupported(`${path}.spec.restartPolicy`, restartPolicy, ['Always']))
  }
  if (has(spec.template, 'spec', 'activeDeadlineSeconds')) {
    const detail = `activeDeadlineSeconds in ${owner} is not Supported`
    errors.push(fieldError.forbidden(`${path}.spec.activeDeadlineSeconds`, detail))
  }
  return errors
}

/** The labels of a template as errors show them: by name; `null` when there are none. */
export function shownLabels(template: unknown): Record<string, string> | null {
  const labels = Object.entries(labelsOf(record(template, 'metadata'))).sort(([a], [b]) => (a < b ? -1 : 1))
  return labels.length === 0 ? null : Object.fromEntries(labels)
}

/** An absent selector selects nothing; one with syntax errors is not judged, it has its own errors. */
export function selects(selector: unknown, labels: Record<string, string>): boolean {
  if (!isRecord(selector)) return false
  if (validateLabelSelector(selector as LabelSelectorObject, '').length > 0) return true
  return labelSelectorFromObject(selector as LabelSelectorObject).matches(labels)
}

/** `unreadable`: what upstream says of a selector with syntax errors; it does not look at the template then. */
export function selectorAndTemplate(spec: Fields, owner: string, kind: string, unreadable?: string): FieldError[] {
  const field = 'spec.selector'
  const errors = podSelector(spec.selector, field, `empty selector is invalid for ${kind}`)
  if (unreadable !== undefined && optionalSelector(spec.selector, field).length > 0) {
    return [...errors, fieldError.invalid(field, spec.selector, unreadable)]
  }
  return [...errors, ...validateReplicaTemplate(spec, owner)]
}

/** Whether a count or percentage of pods is none; what is no number counts as none. */
export const isNothing = (value: unknown): boolean =>
  typeof value === 'string' ? !/^0*[1-9]\d*%?$/.test(value) : isEmpty(value)
