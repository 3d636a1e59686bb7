/**
 * Customizers: a selector, a parameter's name or a patch that cannot be read is refused when it is written, with its field. A path or
 * value that leads nowhere depends on the object, and so do most faults of patches: these are its `customization-error`.
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { at, record, records } from '../../apimachinery/fields.ts'
import { jsonSize } from '../../apimachinery/jsonSize.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { operationProblem } from '../../apimachinery/patch/jsonPatch.ts'
import { LAST_APPLIED_ANNOTATION } from '../../apimachinery/resources.ts'
import { type LabelSelectorObject, validateLabelSelector } from '../../apimachinery/selectors.ts'
import { equalJson, isTooDeep } from '../../apimachinery/values.ts'
import { MAX_PATCH_BYTES, MAX_PATCHES, MAX_VALUES, PATCH_FORMS } from '../../placement/content/customizerRules.ts'
import { MAX_SELECTOR_PARTS, SelectorParts } from '../../placement/select/selectorParts.ts'
import { CUSTOMIZERS } from '../../placement/words/placement.ts'
import { contentRule } from '../registry/admissionFrame.ts'

/** As keys of labels are, which parameters of Locations are. */
const NAME = /^[\w./-]{1,317}$/
/** Fields that no patch changes; a test of them is fine. */
const IDENTITY: ReadonlySet<string> = new Set([
  '',
  '/apiVersion',
  '/kind',
  '/metadata',
  '/metadata/name',
  '/metadata/namespace',
])
/** kubectl apply does so without a word when it creates an object. */
const LOST_NULLS =
  'kubectl apply left each null out of the patches, so these remove nothing; apply it once more, or remove fields by a jsonPatch (op: remove)'
const FORMS = `path with value, or one of ${PATCH_FORMS.join(', ')}`

type Fields = Readonly<Record<string, unknown>>

export const customizerAdmission = contentRule(
  CUSTOMIZERS,
  ({ parameters, replacements }) => [parameters, replacements],
  ({ object, context }) => {
    const problems = problemsOf(object)
    if (problems.length === 0 && lostNulls(object)) context.warn(LOST_NULLS)
    return problems
  },
)

function problemsOf(object: KubeObject): FieldError[] {
  const parameters = records(object, 'parameters')
  const replacements = records(object, 'replacements')
  const parts = new SelectorParts()
  const problems: FieldError[] = []
  for (const [i, one] of parameters.entries()) {
    problems.push(...selectorProblems(one, `parameters[${i}]`, parts), ...nameProblems(one, `parameters[${i}].values`))
  }
  const values = parameters.reduce((sum, one) => sum + Object.keys(record(one, 'values')).length, 0)
  if (values > MAX_VALUES) {
    const remedy = `it has ${values} values, and may have ${MAX_VALUES}; make several Customizers, or name fewer Locations`
    problems.push(fieldError.forbidden('parameters', remedy))
  }
  let patches = 0
  for (const [i, one] of replacements.entries()) {
    const field = `replacements[${i}]`
    problems.push(...selectorProblems(one, field, parts), ...formProblems(one, field))
    if (PATCH_FORMS.some(form => one[form] !== undefined) && ++patches === MAX_PATCHES + 1)
      problems.push(fieldError.forbidden(field, `a Customizer may have ${MAX_PATCHES} patches; put several into one`))
  }
  return problems
}

function selectorProblems({ locationSelector }: Fields, field: string, parts: SelectorParts): FieldError[] {
  if (!isRecord(locationSelector)) return []
  const at = `${field}.locationSelector`
  if (parts.take(locationSelector)) return validateLabelSelector(locationSelector as LabelSelectorObject, at)
  const remedy = `a Customizer may have ${MAX_SELECTOR_PARTS} selectors, labels, expressions and values; use fewer`
  return [fieldError.forbidden(at, remedy)]
}

function nameProblems(one: Fields, field: string): FieldError[] {
  return Object.keys(record(one, 'values'))
    .filter(name => !NAME.test(name))
    .map(name =>
      fieldError.invalid(
        field,
        name,
        'the name of a parameter has letters, digits and . _ / -, and 317 characters at most',
      ),
    )
}

function formProblems(one: Fields, field: string): FieldError[] {
  const forms = PATCH_FORMS.filter(form => one[form] !== undefined)
  const isPut = one.path !== undefined || one.value !== undefined
  if (forms.length + Number(isPut) > 1) {
    const given = [...(isPut ? ['path'] : []), ...forms].join(' and ')
    return [
      fieldError.forbidden(`${field}.${forms.at(-1)}`, `it has ${given}, and may have ${FORMS}; make several of it`),
    ]
  }
  if (forms.length === 0) {
    return (['path', 'value'] as const)
      .filter(name => one[name] === undefined)
      .map(name => fieldError.required(`${field}.${name}`, `a replacement has ${FORMS}`))
  }
  const [form] = forms as [(typeof PATCH_FORMS)[number]]
  const at = `${field}.${form}`
  const bytes = jsonSize(one[form])
  if (bytes > MAX_PATCH_BYTES) return [fieldError.tooLong(at, MAX_PATCH_BYTES)]
  return form === 'jsonPatch' ? records(one, form).flatMap((op, j) => operationProblems(op, `${at}[${j}]`)) : []
}

function operationProblems(operation: Fields, field: string): FieldError[] {
  const problem = operationProblem(operation)
  if (problem !== undefined) return [fieldError.invalid(field, operation.path, problem)]
  const { op, path, from } = operation
  const touched = op === 'test' ? [] : [{ name: 'path', pointer: path }]
  if (op === 'move') touched.push({ name: 'from', pointer: from })
  const remedy = 'no patch changes apiVersion, kind, name or namespace; name a field below, such as /metadata/labels/x'
  return touched
    .filter(({ pointer }) => typeof pointer === 'string' && IDENTITY.has(pointer))
    .map(({ name, pointer }) => fieldError.invalid(`${field}.${name}`, pointer, remedy))
}

/** Whether the patches are what was applied, but for nulls. */
function lostNulls({ metadata, replacements }: KubeObject): boolean {
  const text = metadata.annotations?.[LAST_APPLIED_ANNOTATION] ?? ''
  if (!text.includes('null')) return false
  let applied: unknown
  try {
    applied = at(JSON.parse(text), 'replacements')
  } catch {
    return false
  }
  if (isTooDeep(applied) || equalJson(applied, replacements)) return false
  return equalJson(withoutNulls(applied), withoutNulls(replacements))
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(([, member]) => member !== null)
  return Object.fromEntries(kept.map(([key, member]) => [key, withoutNulls(member)]))
}
