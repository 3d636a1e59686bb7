/** Where a webhook is called: rules for `url` and `service`, in upstream's words and order. */
import { type FieldError, fieldError } from './fieldErrors.ts'
import { at, str } from './fields.ts'
import { urlError } from './go/urlError.ts'
import { dns1123Subdomain } from './nameRules.ts'

const URL_FORM = '; desired format: https://host[/path]'
const URL_PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/(?:([^/?#@]*)@)?([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/
/** For one path. A body has room for more than a million, which take 5 s and 1 GB. */
const MOST_PATH_ERRORS = 10

export function webhookUrlErrors(given: string, field: string): FieldError[] {
  const unparsable = urlError(given)
  if (unparsable !== undefined) return [fieldError.required(field, `url must be a valid URL: ${unparsable}${URL_FORM}`)]
  const [, scheme = '', user, host = '', , query = '', fragment = ''] = URL_PARTS.exec(given) ?? []
  const errors: FieldError[] = []
  const invalid = (value: string, why: string) => errors.push(fieldError.invalid(field, value, why))
  if (scheme.toLowerCase() !== 'https') invalid(scheme, `'https' is the only allowed URL scheme${URL_FORM}`)
  if (host === '') invalid(host, `host must be specified${URL_FORM}`)
  if (user !== undefined) invalid(user, 'user information is not permitted in the URL')
  if (fragment !== '') invalid(fragment, 'fragments are not permitted in the URL')
  if (query !== '') invalid(query, 'query parameters are not permitted in the URL')
  return errors
}

export function webhookServiceErrors(service: unknown, field: string): FieldError[] {
  const errors = ['name', 'namespace']
    .filter(member => str(service, member) === '')
    .map(member => fieldError.required(`${field}.${member}`))
  const port = at(service, 'port')
  if (typeof port === 'number' && (port < 1 || port > 65535))
    errors.push(fieldError.invalid(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'))
  const path = str(service, 'path')
  if (path === '' || path === '/') return errors
  const invalid = (why: string) => errors.push(fieldError.invalid(`${field}.path`, path, why))
  if (!path.startsWith('/')) invalid("must start with a '/'")
  const enough = errors.length + MOST_PATH_ERRORS
  for (const [i, step] of path.slice(1).replace(/\/$/, '').split('/').entries()) {
    if (errors.length >= enough) break
    if (step === '') invalid(`segment[${i}] may not be empty`)
    else for (const failure of dns1123Subdomain(step)) invalid(`segment[${i}]: ${failure}`)
  }
  return errors
}
