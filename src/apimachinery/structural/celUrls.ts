/** Kubernetes' URL library for CEL. @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-url-library */
import type { Environment } from '@marcbachmann/cel-js'
import type { Comparable } from './celEquality.ts'
import { registerAll, registerOpaque } from './celRegister.ts'

export class CelUrl implements Comparable {
  readonly url: URL
  constructor(url: URL) {
    this.url = url
  }
  equals({ url }: CelUrl): boolean {
    return this.url.href === url.href
  }
}

/** Stands for the host that an absolute path does not name. */
const RELATIVE_HOST = 'relative.invalid'

export function addUrls(environment: Environment): void {
  registerOpaque(environment, 'kubernetes.URL', CelUrl)
  registerAll(environment, {
    'url(string): kubernetes.URL': (s: string) => {
      const url = absoluteUrl(s)
      if (url === undefined) throw new Error(`URL parse error during conversion from string: ${JSON.stringify(s)}`)
      return new CelUrl(url)
    },
    'isURL(string): bool': (s: string) => absoluteUrl(s) !== undefined,
    'kubernetes.URL.getScheme(): string': ({ url }: CelUrl) => (isRelative(url) ? '' : url.protocol.slice(0, -1)),
    'kubernetes.URL.getHost(): string': ({ url }: CelUrl) => (isRelative(url) ? '' : url.host),
    'kubernetes.URL.getHostname(): string': ({ url }: CelUrl) =>
      isRelative(url) ? '' : url.hostname.replace(/^\[|\]$/g, ''),
    'kubernetes.URL.getPort(): string': ({ url }: CelUrl) => url.port,
    'kubernetes.URL.getEscapedPath(): string': ({ url }: CelUrl) => url.pathname,
    'kubernetes.URL.getQuery(): map<string, list<string>>': ({ url }: CelUrl) => queryOf(url),
  })
}

/** In one pass: asking for each name's values takes time by the square of their number. */
function queryOf(url: URL): Record<string, string[]> {
  const values = new Map<string, string[]>()
  for (const [name, value] of url.searchParams) {
    const known = values.get(name)
    if (known === undefined) values.set(name, [value])
    else known.push(value)
  }
  return Object.fromEntries(values)
}

function isRelative(url: URL): boolean {
  return url.hostname === RELATIVE_HOST
}

/** A URL with a scheme, or an absolute path. */
function absoluteUrl(s: string): URL | undefined {
  if (s.startsWith('/')) return URL.parse(`http://${RELATIVE_HOST}${s}`) ?? undefined
  return URL.parse(s) ?? undefined
}
