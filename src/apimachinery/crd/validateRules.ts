/** Validation of the CEL rules in a CRD's schema: their texts, whether they compile, where they point and what they cost. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import type { Schema, ValidationRule } from '../schema.ts'
import { estimateCost } from '../structural/celCost.ts'
import { CelCompileError, compileCel } from '../structural/celProgram.ts'
import { maxSize } from '../structural/celSizes.ts'
import { RuleCosts } from './ruleCosts.ts'
import { eachShape, type Scope } from './schemaWalk.ts'

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** Errors of all rules of a schema that makes sense otherwise. */
export function validateRules(schema: Schema, at: string, scope: Scope): FieldError[] {
  const errors: FieldError[] = []
  const costs = new RuleCosts(at)
  ruleErrors(schema, at, scope, { errors, costs, copies: 1 })
  return [...errors, ...costs.errors()]
}

/** What can be told of a rule without compiling it. */
export function ruleTextErrors(rule: ValidationRule, at: string, errors: FieldError[]): void {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule
  const breaks = (text: string) => /[\r\n]/.test(text)
  const ruleText = (rule.rule ?? '').trim()
  if (ruleText === '') errors.push(fieldError.required(`${at}.rule`, 'rule is not specified'))
  else if (message !== '' && message.trim() === '') {
    errors.push(fieldError.invalid(`${at}.message`, message, 'message must be non-empty if specified'))
  } else if (breaks(message.trim())) {
    errors.push(fieldError.invalid(`${at}.message`, message, 'message must not contain line breaks'))
  } else if (breaks(ruleText) && message.trim() === '') {
    errors.push(fieldError.required(`${at}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    const why = 'messageExpression must be non-empty if specified'
    errors.push(fieldError.required(`${at}.messageExpression`, why))
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    errors.push(fieldError.notSupported(`${at}.reason`, reason, REASONS))
  }
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'fieldPath must be non-empty if specified'))
  } else if (breaks(fieldPath)) {
    errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'fieldPath must not contain line breaks'))
  }
}

interface RuleRun {
  errors: FieldError[]
  costs: RuleCosts
  /** How many values of this place one object can have. */
  copies: number
}

/** Compiles every rule and estimates what it costs. */
function ruleErrors(schema: Schema, at: string, scope: Scope, run: RuleRun): void {
  const { errors, costs, copies } = run
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const field = `${at}.x-kubernetes-validations[${i}]`
    const check = (source: string, part: 'rule' | 'messageExpression', wanted: 'bool' | 'string') => {
      const report = (detail: string) => errors.push(fieldError.invalid(`${field}.${part}`, rule, detail))
      const usesOldSelf = compileInto(source, schema, wanted, report)
      if (usesOldSelf !== undefined) {
        errors.push(...costs.add(`${field}.${part}`, part, estimateCost(source, schema) * copies))
      }
      return usesOldSelf
    }
    const usesOldSelf = check(rule.rule, 'rule', 'bool')
    if (rule.messageExpression) check(rule.messageExpression, 'messageExpression', 'string')
    if (usesOldSelf && scope.uncorrelatable !== undefined) {
      const why = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${scope.uncorrelatable}`
      errors.push(fieldError.invalid(`${field}.rule`, rule.rule, why))
    } else if (usesOldSelf === false && rule.optionalOldSelf !== undefined) {
      const why = 'may not be set if oldSelf is not used in rule'
      errors.push(fieldError.invalid(`${field}.optionalOldSelf`, rule.optionalOldSelf, why))
    }
    errors.push(...fieldPathErrors(rule, schema, `${field}.fieldPath`))
  }
  eachShape(schema, at, scope, (child, path, inside) => {
    const isMember = child !== schema.items && child !== schema.additionalProperties
    ruleErrors(child, path, inside, { errors, costs, copies: copies * (isMember ? 1 : maxSize(schema)) })
  })
}

/** Whether the expression names `oldSelf`; `undefined` when it does not compile. */
function compileInto(
  source: string,
  schema: Schema,
  wanted: 'bool' | 'string',
  report: (detail: string) => void,
): boolean | undefined {
  try {
    const { type, usesOldSelf } = compileCel(source, schema)
    if (type !== wanted && type !== 'dyn') {
      report(
        wanted === 'bool' ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string',
      )
    }
    return usesOldSelf
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    report(`compilation failed: ${error.message}`)
    return undefined
  }
}

/** A field path must lead somewhere. */
function fieldPathErrors({ fieldPath = '' }: ValidationRule, schema: Schema, field: string): FieldError[] {
  if (fieldPath.trim() === '' || leadsTo(schema, fieldPath)) return []
  return [fieldError.invalid(field, fieldPath, 'fieldPath must be a valid path: does not refer to a valid field')]
}

function leadsTo(schema: Schema, path: string): boolean {
  const steps = path.match(/\.[A-Za-z_][A-Za-z0-9_-]*|\['(?:[^'\\]|\\.)*'\]/g)
  if (steps === null || steps.join('') !== path) return false
  let at: Schema | undefined = schema
  for (const step of steps) {
    const name = step.startsWith('.') ? step.slice(1) : step.slice(2, -2).replace(/\\(.)/g, '$1')
    const values: Schema | undefined =
      typeof at?.additionalProperties === 'object' ? at.additionalProperties : undefined
    at = at?.properties && Object.hasOwn(at.properties, name) ? at.properties[name] : values
    if (at === undefined) return false
  }
  return true
}
