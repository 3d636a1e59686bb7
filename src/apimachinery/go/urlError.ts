/**
 * Why Go's net/url does not parse a text; upstream's messages quote it.
 * @see https://pkg.go.dev/net/url#Parse
 */
import { shownText } from '../fieldErrors.ts'
import { quotedAsGo } from './goPrint.ts'

/** A character that no host name has unescaped. */
const NO_HOST_CHARACTER = /[^A-Za-z0-9\-._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/u
const USER_CHARACTERS = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/

/** `parse "…": …`, or `undefined` when the text is a URL. */
export function urlError(text: string): string | undefined {
  const why = errorOf(text)
  return why === undefined ? undefined : `parse ${shownText(text)}: ${why}`
}

function errorOf(text: string): string | undefined {
  if (hasControl(text)) return 'net/url: invalid control character in URL'
  const [whole = ''] = text.split('#', 1)
  if (whole.startsWith(':')) return 'missing protocol scheme'
  const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/.exec(whole)?.[0] ?? ''
  const rest = (whole.slice(scheme.length).split('?', 1)[0] ?? '').trimEnd()
  if (!rest.startsWith('/')) {
    if (scheme !== '') return undefined
    const [first = ''] = rest.split('/', 1)
    return first.includes(':') ? 'first path segment in URL cannot contain colon' : badEscape(rest)
  }
  if (!rest.startsWith('//')) return badEscape(rest)
  const [authority = ''] = rest.slice(2).split('/', 1)
  return authorityError(authority) ?? badEscape(rest.slice(2 + authority.length))
}

function authorityError(authority: string): string | undefined {
  const at = authority.lastIndexOf('@')
  if (at >= 0 && !USER_CHARACTERS.test(authority.slice(0, at))) return 'net/url: invalid userinfo'
  const host = authority.slice(at + 1)
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']')
    return end < 0 ? "missing ']' in host" : portError(host.slice(end + 1))
  }
  const colon = host.lastIndexOf(':')
  const wrongPort = colon < 0 ? undefined : portError(host.slice(colon))
  if (wrongPort !== undefined) return wrongPort
  const bad = NO_HOST_CHARACTER.exec(host)
  if (bad !== null) return `invalid character ${quotedAsGo(bad[0])} in host name`
  return badEscape(host)
}

function portError(port: string): string | undefined {
  return /^(:\d*)?$/.test(port) ? undefined : `invalid port ${shownText(port)} after host`
}

function badEscape(text: string): string | undefined {
  const bad = /%(?![0-9A-Fa-f]{2})/.exec(text)
  return bad === null ? undefined : `invalid URL escape ${quotedAsGo(text.slice(bad.index, bad.index + 3))}`
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}
