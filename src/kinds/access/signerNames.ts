/** Names of certificate signers: `example.com/signer-name`. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { dns1123Label, dns1123Subdomain } from '../../apimachinery/names.ts'

const DOMAIN_MAX = 253
const NAME_MAX = DOMAIN_MAX + 1 + (DOMAIN_MAX + 63 + 1)

export function signerName(name: string, field: string): FieldError[] {
  if (name === '') return [fieldError.required(field)]
  const [domain = '', own = '', ...more] = name.split('/')
  if (!name.includes('/') || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [fieldError.invalid(field, name, detail)]
  }
  const errors = Buffer.byteLength(domain) > DOMAIN_MAX ? [fieldError.tooLong(field, DOMAIN_MAX)] : []
  const labels = domain.split('.')
  errors.push(...firstFault(labels, dns1123Label, domain, field))
  if (labels.length < 2) {
    const detail = 'should be a domain with at least two segments separated by dots'
    errors.push(fieldError.invalid(field, domain, detail))
  }
  errors.push(...firstFault(own.split('.'), dns1123Subdomain, own, field))
  return Buffer.byteLength(name) > NAME_MAX ? [...errors, fieldError.tooLong(field, NAME_MAX)] : errors
}

function firstFault(
  labels: readonly string[],
  rule: (label: string) => string[],
  shown: string,
  field: string,
): FieldError[] {
  const bad = labels.find(label => rule(label).length > 0)
  if (bad === undefined) return []
  return rule(bad).map(message =>
    fieldError.invalid(field, shown, `validating label ${JSON.stringify(bad)}: ${message}`),
  )
}
