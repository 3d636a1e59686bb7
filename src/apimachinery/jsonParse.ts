/**
 * A `JSON.parse` that says what the text says. V8's takes one key for another. An earlier object had a key with a backslash in it. The text
 * of a later key with an escape begins with the very same characters: the later one is then read as the earlier. One text, from any sender,
 * changes the reading of managers' claims in all `managedFields` from then on.
 * @see https://github.com/nodejs/node/issues/63785
 *
 * A key can only be mistaken for one that the text of a string could begin with. Such a key has a backslash, and no quote or control
 * character before it. No object is made here that the engine remembers such a key of.
 */
import { randomBytes } from 'node:crypto'

const native = JSON.parse

/** Whether others' keys can be mistaken for this one. */
export function isMistakable(key: string): boolean {
  const at = key.indexOf('\\')
  return at >= 0 && !BEFORE.test(key.slice(0, at))
}
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BEFORE = /["\u0000-\u001f]/

/** In this thread, for everything that parses JSON in it, libraries included. */
export function parseJsonSafely(): void {
  JSON.parse = parse
}

/** As `JSON.parse`. */
export function parse(text: string, reviver?: Parameters<typeof native>[1]): unknown {
  const source = String(text)
  const keys = maySayBackslash(source) ? mistakableKeys(source) : []
  if (keys.length === 0 || reviver !== undefined) return native(source, reviver)
  const token = randomBytes(16).toString('hex')
  return renamed(native(withTokens(source, keys, token)), keys, token)
}

/** As `parse`, for a text that is known to have no such key: it is not looked through again. */
export function parseHarmless(text: string): unknown {
  return native(text)
}

/** The first such key of a JSON text; what is before `from` is passed over. */
export function mistakableKeyIn(text: string, from = 0): string | undefined {
  return maySayBackslash(text) ? mistakableKeys(text, from)[0]?.key : undefined
}

/** Whether an escape stands for a backslash. A megabyte of other escapes is gone through: to look for each costs ten times that. */
function maySayBackslash(text: string): boolean {
  for (let at = text.indexOf('\\'); at >= 0; ) {
    if (isBackslash(text, at)) return true
    at += 2
    if (text.charCodeAt(at) !== BACKSLASH) at = text.indexOf('\\', at)
  }
  return false
}

interface Place {
  /** Position of its quotes. */
  readonly start: number
  readonly end: number
  readonly key: string
}

const [QUOTE, BACKSLASH, COLON, SMALL_U] = [34, 92, 58, 117]

/** Those of well-formed text; of other text it does not matter. */
function mistakableKeys(text: string, from = 0): Place[] {
  const found: Place[] = []
  for (let start = text.indexOf('"', from); start >= 0; ) {
    let escaped = -1
    let end = start + 1
    for (let code = text.charCodeAt(end); code !== QUOTE; code = text.charCodeAt(++end)) {
      if (Number.isNaN(code)) return found
      if (code !== BACKSLASH) continue
      if (escaped < 0) escaped = end
      end++
    }
    if (escaped >= 0 && isBackslash(text, escaped) && isKey(text, end))
      found.push({ start, end, key: native(text.slice(start, end + 1)) as string })
    start = text.indexOf('"', end + 1)
  }
  return found
}

/** Whether the escape there stands for a backslash. */
function isBackslash(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1)
  return next === BACKSLASH || (next === SMALL_U && text.slice(at + 2, at + 6).toLowerCase() === '005c')
}

function isKey(text: string, end: number): boolean {
  let at = end + 1
  while (isSpace(text.charCodeAt(at))) at++
  return text.charCodeAt(at) === COLON
}

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

function withTokens(text: string, keys: readonly Place[], token: string): string {
  const pieces: string[] = []
  let copied = 0
  for (const [i, { start, end }] of keys.entries()) {
    pieces.push(text.slice(copied, start + 1), token, String(i))
    copied = end
  }
  pieces.push(text.slice(copied))
  return pieces.join('')
}

function renamed(value: unknown, keys: readonly Place[], token: string): unknown {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) value[i] = renamed(item, keys, token)
    return value
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
  const object = members.some(([key]) => key.startsWith(token)) ? dictionary() : (value as Record<string, unknown>)
  for (const [key, member] of members) {
    const name = key.startsWith(token) ? keys[Number(key.slice(token.length))]!.key : key
    const now = renamed(member, keys, token)
    // an assignment to `__proto__` would not make a member
    if (object !== value || now !== member)
      Object.defineProperty(object, name, { value: now, enumerable: true, configurable: true, writable: true })
  }
  return object
}

/** An object whose keys are its own affair: the engine keeps no record of the order in which such ones get theirs. */
function dictionary(): Record<string, unknown> {
  const object: Record<string, unknown> = { first: 0, second: 0 }
  delete object.first
  delete object.second
  return object
}
