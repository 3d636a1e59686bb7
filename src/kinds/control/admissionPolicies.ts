/**
 * Validating and mutating admission policies and their bindings.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { ensure, type Fields, has, list, record, records, setDefault, str, strings } from '../../apimachinery/fields.ts'
import { dns1035Label, dns1123Subdomain, pathSegment, qualifiedName } from '../../apimachinery/names.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { invalidBy, optionalSelector, repeated, requiredName } from '../checks.ts'
import { type Strategies, withStatus } from '../kind.ts'
import { choice, conditions, when } from '../shapes.ts'
import { CLIENT_METADATA, type Strategy } from '../strategy.ts'
import { defaultMatch, FAILURE_POLICIES, isSet, validateConditions, validateMatch } from './admissionRules.ts'

const ACTIONS = ['Audit', 'Deny', 'Warn']
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch']
const REINVOCATIONS = ['IfNeeded', 'Never']
const MOST_AUDIT_ANNOTATIONS = 20
const AUDIT_EXPRESSION_LIMIT_BYTES = 5 * 1024
const NOTHING_TO_DO = 'validations or auditAnnotations must contain at least one item'
const RESERVED_WORDS: ReadonlySet<string> = new Set([
  ...['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import'],
  ...['let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'],
])

const policy = (mutating: boolean): Strategy => ({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    setDefault(spec, 'failurePolicy', 'Fail')
    if (has(spec, 'matchConstraints')) defaultMatch(ensure(spec, 'matchConstraints'))
  },
  validate(object) {
    const spec = record(object, 'spec')
    return [
      ...choice(spec, 'failurePolicy', 'spec.failurePolicy', FAILURE_POLICIES),
      ...(has(spec, 'paramKind') ? validateParamKind(record(spec, 'paramKind'), 'spec.paramKind') : []),
      ...(has(spec, 'matchConstraints')
        ? [
            ...validateMatch(spec.matchConstraints, 'spec.matchConstraints'),
            ...when(list(spec, 'matchConstraints', 'resourceRules').length === 0, () =>
              fieldError.required('spec.matchConstraints.resourceRules'),
            ),
          ]
        : [fieldError.required('spec.matchConstraints')]),
      ...validateConditions(spec, 'spec'),
      ...records(spec, 'variables').flatMap((variable, i) => validateVariable(variable, `spec.variables[${i}]`)),
      ...(mutating ? validateMutations(spec) : validateValidations(object, spec)),
    ]
  },
})

const validatingPolicy = withStatus({
  ...policy(false),
  statusKeeps: CLIENT_METADATA,
  validateStatusUpdate: object => [
    ...records(object, 'status', 'typeChecking', 'expressionWarnings').flatMap((warning, i) =>
      ['warning', 'fieldRef'].flatMap(field =>
        when(str(warning, field) === '', () =>
          fieldError.required(`status.typeChecking.expressionWarnings[${i}].${field}`),
        ),
      ),
    ),
    ...conditions(object.status, 'conditions', 'status.conditions'),
  ],
})

const binding = (mutating: boolean): Strategy => ({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    if (has(spec, 'matchResources')) defaultMatch(ensure(spec, 'matchResources'))
  },
  validate(object) {
    const spec = record(object, 'spec')
    const name = str(spec, 'policyName')
    return [
      ...requiredName(name, 'spec.policyName', dns1123Subdomain),
      ...(has(spec, 'paramRef') ? validateParamRef(record(spec, 'paramRef'), 'spec.paramRef') : []),
      ...(has(spec, 'matchResources') ? validateMatch(spec.matchResources, 'spec.matchResources') : []),
      ...(mutating ? [] : validateActions(strings(spec, 'validationActions'), 'spec.validationActions')),
    ]
  },
})

const GROUP = 'admissionregistration.k8s.io'
export const policyStrategies: Strategies = {
  [`${GROUP}/mutatingadmissionpolicies`]: policy(true),
  [`${GROUP}/validatingadmissionpolicies`]: validatingPolicy,
  [`${GROUP}/mutatingadmissionpolicybindings`]: binding(true),
  [`${GROUP}/validatingadmissionpolicybindings`]: binding(false),
}

function validateParamKind(kind: Fields, path: string): FieldError[] {
  const [apiVersion, name] = [str(kind, 'apiVersion'), str(kind, 'kind')]
  const kindProblems = name === '' ? [] : dns1035Label(name.toLowerCase())
  const mixed = `may have mixed case, but should otherwise match: ${kindProblems.join(',')}`
  return [
    ...validateApiVersion(apiVersion, `${path}.apiVersion`),
    ...when(name === '', () => fieldError.required(`${path}.kind`)),
    ...when(kindProblems.length > 0, () => fieldError.invalid(`${path}.kind`, name, mixed)),
  ]
}

function validateApiVersion(apiVersion: string, field: string): FieldError[] {
  if (apiVersion === '') return [fieldError.required(field)]
  const parts = apiVersion.split('/')
  if (parts.length > 2) {
    return [fieldError.invalid(field, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)]
  }
  const version = parts.at(-1) ?? ''
  const group = parts.length === 2 ? (parts[0] ?? '') : ''
  const wrong = (value: string, problems: readonly string[]): FieldError[] =>
    when(problems.length > 0, () => fieldError.invalid(field, value, problems.join(',')))
  return [
    ...wrong(group, group === '' ? [] : dns1123Subdomain(group)),
    ...(version === ''
      ? [fieldError.invalid(field, apiVersion, 'version must be specified')]
      : wrong(version, dns1035Label(version))),
  ]
}

function validateVariable(variable: Fields, path: string): FieldError[] {
  const name = str(variable, 'name')
  return [
    ...(name.trim() === ''
      ? [fieldError.required(`${path}.name`, 'name is not specified')]
      : when(!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || RESERVED_WORDS.has(name), () =>
          fieldError.invalid(`${path}.name`, name, 'name is not a valid CEL identifier'),
        )),
    ...needsExpression(variable, 'expression', path),
  ]
}

function needsExpression(holder: Fields, member: string, path: string): FieldError[] {
  return when(str(holder, member).trim() === '', () =>
    fieldError.required(`${path}.${member}`, `${member} is not specified`),
  )
}

function validateValidations(object: KubeObject, spec: Fields): FieldError[] {
  const annotations = records(spec, 'auditAnnotations')
  if (list(spec, 'validations').length === 0 && annotations.length === 0) {
    return ['spec.validations', 'spec.auditAnnotations'].map(field => fieldError.required(field, NOTHING_TO_DO))
  }
  const { name = '' } = object.metadata
  return [
    ...records(spec, 'validations').flatMap((validation, i) =>
      validateValidation(validation, `spec.validations[${i}]`),
    ),
    ...when(annotations.length > MOST_AUDIT_ANNOTATIONS, () =>
      fieldError.invalid(
        'spec.auditAnnotations',
        annotations,
        `must not have more than ${MOST_AUDIT_ANNOTATIONS} auditAnnotations`,
      ),
    ),
    ...annotations.flatMap((annotation, i) => {
      const path = `spec.auditAnnotations[${i}]`
      const bytes = Buffer.byteLength(str(annotation, 'valueExpression').trim())
      return [
        ...invalidBy(qualifiedName, `${name}/${str(annotation, 'key')}`, `${path}.key`),
        ...needsExpression(annotation, 'valueExpression', path),
        ...when(bytes > AUDIT_EXPRESSION_LIMIT_BYTES, () =>
          fieldError.required(
            `${path}.valueExpression`,
            `must not exceed ${AUDIT_EXPRESSION_LIMIT_BYTES} bytes in length`,
          ),
        ),
      ]
    }),
    ...repeated(
      annotations.map(annotation => str(annotation, 'key')),
      i => `spec.auditAnnotations[${i}].key`,
    ),
  ]
}

function validateValidation(validation: Fields, path: string): FieldError[] {
  const [message, expression] = [str(validation, 'message'), str(validation, 'messageExpression')]
  const invalid = (field: string, detail: string) => fieldError.invalid(`${path}.${field}`, validation[field], detail)
  return [
    ...needsExpression(validation, 'expression', path),
    ...when(expression !== '' && expression.trim() === '', () =>
      invalid('messageExpression', 'must be non-empty if specified'),
    ),
    ...when(message !== '' && message.trim() === '', () =>
      invalid('message', 'message must be non-empty if specified'),
    ),
    ...when(/[\n\r]/.test(message.trim()), () => invalid('message', 'message must not contain line breaks')),
    ...choice(validation, 'reason', `${path}.reason`, REASONS),
  ]
}

function validateMutations(spec: Fields): FieldError[] {
  const mutations = records(spec, 'mutations')
  const policyName = str(spec, 'reinvocationPolicy')
  return [
    ...when(mutations.length === 0, () =>
      fieldError.required('spec.mutations', 'mutations must contain at least one item'),
    ),
    ...mutations.flatMap((mutation, i) => validateMutation(mutation, `spec.mutations[${i}]`)),
    ...(policyName === ''
      ? [fieldError.required('spec.reinvocationPolicy')]
      : choice(spec, 'reinvocationPolicy', 'spec.reinvocationPolicy', REINVOCATIONS)),
  ]
}

/** Its type says which of the two members must be there; the other must not. */
function validateMutation(mutation: Fields, path: string): FieldError[] {
  const type = str(mutation, 'patchType')
  const members = { ApplyConfiguration: 'applyConfiguration', JSONPatch: 'jsonPatch' } as const
  if (type === '') return [fieldError.required(`${path}.patchType`)]
  if (type !== 'ApplyConfiguration' && type !== 'JSONPatch') {
    return [fieldError.notSupported(`${path}.patchType`, type, PATCH_TYPES)]
  }
  const wanted = members[type]
  const other = wanted === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  return [
    ...(has(mutation, wanted)
      ? when(str(mutation, wanted, 'expression').trim() === '', () =>
          fieldError.required(`${path}.${wanted}.expression`),
        )
      : [fieldError.required(`${path}.${wanted}`, `must be specified when patchType is ${type}`)]),
    ...when(has(mutation, other), () =>
      fieldError.invalid(`${path}.${other}`, `{${other}}`, `must not be specified when patchType is ${type}`),
    ),
  ]
}

