/** Validation of the CEL rules in a CRD's schema: their texts, whether they compile, where they point and what they cost. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import type { Schema, ValidationRule } from '../schema.ts'
import { estimateCost } from '../structural/celCost.ts'
import { CelCompileError, checkRuleTypes, compileCel } from '../structural/celProgram.ts'
import { hasBound, maxCount, maxSize } from '../structural/celSizes.ts'
import { findField } from '../structural/fieldPath.ts'
import { RuleCosts } from './ruleCosts.ts'
import { eachShape, type Scope } from './schemaWalk.ts'

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

/** Errors of all rules of a schema that makes sense otherwise. */
export function validateRules(schema: Schema, at: string, scope: Scope): FieldError[] {
  const errors: FieldError[] = []
  const costs = new RuleCosts(at)
  // the root is a resource too, with a name that rules may speak of
  const root: Schema = { ...schema, 'x-kubernetes-embedded-resource': true }
  ruleErrors(root, at, scope, { errors, costs, copies: 1 })
  return [...errors, ...costs.errors()]
}

/** Errors of a rule that need no compilation. */
export function ruleTextErrors(rule: ValidationRule, schema: Schema, at: string, errors: FieldError[]): void {
  const { message = '', messageExpression = '', reason, fieldPath = '' } = rule
  const breaks = (text: string) => /[\r\n]/.test(text)
  const ruleText = (rule.rule ?? '').trim()
  if (ruleText === '') errors.push(fieldError.required(`${at}.rule`, 'rule is not specified'))
  else if (message !== '' && message.trim() === '') {
    errors.push(fieldError.invalid(`${at}.message`, message, 'must be non-empty if specified'))
  } else if (breaks(message.trim())) {
    errors.push(fieldError.invalid(`${at}.message`, message, 'must not contain line breaks'))
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
    errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'must be non-empty if specified'))
  }
  if (breaks(fieldPath)) errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'must not contain line breaks'))
  if (fieldPath !== '' && typeof findField(schema, fieldPath, { brackets: true }) === 'string') {
    errors.push(fieldError.invalid(`${at}.fieldPath`, fieldPath, 'must be a valid path'))
  }
}

interface RuleRun {
  errors: FieldError[]
  costs: RuleCosts
  /** The number of values that one object can have here; `undefined` below a list or map without a bound. */
  copies: number | undefined
}

/** Compiles every rule and estimates what it costs. */
function ruleErrors(schema: Schema, at: string, scope: Scope, run: RuleRun): void {
  const { errors, costs, copies } = run
  for (const [i, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const field = `${at}.x-kubernetes-validations[${i}]`
    const check = (source: string, part: 'rule' | 'messageExpression', wanted: 'bool' | 'string') => {
      const report = (detail: string) => errors.push(fieldError.invalid(`${field}.${part}`, rule, detail))
      const found = compileInto(source, schema, wanted, { report, oldSelf: rule.optionalOldSelf ? undefined : schema })
      if (found?.isSound) {
        // upstream does not count how often a message may be made
        const times = part === 'rule' ? (copies ?? maxCount(schema)) : 1
        errors.push(...costs.add(`${field}.${part}`, part, estimateCost(source, schema) * times))
      }
      return found?.usesOldSelf
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
  }
  eachShape(schema, at, scope, (child, path, inside) => {
    const isMember = child !== schema.items && child !== schema.additionalProperties
    const inContainer = copies !== undefined && hasBound(schema) ? copies * maxSize(schema) : undefined
    ruleErrors(child, path, inside, { errors, costs, copies: isMember ? copies : inContainer })
  })
}

interface Compiling {
  report: (detail: string) => void
  /** The schema of `oldSelf`, where it is no optional. */
  oldSelf: Schema | undefined
}

/** Whether the expression names `oldSelf` and is all right otherwise; `undefined` when it does not compile. */
function compileInto(
  source: string,
  schema: Schema,
  wanted: 'bool' | 'string',
  { report, oldSelf }: Compiling,
): { usesOldSelf: boolean; isSound: boolean } | undefined {
  try {
    const { type, usesOldSelf } = compileCel(source, schema)
    const types = [type, checkRuleTypes(source, schema, oldSelf)]
    const isSound = types.every(each => each === wanted || each === 'dyn')
    if (!isSound) {
      report(
        wanted === 'bool' ? 'cel expression must evaluate to a bool' : 'messageExpression must evaluate to a string',
      )
    }
    return { usesOldSelf, isSound }
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error
    report(`${wanted === 'bool' ? '' : 'messageExpression '}compilation failed: ${error.message}`)
    return undefined
  }
}
