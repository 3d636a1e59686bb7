/** `spec.ignoreDifferences` of EdgePlacements: a pointer that leads nowhere would leave nothing to the clusters, and tell nobody. */
import { statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { objects, str, strings } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { MAX_POINTERS, pointerProblem } from '../../placement/content/leftFields.ts'
import type { Admission } from '../registry/admission.ts'
import { isPlacementWrite } from './placementWrites.ts'

const FIELD = 'spec.ignoreDifferences'

export const leftFieldsAdmission: Admission = {
  stage: 'validate',
  handles: isPlacementWrite,
  concerns: ({ object, old }) => rulesIn(object) !== undefined && !equalJson(rulesIn(object), old && rulesIn(old)),
  admit({ type, object }) {
    const problems = problemsOf(objects(rulesIn(object)))
    if (problems.length > 0) throw statusError.invalid(type, object.metadata.name ?? '', problems)
  },
}

function rulesIn({ spec }: KubeObject): unknown {
  return isRecord(spec) ? spec.ignoreDifferences : undefined
}

function problemsOf(rules: readonly Record<string, unknown>[]): FieldError[] {
  const problems: FieldError[] = []
  let count = 0
  for (const [i, rule] of rules.entries()) {
    if (str(rule.kind) === '')
      problems.push(fieldError.required(`${FIELD}[${i}].kind`, 'the kind of the objects, such as Deployment, or "*"'))
    const pointers = strings(rule.jsonPointers)
    count += pointers.length
    for (const [j, pointer] of pointers.entries()) {
      const problem = pointerProblem(pointer)
      if (problem !== undefined)
        problems.push(fieldError.invalid(`${FIELD}[${i}].jsonPointers[${j}]`, pointer, problem))
    }
  }
  if (count > MAX_POINTERS) {
    const remedy = `has ${count} jsonPointers, and may have ${MAX_POINTERS}; leave whole fields, or split the placement`
    problems.push(fieldError.forbidden(FIELD, remedy))
  }
  return problems
}
