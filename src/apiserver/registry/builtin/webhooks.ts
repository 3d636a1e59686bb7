/** Webhook configurations and admission policies. */
import { type FieldError, fieldError } from '../../../apimachinery/fieldErrors.ts'
import { dns1123Subdomain } from '../../../apimachinery/names.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Strategy } from '../strategy.ts'
import { duplicates, invalidBy, optionalSelector } from './checks.ts'
import {
  ensure,
  type Fields,
  has,
  list,
  num,
  record,
  records,
  setDefault,
  setDefaults,
  str,
  strings,
} from './fields.ts'
import { type Strategies, withStatus } from './kind.ts'

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']
const REVIEW_VERSIONS = ['v1', 'v1beta1']

const webhookConfiguration = (mutating: boolean): Strategy => ({
  applyDefaults(object) {
    for (const webhook of records(object, 'webhooks')) {
      setDefaults(webhook, { failurePolicy: 'Fail', matchPolicy: 'Equivalent', timeoutSeconds: 10 })
      ensure(webhook, 'namespaceSelector')
      ensure(webhook, 'objectSelector')
      if (mutating) setDefault(webhook, 'reinvocationPolicy', 'Never')
      if (has(webhook, 'clientConfig', 'service'))
        setDefault(ensure(ensure(webhook, 'clientConfig'), 'service'), 'port', 443)
      for (const rule of records(webhook, 'rules')) setDefault(rule, 'scope', '*')
    }
  },
  validate(object: KubeObject) {
    const webhooks = records(object, 'webhooks')
    const errors = webhooks.flatMap((webhook, i) => validateWebhook(webhook, `webhooks[${i}]`))
    return [...errors, ...duplicates(webhooks, 'webhooks', 'name')]
  },
})

const policy = (mutating: boolean) => {
  const strategy: Strategy = {
    applyDefaults(object) {
      const spec = ensure(object, 'spec')
      setDefault(spec, 'failurePolicy', 'Fail')
      if (has(spec, 'matchConstraints')) defaultMatch(ensure(spec, 'matchConstraints'))
    },
    validate(object) {
      const spec = record(object, 'spec')
      const errors: FieldError[] = []
      if (!has(spec, 'matchConstraints')) errors.push(fieldError.required('spec.matchConstraints'))
      else if (list(spec, 'matchConstraints', 'resourceRules').length === 0) {
        errors.push(fieldError.required('spec.matchConstraints.resourceRules'))
      }
      if (mutating && list(spec, 'mutations').length === 0) {
        errors.push(fieldError.required('spec.mutations', 'mutations must contain at least one item'))
      }
      if (!mutating && list(spec, 'validations').length === 0 && list(spec, 'auditAnnotations').length === 0) {
        const detail = 'validations or auditAnnotations must contain at least one item'
        errors.push(
          fieldError.required('spec.validations', detail),
          fieldError.required('spec.auditAnnotations', detail),
        )
      }
      for (const [i, validation] of records(spec, 'validations').entries()) {
        if (str(validation, 'expression').trim() === '') {
          errors.push(fieldError.required(`spec.validations[${i}].expression`, 'expression is not specified'))
        }
      }
      return errors
    },
  }
  return mutating ? strategy : withStatus(strategy)
}

const policyBinding = (mutating: boolean): Strategy => ({
  applyDefaults(object) {
    const spec = ensure(object, 'spec')
    if (has(spec, 'matchResources')) defaultMatch(ensure(spec, 'matchResources'))
  },
  validate(object) {
    const spec = record(object, 'spec')
    const errors: FieldError[] = []
    const name = str(spec, 'policyName')
    if (name === '') errors.push(fieldError.required('spec.policyName'))
    else errors.push(...invalidBy(dns1123Subdomain, name, 'spec.policyName'))
    if (!mutating) {
      const actions = strings(spec, 'validationActions')
      const known = ['Audit', 'Deny', 'Warn']
      if (actions.length === 0)
        errors.push(fieldError.required('spec.validationActions', 'at least one validation action is required'))
      for (const [i, action] of actions.entries()) {
        if (!known.includes(action)) errors.push(fieldError.notSupported(`spec.validationActions[${i}]`, action, known))
      }
    }
    return errors
  },
})

const GROUP = 'admissionregistration.k8s.io'
export const webhookStrategies: Strategies = {
  [`${GROUP}/mutatingwebhookconfigurations`]: webhookConfiguration(true),
  [`${GROUP}/validatingwebhookconfigurations`]: webhookConfiguration(false),
  [`${GROUP}/mutatingadmissionpolicies`]: policy(true),
  [`${GROUP}/validatingadmissionpolicies`]: policy(false),
  [`${GROUP}/mutatingadmissionpolicybindings`]: policyBinding(true),
  [`${GROUP}/validatingadmissionpolicybindings`]: policyBinding(false),
}

function defaultMatch(match: Fields): void {
  ensure(match, 'namespaceSelector')
  ensure(match, 'objectSelector')
  setDefault(match, 'matchPolicy', 'Equivalent')
  for (const field of ['resourceRules', 'excludeResourceRules']) {
    for (const rule of records(match, field)) setDefault(rule, 'scope', '*')
  }
}