function validateParamRef(reference: Fields, path: string): FieldError[] {
  const name = str(reference, 'name')
  const [named, selected] = [name !== '', has(reference, 'selector')]
  const exclusive = (field: string) =>
    when(named && selected, () => fieldError.forbidden(`${path}.${field}`, 'name and selector are mutually exclusive'))
  return [
    ...(named ? invalidBy(pathSegment, name, `${path}.name`) : []),
    ...exclusive('name'),
    ...optionalSelector(reference.selector, `${path}.selector`),
    ...exclusive('selector'),
    ...when(!named && !selected, () => fieldError.required(path, 'one of name or selector must be specified')),
    ...(isSet(reference, 'parameterNotFoundAction')
      ? choice(reference, 'parameterNotFoundAction', `${path}.parameterNotFoundAction`, ['Deny', 'Allow'])
      : [fieldError.required(`${path}.parameterNotFoundAction`)]),
  ]
}

function validateActions(actions: readonly string[], field: string): FieldError[] {
  return [
    ...actions.flatMap((action, i) =>
      when(!ACTIONS.includes(action), () => fieldError.notSupported(`${field}[${i}]`, action, ACTIONS)),
    ),
    ...repeated(actions, i => `${field}[${i}]`),
    ...when(actions.includes('Deny') && actions.includes('Warn'), () =>
      fieldError.invalid(
        field,
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    ),
    ...when(actions.length === 0, () => fieldError.required(field, 'at least one validation action is required')),
  ]
}
