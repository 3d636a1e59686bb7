/** Validation of `spec.conversion`, in upstream's words and order. */
import { type FieldError, fieldError, oneOf } from '../fieldErrors.ts'
import { list, record, str } from '../fields.ts'
import { urlError } from '../go/urlError.ts'
import { dns1035Label, dns1123Subdomain } from '../nameRules.ts'
import { isRecord } from '../object.ts'

const AT = 'spec.conversion'
const CLIENT = `${AT}.webhookClientConfig`
const REVIEWS = `${AT}.conversionReviewVersions`
const KNOWN_REVIEWS = ['v1', 'v1beta1']
const URL_FORM = '; desired format: https://host[/path]'

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
  return typeof url === 'string' ? validateUrl(url, `${CLIENT}.url`) : validateService(record(service))
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

function validateUrl(given: string, field: string): FieldError[] {
  const unparsable = urlError(given)
  if (unparsable !== undefined) return [fieldError.required(field, `url must be a valid URL: ${unparsable}${URL_FORM}`)]
  const parts =
    /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/.exec(given)
  const [, scheme = '', user, host = '', , query = '', fragment = ''] = parts ?? []
  const errors: FieldError[] = []
  const invalid = (value: string, why: string) => errors.push(fieldError.invalid(field, value, why))
  if (scheme !== 'https') invalid(scheme, `'https' is the only allowed URL scheme${URL_FORM}`)
  if (host === '') invalid(host, `host must be specified${URL_FORM}`)
  if (user !== undefined) invalid(user, 'user information is not permitted in the URL')
  if (fragment !== '') invalid(fragment, 'fragments are not permitted in the URL')
  if (query !== '') invalid(query, 'query parameters are not permitted in the URL')
  return errors
}

function validateService(service: Record<string, unknown>): FieldError[] {
  const at = `${CLIENT}.service`
  const errors: FieldError[] = []
  if (str(service.name) === '') errors.push(fieldError.required(`${at}.name`))
  if (str(service.namespace) === '') {
    errors.push(fieldError.required(`${at}.namespace`))
  }
  const { port } = service
  if (typeof port === 'number' && (port < 1 || port > 65535)) {
    errors.push(fieldError.invalid(`${at}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'))
  }
  const path = str(service.path)
  if (path === '' || path === '/') return errors
  const invalid = (why: string) => errors.push(fieldError.invalid(`${at}.path`, path, why))
  if (!path.startsWith('/')) invalid("must start with a '/'")
  for (const [i, step] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (step === '') invalid(`segment[${i}] may not be empty`)
    else for (const failure of dns1123Subdomain(step)) invalid(`segment[${i}]: ${failure}`)
  }
  return errors
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
