/** The spec of a NoticeSink as its readers take it, and what is wrong with it. Pure. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { str, strings } from '../../apimachinery/fields.ts'

export interface SecretKey {
  readonly namespace: string
  readonly name: string
  readonly key: string
}

export interface SinkSpec {
  readonly url: { readonly text: string } | { readonly secret: SecretKey }
  readonly form: 'CloudEvents' | 'Slack'
  readonly token: SecretKey | undefined
  readonly caPem: string | undefined
  readonly kinds: ReadonlySet<string>
  /** `undefined`: all. */
  readonly reasons: ReadonlySet<string> | undefined
}

/** Facts of an Event that decide who gets it. */
export interface NoticeFacts {
  readonly kind: string
  readonly reason: string
}

export function wants({ kinds, reasons }: SinkSpec, { kind, reason }: NoticeFacts): boolean {
  return kinds.has(kind) && (reasons === undefined || reasons.has(reason))
}

/** The secrets that it names, by field. */
export function secretsOf(spec: unknown): { readonly field: string; readonly secret: SecretKey }[] {
  const fields = ['urlSecretRef', 'tokenSecretRef']
  return fields.flatMap(name => {
    const secret = secretIn(spec, name)
    return secret ? [{ field: `spec.${name}`, secret }] : []
  })
}

/** Its problems besides those of its schema. */
export function sinkProblems(spec: unknown): FieldError[] {
  const url = str(spec, 'url')
  const isSecret = secretIn(spec, 'urlSecretRef') !== undefined
  if ((url === '') !== isSecret)
    return [fieldError.required('spec.url', 'exactly one of url or urlSecretRef is required')]
  const problem = isSecret ? undefined : urlProblem(url)
  const bundle = str(spec, 'caBundle')
  return [
    ...(problem === undefined ? [] : [fieldError.invalid('spec.url', url, problem)]),
    ...(bundle === '' || pemOf(bundle).includes(PEM_BEGINS)
      ? []
      : [fieldError.invalid('spec.caBundle', '<omitted>', 'it holds no certificate: give a PEM file in base64')]),
  ]
}

/** Why notices cannot be sent there. The text does not show the URL. */
export function urlProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return 'it is no URL, such as https://example.com/notices'
  if (url.protocol !== 'https:') return 'it has to begin with https://'
  if (url.username !== '' || url.password !== '') return 'it may not hold a user or a password; use tokenSecretRef'
  if (url.hash !== '') return 'it may not have a fragment'
  return undefined
}

/** @param spec of an admitted sink */
export function sinkSpec(spec: unknown): SinkSpec {
  const secret = secretIn(spec, 'urlSecretRef')
  const bundle = str(spec, 'caBundle')
  const reasons = strings((spec as { reasons?: unknown }).reasons)
  return {
    url: secret ? { secret } : { text: str(spec, 'url') },
    form: str(spec, 'form') === 'Slack' ? 'Slack' : 'CloudEvents',
    token: secretIn(spec, 'tokenSecretRef'),
    caPem: bundle === '' ? undefined : pemOf(bundle),
    kinds: new Set(strings((spec as { kinds?: unknown }).kinds)),
    reasons: reasons.length > 0 ? new Set(reasons) : undefined,
  }
}

const PEM_BEGINS = '-----BEGIN CERTIFICATE-----'

function pemOf(bundle: string): string {
  return Buffer.from(bundle, 'base64').toString('latin1')
}

function secretIn(spec: unknown, field: string): SecretKey | undefined {
  const [namespace, name, key] = ['namespace', 'name', 'key'].map(part => str(spec, field, part)) as [
    string,
    string,
    string,
  ]
  return name === '' ? undefined : { namespace, name, key }
}
