/**
 * Message literals of mutation expressions (`Object{…}`, `Object.spec{…}`, `JSONPatch{…}`) as equivalent map literals, for the CEL library
 * does not know them. `jsonpatch.escapeKey` becomes a plain function, `authorizer.requestResource` a plain variable.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
 */
import { REQUEST_RESOURCE } from './celAuthorizer.ts'

const TOKEN =
  /\s+|\/\/[^\n]*|(?:[rR]|[bB][rR]?|[rR][bB])?(?:"""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|[A-Za-z_][A-Za-z0-9_]*|[0-9][A-Za-z0-9_.]*|[\s\S]/gy

/** The same expression without message literals; others than those two types are left as they are, to be refused. */
export function withoutMessageTypes(source: string): string {
  if (!/\b(?:Object|JSONPatch|jsonpatch|authorizer)\b/.test(source)) return source
  const tokens = source.match(TOKEN) ?? []
  const out: string[] = []
  /** One entry per open bracket: whether it is a message's brace. */
  const open: boolean[] = []
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!
    if (token === 'authorizer' && tokens[i + 1] === '.' && tokens[i + 2] === 'requestResource') {
      out.push(REQUEST_RESOURCE)
      i += 2
    } else if (token === '?' && open.at(-1) === true && ['{', ','].includes(tokens[before(tokens, i)] ?? '')) {
      // an optional field: what is absent is left out later
    } else if (token === 'jsonpatch' && tokens[i + 1] === '.' && tokens[i + 2] === 'escapeKey') {
      out.push('jsonpatchEscapeKey')
      i += 2
    } else if (isMessageName(tokens, i)) {
      i = endOfName(tokens, i) - 1
      open.push(true)
      while (tokens[i + 1] !== '{') i++
      out.push('{')
      i++
    } else {
      if (/^[A-Za-z_]/.test(token) && open.at(-1) === true && isFieldName(tokens, i)) out.push(JSON.stringify(token))
      else out.push(token)
      if (token === '{' || token === '(' || token === '[') open.push(false)
      if (token === '}' || token === ')' || token === ']') open.pop()
    }
  }
  return out.join('')
}

function isMessageName(tokens: readonly string[], i: number): boolean {
  if (tokens[i] !== 'Object' && tokens[i] !== 'JSONPatch') return false
  if (tokens[before(tokens, i)] === '.') return false
  return next(tokens, endOfName(tokens, i) - 1) === '{'
}

/** The index behind `Object.spec.template`. */
function endOfName(tokens: readonly string[], start: number): number {
  let i = start + 1
  while (tokens[i] === '.' && /^[A-Za-z_]/.test(tokens[i + 1] ?? '')) i += 2
  return i
}

/** A name right behind `{` or `,` (or `?` for optional fields) and before `:`. */
function isFieldName(tokens: readonly string[], i: number): boolean {
  let at = before(tokens, i)
  if (tokens[at] === '?') at = before(tokens, at)
  return next(tokens, i) === ':' && (tokens[at] === '{' || tokens[at] === ',')
}

/** The index of the last word in front of `i`; -1 when there is none. */
function before(tokens: readonly string[], i: number): number {
  let at = i - 1
  while (at >= 0 && !isWord(tokens[at]!)) at--
  return at
}

function next(tokens: readonly string[], i: number): string | undefined {
  for (let at = i + 1; at < tokens.length; at++) if (isWord(tokens[at]!)) return tokens[at]
  return undefined
}

function isWord(token: string): boolean {
  return !/^(\s|\/\/)/.test(token)
}
