/** Templates under a selector: what every kind that replaces its pods demands of them. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { isRecord } from '../../../apimachinery/object.ts'
import {
  type LabelSelectorObject,
  labelSelectorFromObject,
  validateLabelSelector,
} from '../../../apimachinery/selectors.ts'
import { type Fields, has, str } from './fields.ts'
import { labelsOf } from './kind.ts'
import { validatePodTemplate } from './podValidation.ts'

export const SELECTOR_MISMATCH = '`selector` does not match template `labels`'

/** The rules of templates whose pods are replaced when they end: selected by their owner, always restarted. */
export function validateReplicaTemplate(spec: Fields, owner: string): FieldError[] {
  const path = 'spec.template'
  if (!isRecord(spec.template)) return [fieldError.required(path)]
  const errors: FieldError[] = []
  if (!selects(spec.selector, labelsOf(spec.template.metadata))) {
    errors.push(
      fieldError.invalid(
        `${path}.metadata.labels`,
        spec.template.metadata && labelsOrNull(spec.template),
        SELECTOR_MISMATCH,
      ),
    )
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

const labelsOrNull = (template: Fields) => {
  const labels = labelsOf(template.metadata)
  return Object.keys(labels).length === 0 ? null : labels
}

/** An absent selector selects nothing; one with syntax errors is not judged, it has its own errors. */
export function selects(selector: unknown, labels: Record<string, string>): boolean {
  if (!isRecord(selector)) return false
  if (validateLabelSelector(selector as LabelSelectorObject, '').length > 0) return true
  return labelSelectorFromObject(selector as LabelSelectorObject).matches(labels)
}
