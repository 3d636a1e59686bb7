/**
 * The shapes of names in Kubernetes: each rule answers the list of what is wrong, worded as kube-apiserver words it.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
 */
const DNS1123_LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const DNS1123_SUBDOMAIN = `${DNS1123_LABEL}(\\.${DNS1123_LABEL})*`
const DNS1035_LABEL = '[a-z]([-a-z0-9]*[a-z0-9])?'
const QUALIFIED_NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const LABEL_VALUE = `(${QUALIFIED_NAME})?`
const QUALIFIED_NAME_MESSAGE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

const DNS1123_LABEL_SHAPE = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/
const DNS1123_SUBDOMAIN_CHARACTERS = /^[-a-z0-9.]+$/
const DNS1035_LABEL_SHAPE = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const QUALIFIED_NAME_SHAPE = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/

export type NameRuleName = 'dns1123Subdomain' | 'dns1123Label' | 'dns1035Label' | 'pathSegment'
/** Faults of a value; empty when it is right. */
export type NameRule = (value: string) => string[]

/** At most 63 characters: namespaces and such. */
export function dns1123Label(value: string): string[] {
  const errors: string[] = []
  if (isLonger(value, 63)) errors.push(maxLength(63))
  if (!DNS1123_LABEL_SHAPE.test(value)) {
    if (isSubdomain(value)) errors.push('must not contain dots')
    else
      errors.push(
        shape(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          DNS1123_LABEL,
          ['my-name', '123-abc'],
        ),
      )
  }
  return errors
}

/** At most 253 characters: the rule of most object names. */
export function dns1123Subdomain(value: string): string[] {
  const errors: string[] = []
  if (isLonger(value, 253)) errors.push(maxLength(253))
  if (!isSubdomain(value)) {
    errors.push(
      shape(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        DNS1123_SUBDOMAIN,
        ['example.com'],
      ),
    )
  }
  return errors
}

/** At most 63 characters, starting with a letter: services. */
export function dns1035Label(value: string): string[] {
  const errors: string[] = []
  if (isLonger(value, 63)) errors.push(maxLength(63))
  if (!DNS1035_LABEL_SHAPE.test(value)) {
    errors.push(
      shape(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        DNS1035_LABEL,
        ['my-name', 'abc-123'],
      ),
    )
  }
  return errors
}

/** Anything that can stand in a URL path: RBAC objects. */
export function pathSegment(value: string): string[] {
  if (value === '.' || value === '..') return [`may not be '${value}'`]
  return ['/', '%'].filter(part => value.includes(part)).map(part => `may not contain '${part}'`)
}

/** `[prefix/]name`: label keys, annotation keys (lower-cased), finalizers. */
export function qualifiedName(value: string): string[] {
  if (rightNames.has(value)) return []
  const errors = wrongInQualifiedName(value)
  if (errors.length === 0) {
    if (rightNames.size >= RIGHT_NAMES) rightNames.clear()
    rightNames.add(value)
  }
  return errors
}

/** Those that were met lately and are right: what has such names has the same as others have. */
const rightNames = new Set<string>()
const RIGHT_NAMES = 1024

function wrongInQualifiedName(value: string): string[] {
  const errors: string[] = []
  const parts = value.split('/')
  if (parts.length > 2) {
    return [
      `a qualified name ${shape(QUALIFIED_NAME_MESSAGE, QUALIFIED_NAME, ['MyName', 'my.name', '123-abc'])}` +
        " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ]
  }
  const name = parts.at(-1) ?? ''
  if (parts.length === 2) {
    const prefix = parts[0] ?? ''
    if (prefix === '') errors.push('prefix part must be non-empty')
    else errors.push(...dns1123Subdomain(prefix).map(message => `prefix part ${message}`))
  }
  if (name === '') errors.push('name part must be non-empty')
  else if (isLonger(name, 63)) errors.push(`name part ${maxLength(63)}`)
  if (!QUALIFIED_NAME_SHAPE.test(name)) {
    errors.push(`name part ${shape(QUALIFIED_NAME_MESSAGE, QUALIFIED_NAME, ['MyName', 'my.name', '123-abc'])}`)
  }
  return errors
}

export function labelValue(value: string): string[] {
  const errors: string[] = []
  if (isLonger(value, 63)) errors.push(maxLength(63))
  if (value !== '' && !QUALIFIED_NAME_SHAPE.test(value)) {
    errors.push(
      shape(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        LABEL_VALUE,
        ['MyValue', 'my_value', '12345'],
      ),
    )
  }
  return errors
}

export const nameRules: Readonly<Record<NameRuleName, NameRule>> = {
  dns1123Subdomain,
  dns1123Label,
  dns1035Label,
  pathSegment,
}

const SUFFIX_ALPHABET = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX_LENGTH = 5
const GENERATED_BASE_MAX = 63 - SUFFIX_LENGTH

/**
 * `base` (cut to 58 characters) plus five random characters that cannot spell a word.
 * @param random uniform in [0, 1)
 */
export function generateName(base: string, random: () => number): string {
  let suffix = ''
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += SUFFIX_ALPHABET[Math.floor(random() * SUFFIX_ALPHABET.length)]
  return base.slice(0, GENERATED_BASE_MAX) + suffix
}

/** Label by label, since one regular expression over all of them would backtrack. */
function isSubdomain(value: string): boolean {
  return DNS1123_SUBDOMAIN_CHARACTERS.test(value) && value.split('.').every(label => DNS1123_LABEL_SHAPE.test(label))
}

/** In bytes; most are too short for that, whatever their characters are. */
function isLonger(value: string, limit: number): boolean {
  return value.length * 3 > limit && Buffer.byteLength(value) > limit
}

function maxLength(limit: number): string {
  return `must be no more than ${limit} characters`
}

function shape(message: string, pattern: string, examples: readonly string[]): string {
  return `${message} (e.g. ${examples.map(e => `'${e}', `).join(' or ')}regex used for validation is '${pattern}')`
}
