/** Validation of `spec.conversion`, in upstream's words and order. */
import { type FieldError, fieldError, oneOf } from '../fieldErrors.ts'
import { list, record, str } from '../fields.ts'
import { dns1035Label } from '../nameRules.ts'
import { isRecord } from '../object.ts'
import { webhookServiceErrors, webhookUrlErrors } from '../webhookAddress.ts'

const AT = 'spec.conversion'
const CLIENT = `${AT}.webhookClientConfig`
const REVIEWS = `${AT}.conversionReviewVersions`
const KNOWN_REVIEWS = ['v1', 'v1beta1']

export function validateConversion(value: unknown): FieldError[] {
  if (!isRecord(value)) return []
  const errors = oneOf(str(value.strategy), `${AT}.strategy`, ['None', 'Webhook'])
  const webhook = record(value.webhook)
  if (value.strategy === 'Webhook') {
    errors.push(
      ...validateClient(webhook.clientConfig),
      ...validateReviewVersions(list(webhook.conversionReviewVersions)),
    )
    return errors
  }
  const why = 'should not be set when strategy is not set to Webhook'
  if (webhook.clientConfig !== undefined) errors.push(fieldError.forbidden(CLIENT, why))
  if (list(webhook.conversionReviewVersions).length > 0) errors.push(fieldError.forbidden(REVIEWS, why))
  return errors
}

function validateClient(client: unknown): FieldError[] {
  if (!isRecord(client)) return [fieldError.required(CLIENT, 'required when strategy is set to Webhook')]
  const { url, service } = client
  if ((url === undefined) === (service === undefined)) {
    return [fieldError.required(CLIENT, 'exactly one of url or service is required')]
  }
  return typeof url === 'string'
    ? webhookUrlErrors(url, `${CLIENT}.url`)
    : webhookServiceErrors(service, `${CLIENT}.service`)
}

/** A bundle that holds no certificate may come with a new CRD or stay in an old one, but not take a good one's place. */
export function validateBundleUpdate(value: unknown, old: unknown): FieldError[] {
  const bundle = bundleOf(value)
  if (bundle === '' || isBundle(bundle)) return []
  const before = bundleOf(old)
  if (before !== '' && !isBundle(before)) return []
  const why = 'unable to load root certificates: unable to parse bytes as PEM block'
  return [{ ...fieldError.invalid(`${CLIENT}.caBundle`, bundle, why), omitValue: true }]
}

function bundleOf(conversion: unknown): string {
  const { strategy, webhook } = record(conversion)
  return strategy === 'Webhook' ? str(record(record(webhook).clientConfig).caBundle) : ''
}

function isBundle(base64: string): boolean {
  return Buffer.from(base64, 'base64').toString().includes('-----BEGIN CERTIFICATE-----')
}

function validateReviewVersions(versions: readonly unknown[]): FieldError[] {
  if (versions.length === 0) return [fieldError.required(REVIEWS)]
  const errors: FieldError[] = []
  for (const [i, version] of versions.map(value => str(value)).entries()) {
    const field = `${REVIEWS}[${i}]`
    if (versions.indexOf(version) < i) errors.push(fieldError.invalid(field, version, 'duplicate version'))
    const shape = dns1035Label(version)
    if (shape.length > 0) errors.push(fieldError.invalid(field, version, shape.join(',')))
  }
  if (!versions.map(value => str(value)).some(version => KNOWN_REVIEWS.includes(version))) {
    errors.push(fieldError.invalid(REVIEWS, versions, `must include at least one of ${KNOWN_REVIEWS.join(', ')}`))
  }
  return errors
}