function validateWebhook(webhook: Fields, path: string): FieldError[] {
  const name = str(webhook, 'name')
  const errors: FieldError[] =
    name === '' ? [fieldError.required(`${path}.name`)] : invalidBy(dns1123Subdomain, name, `${path}.name`)
  if (errors.length === 0 && name.split('.').length < 3) {
    const detail = 'should be a domain with at least three segments separated by dots'
    errors.push(fieldError.invalid(`${path}.name`, name, detail))
  }
  for (const [i, rule] of records(webhook, 'rules').entries()) errors.push(...validateRule(rule, `${path}.rules[${i}]`))
  const choice = (field: string, supported: readonly string[]) => {
    if (has(webhook, field) && !supported.includes(str(webhook, field))) {
      errors.push(fieldError.notSupported(`${path}.${field}`, webhook[field], supported))
    }
  }
  choice('failurePolicy', ['Fail', 'Ignore'])
  choice('matchPolicy', ['Equivalent', 'Exact'])
  if (!has(webhook, 'sideEffects')) {
    errors.push(fieldError.required(`${path}.sideEffects`, 'must specify one of None, NoneOnDryRun'))
  } else choice('sideEffects', ['None', 'NoneOnDryRun'])
  const timeout = num(webhook, 'timeoutSeconds')
  if (timeout < 1 || timeout > 30) {
    const detail = 'the timeout value must be between 1 and 30 seconds'
    errors.push(fieldError.invalid(`${path}.timeoutSeconds`, timeout, detail))
  }
  errors.push(...optionalSelector(webhook.namespaceSelector, `${path}.namespaceSelector`))
  errors.push(...optionalSelector(webhook.objectSelector, `${path}.objectSelector`))
  choice('reinvocationPolicy', ['Never', 'IfNeeded'])
  errors.push(...validateClient(record(webhook, 'clientConfig'), `${path}.clientConfig`))
  const versions = strings(webhook, 'admissionReviewVersions')
  const known = REVIEW_VERSIONS.join(', ')
  if (versions.length === 0) {
    errors.push(fieldError.required(`${path}.admissionReviewVersions`, `must specify one of ${known}`))
  } else if (!versions.some(v => REVIEW_VERSIONS.includes(v))) {
    const detail = `must include at least one of ${known}`
    errors.push(fieldError.invalid(`${path}.admissionReviewVersions`, versions, detail))
  }
  return errors
}

function validateRule(rule: Fields, path: string): FieldError[] {
  const errors: FieldError[] = []
  const operations = strings(rule, 'operations')
  if (operations.length === 0) errors.push(fieldError.required(`${path}.operations`))
  for (const [i, operation] of operations.entries()) {
    if (!OPERATIONS.includes(operation)) {
      errors.push(fieldError.notSupported(`${path}.operations[${i}]`, operation, OPERATIONS))
    }
  }
  for (const [field, what] of [
    ['apiGroups', 'API groups'],
    ['apiVersions', 'API versions'],
    ['resources', 'resources without subresources'],
  ] as const) {
    const values = strings(rule, field)
    if (values.length === 0) errors.push(fieldError.required(`${path}.${field}`))
    const others = field === 'resources' ? values.filter(v => !v.includes('/')) : values
    if (values.includes('*') && others.length > 1) {
      const detail = `if '*' is present, must not specify other ${what}`
      errors.push(fieldError.invalid(`${path}.${field}`, values, detail))
    }
  }
  if (has(rule, 'scope') && !SCOPES.includes(str(rule, 'scope'))) {
    errors.push(fieldError.notSupported(`${path}.scope`, rule.scope, SCOPES))
  }
  return errors
}

function validateClient(config: Fields, path: string): FieldError[] {
  if (has(config, 'url') === has(config, 'service')) {
    return [fieldError.required(path, 'exactly one of url or service is required')]
  }
  if (has(config, 'url')) return validateUrl(str(config, 'url'), `${path}.url`)
  const errors: FieldError[] = []
  for (const field of ['name', 'namespace']) {
    if (str(config, 'service', field) === '') errors.push(fieldError.required(`${path}.service.${field}`))
  }
  return errors
}

const URL_FORM = '; desired format: https://host[/path]'

function validateUrl(text: string, field: string): FieldError[] {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) return [fieldError.required(field, `url must be a valid URL${URL_FORM}`)]
  const errors: FieldError[] = []
  const scheme = url.protocol.slice(0, -1)
  if (scheme !== 'https') {
    errors.push(fieldError.invalid(field, scheme, `'https' is the only allowed URL scheme${URL_FORM}`))
  }
  if (url.host === '') errors.push(fieldError.invalid(field, url.host, `host must be specified${URL_FORM}`))
  if (url.username !== '')
    errors.push(fieldError.invalid(field, url.username, 'user information is not permitted in the URL'))
  if (url.hash !== '')
    errors.push(fieldError.invalid(field, url.hash.slice(1), 'fragments are not permitted in the URL'))
  if (url.search !== '') {
    errors.push(fieldError.invalid(field, url.search.slice(1), 'query parameters are not permitted in the URL'))
  }
  return errors
}
