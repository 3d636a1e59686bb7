/**
 * Selectors in access reviews: which objects of a list or watch somebody asks about. RBAC decides without them, as upstream's
 * does, so here they only have to be well formed.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/subject-access-review-v1/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { objects } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'

/** Errors of `spec.resourceAttributes`'s `fieldSelector` and `labelSelector`. */
export function selectorErrors(attributes: Record<string, unknown>): FieldError[] {
  return ['fieldSelector', 'labelSelector'].flatMap(name => {
    const selector = attributes[name]
    return isRecord(selector) ? errorsOf(selector, `spec.resourceAttributes.${name}`) : []
  })
}

function errorsOf(selector: Record<string, unknown>, path: string): FieldError[] {
  const { rawSelector } = selector
  const raw = typeof rawSelector === 'string' && rawSelector !== ''
  const requirements = objects(selector.requirements)
  if (raw && requirements.length > 0) {
    const why = 'may not specified at the same time as requirements'
    return [fieldError.invalid(`${path}.rawSelector`, rawSelector, why)]
  }
  if (!raw && requirements.length === 0) {
    return [
      fieldError.required(`${path}.requirements`, `when ${path} is specified, requirements or rawSelector is required`),
    ]
  }
  return requirements.flatMap((requirement, i) => requirementErrors(requirement, `${path}.requirements[${i}]`))
}

/** Operators that this server does not know are let through, so that newer clients can ask. */
function requirementErrors(requirement: Record<string, unknown>, path: string): FieldError[] {
  const { key, operator, values } = requirement
  const errors: FieldError[] = []
  const some = Array.isArray(values) && values.length > 0
  if (typeof key !== 'string' || key === '') errors.push(fieldError.required(`${path}.key`, 'must be specified'))
  if ((operator === 'In' || operator === 'NotIn') && !some) {
    errors.push(fieldError.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"))
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && some) {
    const why = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
    errors.push(fieldError.forbidden(`${path}.values`, why))
  }
  return errors
}
