/** `allOf`, `anyOf`, `oneOf` and `not` of a structural schema. What is inside of them is never ratcheted. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import type { Schema } from '../schema.ts'
import { type Check, newRun, pathOf, type Run } from './validationRun.ts'

/** One check for each combination of a schema; `checkOf` gives the check of a schema inside of one. */
export function combinationChecks(schema: Schema, checkOf: (schema: Schema) => Check): Check[] {
  const found: Check[] = []
  if (schema.allOf !== undefined) found.push(allOfCheck(schema.allOf.map(checkOf)))
  if (schema.anyOf !== undefined && !isIntOrStringPattern(schema)) found.push(anyOfCheck(schema.anyOf.map(checkOf)))
  if (schema.oneOf !== undefined) found.push(oneOfCheck(schema.oneOf.map(checkOf)))
  if (schema.not !== undefined) {
    const check = checkOf(schema.not)
    found.push((value, run) => {
      if (attempt(check, value, run).length === 0) composite(run, 'must not validate the schema (not)')
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
    const failures = all.map(check => attempt(check, value, run))
    const failed = failures.filter(errors => errors.length > 0)
    if (failed.length === 0) return
    run.errors.push(...failed.flat())
    composite(run, `must validate all the schemas (allOf)${failed.length === all.length ? '. None validated' : ''}`)
  }
}

function anyOfCheck(any: Check[]): Check {
  return (value, run) => {
    let first: FieldError[] | undefined
    for (const check of any) {
      const errors = attempt(check, value, run)
      if (errors.length === 0) return
      first ??= errors
    }
    composite(run, 'must validate at least one schema (anyOf)')
    run.errors.push(...(first ?? []))
  }
}

function oneOfCheck(one: Check[]): Check {
  return (value, run) => {
    const results = one.map(check => attempt(check, value, run))
    const valid = results.filter(errors => errors.length === 0).length
    if (valid === 1) return
    const found = valid === 0 ? 'none valid' : `${valid} valid alternatives`
    composite(run, `must validate one and only one schema (oneOf). Found ${found}`)
    if (valid === 0) run.errors.push(...(results[0] ?? []))
  }
}

function attempt(check: Check, value: unknown, run: Run): FieldError[] {
  const errors: FieldError[] = []
  check(value, { ...newRun(run.base, run.trail), errors })
  return errors
}

/** Errors of combinations name no field of their own; the path stands in the message. */
function composite(run: Run, message: string): void {
  run.errors.push(fieldError.invalid('', '', `${JSON.stringify(pathOf(run))} ${message}`))
}
