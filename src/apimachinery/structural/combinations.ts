/** `allOf`, `anyOf`, `oneOf` and `not` of a structural schema. Their content is never ratcheted. */
import { fieldError } from '../fieldErrors.ts'
import type { Schema } from '../schema.ts'
import { type Check, newRun, type Run, report } from './validationRun.ts'

/** One check for each combination of a schema; `checkOf` gives the check of a schema inside of one. */
export function combinationChecks(schema: Schema, checkOf: (schema: Schema) => Check): Check[] {
  const found: Check[] = []
  if (schema.allOf !== undefined) found.push(allOfCheck(schema.allOf.map(checkOf)))
  if (schema.anyOf !== undefined && !isIntOrStringPattern(schema)) found.push(anyOfCheck(schema.anyOf.map(checkOf)))
  if (schema.oneOf !== undefined) found.push(oneOfCheck(schema.oneOf.map(checkOf)))
  if (schema.not !== undefined) {
    const check = checkOf(schema.not)
    found.push((value, run) => {
      if (holds(check, value, run)) composite(run, 'must not validate the schema (not)')
    })
  }
  return found
}

/** `anyOf: [integer, string]` only repeats what int-or-string already says. */
function isIntOrStringPattern(schema: Schema): boolean {
  return (
    schema['x-kubernetes-int-or-string'] === true &&
    schema.anyOf?.every(
      each => Object.keys(each).length === 1 && (each.type === 'integer' || each.type === 'string'),
    ) === true
  )
}

function allOfCheck(all: Check[]): Check {
  return (value, run) => {
    const failing = all.filter(check => !holds(check, value, run))
    if (failing.length === 0) return
    if (!run.isProbe) for (const check of failing) addErrors(check, value, run)
    composite(run, `must validate all the schemas (allOf)${failing.length === all.length ? '. None validated' : ''}`)
  }
}

function anyOfCheck(any: Check[]): Check {
  return (value, run) => {
    if (any.some(check => holds(check, value, run))) return
    composite(run, 'must validate at least one schema (anyOf)')
    if (any[0] !== undefined && !run.isProbe) addErrors(any[0], value, run)
  }
}

function oneOfCheck(one: Check[]): Check {
  return (value, run) => {
    const valid = one.filter(check => holds(check, value, run)).length
    if (valid === 1) return
    const found = valid === 0 ? 'none valid' : `${valid} valid alternatives`
    composite(run, `must validate one and only one schema (oneOf). Found ${found}`)
    if (valid === 0 && one[0] !== undefined && !run.isProbe) addErrors(one[0], value, run)
  }
}

/** Whether the value is valid, without errors. */
function holds(check: Check, value: unknown, run: Run): boolean {
  const { isProbe, failed } = run
  run.isProbe = true
  run.failed = false
  check(value, run)
  const isValid = !run.failed
  run.isProbe = isProbe
  run.failed = failed
  return isValid
}

/** Adds the errors of the value itself. */
function addErrors(check: Check, value: unknown, run: Run): void {
  check(value, { ...newRun(run.base, run.trail, run.budget), errors: run.errors })
}

/** Errors of combinations name no field of their own; the path stands in the message. */
function composite(run: Run, message: string): void {
  report(run, path => fieldError.invalid('', '', `${JSON.stringify(path)} ${message}`))
}
