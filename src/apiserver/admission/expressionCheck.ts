/** Policies and webhook configurations whose expressions do not compile are refused when they are written, not when they are used. */
import { setImmediate as letOthers } from 'node:timers/promises'
import { statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { has, record, records, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Admission } from '../registry/admission.ts'
import type { AdmissionCel, AdmissionVariable } from './admissionCel.ts'
import { nameOf } from './attributes.ts'
import { ADMISSION_GROUP } from './webhookConfigurations.ts'

/** Characters of expressions; compiling them takes some milliseconds. After that, others have their turn. */
const MUCH = 10_000

interface Found {
  path: string
  source: string
  /** Type of its result; `any` for variables and mutations. */
  type: 'bool' | 'string' | 'any'
  /** Variables that it cannot name. */
  lacking: readonly AdmissionVariable[]
}

export function expressionCheck(cel: AdmissionCel): Admission {
  return {
    stage: 'validate',
    handles: (type, operation) => type.group === ADMISSION_GROUP && operation !== 'DELETE',
    async admit(request) {
      const { type, object, old } = request
      // what was accepted before stays acceptable
      const same = ({ source, type: wanted, lacking }: Found): string => `${wanted} ${lacking.join()} ${source}`
      const known = new Set(old ? expressionsOf(old).map(same) : [])
      const errors: FieldError[] = []
      let characters = 0
      for (const found of expressionsOf(object)) {
        if (known.has(same(found))) continue
        characters += found.source.length
        if (characters > MUCH) {
          characters = 0
          await letOthers()
        }
        errors.push(...errorsOf(cel, found))
      }
      if (errors.length > 0) throw statusError.invalid(type, nameOf(request), errors)
    },
  }
}

function expressionsOf(object: KubeObject): Found[] {
  const spec = record(object, 'spec')
  const found: Found[] = []
  const isPolicy = 'spec' in object
  const lacking: AdmissionVariable[] = isPolicy ? (has(spec, 'paramKind') ? [] : ['params']) : ['params', 'variables']
  const each = (holder: unknown, list: string, at: string, field: string, type: Found['type']): void => {
    for (const [i, item] of records(holder, list).entries()) {
      const source = str(item, ...field.split('.'))
      if (source !== '') found.push({ path: `${at}${list}[${i}].${field}`, source, type, lacking })
    }
  }
  each(spec, 'matchConditions', 'spec.', 'expression', 'bool')
  each(spec, 'variables', 'spec.', 'expression', 'any')
  each(spec, 'validations', 'spec.', 'expression', 'bool')
  each(spec, 'validations', 'spec.', 'messageExpression', 'string')
  each(spec, 'auditAnnotations', 'spec.', 'valueExpression', 'any')
  each(spec, 'mutations', 'spec.', 'applyConfiguration.expression', 'any')
  each(spec, 'mutations', 'spec.', 'jsonPatch.expression', 'any')
  for (const [i, webhook] of records(object, 'webhooks').entries()) {
    each(webhook, 'matchConditions', `webhooks[${i}].`, 'expression', 'bool')
  }
  return found
}

function errorsOf(cel: AdmissionCel, { path, source, type, lacking }: Found): FieldError[] {
  const expression = cel.compile(source, lacking)
  if (expression.program === undefined) return [fieldError.invalid(path, source, expression.failure)]
  const given = expression.program.type
  if (type === 'any' || given === type || given === 'dyn') return []
  return [fieldError.invalid(path, source, `must evaluate to ${type}`)]
}
