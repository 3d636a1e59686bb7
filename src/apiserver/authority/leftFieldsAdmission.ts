/** `spec.ignoreDifferences` of EdgePlacements: a pointer that leads nowhere would leave nothing to the clusters, and tell nobody. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { at, objects, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { MAX_POINTERS, pointerProblem } from '../../placement/content/leftFields.ts'
import { EDGE_PLACEMENTS } from '../../placement/words/placement.ts'
import { contentRule } from '../registry/admissionFrame.ts'

const FIELD = 'spec.ignoreDifferences'

const rulesIn = ({ spec }: Readonly<KubeObject>): unknown => at(spec, 'ignoreDifferences')

export const leftFieldsAdmission = contentRule(EDGE_PLACEMENTS, rulesIn, ({ object }) =>
  problemsOf(objects(rulesIn(object))),
)

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
