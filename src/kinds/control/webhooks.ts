/** Webhook configurations. @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/ */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import {
  ensure,
  type Fields,
  has,
  num,
  record,
  records,
  setDefault,
  setDefaults,
  str,
  strings,
} from '../../apimachinery/fields.ts'
import { dns1035Label } from '../../apimachinery/names.ts'
import { webhookServiceErrors, webhookUrlErrors } from '../../apimachinery/webhookAddress.ts'
import { duplicates, invalidBy, optionalSelector, repeats } from '../checks.ts'
import type { Strategies } from '../kind.ts'
import { choice, qualifiedHookName, when } from '../shapes.ts'
import type { Strategy } from '../strategy.ts'
import { FAILURE_POLICIES, MATCH_POLICIES, validateConditions, validateRule } from './admissionRules.ts'

const REVIEW_VERSIONS = ['v1', 'v1beta1']
const SIDE_EFFECTS = ['None', 'NoneOnDryRun']

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
  validate(object) {
    const webhooks = records(object, 'webhooks')
    const errors = webhooks.flatMap((webhook, i) => validateWebhook(webhook, `webhooks[${i}]`))
    return [...errors, ...duplicates(webhooks, 'webhooks', 'name')]
  },
})

const GROUP = 'admissionregistration.k8s.io'
export const webhookStrategies: Strategies = {
  [`${GROUP}/mutatingwebhookconfigurations`]: webhookConfiguration(true),
  [`${GROUP}/validatingwebhookconfigurations`]: webhookConfiguration(false),
}

function validateWebhook(webhook: Fields, path: string): FieldError[] {
  const timeout = num(webhook, 'timeoutSeconds')
  const sideEffects = `must specify one of ${SIDE_EFFECTS.join(', ')}`
  return [
    ...qualifiedHookName(str(webhook, 'name'), `${path}.name`),
    ...records(webhook, 'rules').flatMap((rule, i) => validateRule(rule, `${path}.rules[${i}]`)),
    ...choice(webhook, 'failurePolicy', `${path}.failurePolicy`, FAILURE_POLICIES),
    ...choice(webhook, 'matchPolicy', `${path}.matchPolicy`, MATCH_POLICIES),
    ...when(!has(webhook, 'sideEffects'), () => fieldError.required(`${path}.sideEffects`, sideEffects)),
    ...choice(webhook, 'sideEffects', `${path}.sideEffects`, SIDE_EFFECTS),
    ...when(timeout < 1 || timeout > 30, () =>
      fieldError.invalid(`${path}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds'),
    ),
    ...optionalSelector(webhook.namespaceSelector, `${path}.namespaceSelector`),
    ...optionalSelector(webhook.objectSelector, `${path}.objectSelector`),
    ...choice(webhook, 'reinvocationPolicy', `${path}.reinvocationPolicy`, ['IfNeeded', 'Never']),
    ...validateClient(record(webhook, 'clientConfig'), `${path}.clientConfig`),
    ...validateConditions(webhook, path),
    ...validateVersions(strings(webhook, 'admissionReviewVersions'), `${path}.admissionReviewVersions`),
  ]
}

function validateVersions(versions: readonly string[], field: string): FieldError[] {
  const known = REVIEW_VERSIONS.join(', ')
  const again = repeats(versions)
  if (versions.length === 0) return [fieldError.required(field, `must specify one of ${known}`)]
  return [
    ...versions.flatMap((version, i) =>
      again[i]
        ? [fieldError.invalid(`${field}[${i}]`, version, 'duplicate version')]
        : invalidBy(dns1035Label, version, `${field}[${i}]`),
    ),
    ...when(!versions.some(version => REVIEW_VERSIONS.includes(version)), () =>
      fieldError.invalid(field, versions, `must include at least one of ${known}`),
    ),
  ]
}

function validateClient(config: Fields, path: string): FieldError[] {
  if (has(config, 'url') === has(config, 'service')) {
    return [fieldError.required(path, 'exactly one of url or service is required')]
  }
  if (has(config, 'url')) return webhookUrlErrors(str(config, 'url'), `${path}.url`)
  const service = record(config, 'service')
  // upstream takes the one for the other
  const { name: namespace, namespace: name } = service
  return webhookServiceErrors({ ...service, name, namespace }, `${path}.service`)
}
