/**
 * Keys that a text says more than once in one map. Parsers silently keep the last one; a request for field validation gets them, in the
 * words of Kubernetes' strict decoders.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation
 */

export interface RepeatedKey {
  /** As `spec.containers[0].image`. */
  readonly path: string
  readonly key: string
  /** Line of the repetition, from 1. */
  readonly line: number
}

/** Upstream's bound on the findings of one request. */
export const FINDINGS_LIMIT = 100
/** Characters of paths that are put together for it; one path can be as long as the request. */
const PATHS_LIMIT = 64 * 1024

/** Whether JSON text says a key twice; `value` is what a parser made of it. Linear, and quick: every write asks. */
export function repeatsKeys(text: string, value: unknown): boolean {
  return keysIn(text) !== membersIn(value)
}

/** All repetitions in well-formed JSON text, in its order. */
export function repeatedJsonKeys(text: string): RepeatedKey[] {
  const found: RepeatedKey[] = []
  new JsonKeys(text, (path, key, line) => found.push({ path, key, line })).run()
  return found
}

/**
 * Unknown fields and repeated ones in the order in which the text says them. The inside of an unknown field is skipped, so it is not a
 * repetition.
 */
export function strictFindings(text: string, unknown: readonly string[]): string[] {
  const left = new Set(unknown.slice(0, FINDINGS_LIMIT))
  const texts: string[] = []
  const keys = new JsonKeys(text, path => texts.push(`duplicate field "${path}"`))
  keys.unknown = left
  keys.onUnknown = path => texts.push(`unknown field "${path}"`)
  keys.run()
  return [...texts, ...[...left].map(path => `unknown field "${path}"`)]
}

/** `line 5: key "name" already set in map`. */
export function yamlFindings(repeated: readonly RepeatedKey[]): string[] {
  return repeated.map(({ key, line }) => `line ${line}: key ${JSON.stringify(key)} already set in map`)
}

/** Strings with a colon behind them. */
function keysIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at !== -1; ) {
    let next = endOfString(text, at) + 1
    while (isSpace(text.charCodeAt(next))) next++
    if (text.charCodeAt(next) === COLON) count++
    at = text.indexOf('"', next)
  }
  return count
}

function membersIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members: unknown[] = Array.isArray(value) ? value : Object.values(value)
  let count = Array.isArray(value) ? 0 : members.length
  for (const member of members) count += membersIn(member)
  return count
}

/** Index of the quote that ends the string that starts at `start`; -1 when none does. */
export function endOfString(text: string, start: number): number {
  const end = text.indexOf('"', start + 1)
  if (end < 0 || text.charCodeAt(end - 1) !== BACKSLASH) return end
  // A megabyte of escaped quotes is half a million of them: to look for each costs ten times what it takes to go through.
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code === BACKSLASH) at++
  }
  return -1
}

const [QUOTE, BACKSLASH, COLON, OPEN_MAP, CLOSE_MAP, OPEN_LIST, CLOSE_LIST] = [34, 92, 58, 123, 125, 91, 93]
const NONE: readonly string[] = []
const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

/** One pass over well-formed JSON. Paths are only put together for a report, so long keys cost nothing more. */
class JsonKeys {
  /** Paths to report where they are met; each leaves the set then. */
  unknown = new Set<string>()
  onUnknown: (path: string) => void = () => {}
  readonly #text: string
  readonly #onRepeated: (path: string, key: string, line: number) => void
  readonly #path: string[] = []
  readonly #found = new Set<string>()
  #at = 0
  #spent = 0
  #line = 1
  /** How far lines are counted. */
  #counted = 0

  constructor(text: string, onRepeated: (path: string, key: string, line: number) => void) {
    this.#text = text
    this.#onRepeated = onRepeated
  }

  run(): void {
    this.#value([...this.unknown], 0)
  }

  /** `near`: unknown paths that go through here; `length`: of the path so far. */
  #value(near: readonly string[], length: number): void {
    const code = this.#skip()
    if (code === OPEN_MAP) this.#map(near, length)
    else if (code === OPEN_LIST) this.#list(near, length)
    else if (code === QUOTE) this.#at = endOfString(this.#text, this.#at) + 1
    else while (/[\w.+-]/.test(this.#text[this.#at] ?? '')) this.#at++
  }

  #map(near: readonly string[], length: number): void {
    const seen = new Set<string>()
    this.#at++
    while (this.#skip(',') !== CLOSE_MAP) {
      const start = this.#at
      this.#at = endOfString(this.#text, start) + 1
      const key = JSON.parse(this.#text.slice(start, this.#at)) as string
      this.#skip(':')
      const segment = length === 0 ? key : `.${key}`
      const through = this.#through(near, segment, length)
      const whole = through.find(path => path.length === length + segment.length)
      this.#path.push(segment)
      if (whole !== undefined) {
        if (this.unknown.delete(whole)) this.onUnknown(whole)
        this.#skipValue()
      } else {
        if (seen.has(key)) this.#report(key, start)
        this.#value(through, length + segment.length)
      }
      this.#path.pop()
      seen.add(key)
    }
    this.#at++
  }

  #list(near: readonly string[], length: number): void {
    this.#at++
    for (let i = 0; this.#skip(',') !== CLOSE_LIST; i++) {
      const segment = `[${i}]`
      this.#path.push(segment)
      this.#value(this.#through(near, segment, length), length + segment.length)
      this.#path.pop()
    }
    this.#at++
  }

  #through(near: readonly string[], segment: string, length: number): readonly string[] {
    if (near.length === 0) return NONE
    return near.filter(path => path.startsWith(segment, length))
  }

  #report(key: string, start: number): void {
    if (this.#found.size >= FINDINGS_LIMIT || this.#spent > PATHS_LIMIT) return
    const path = this.#path.join('')
    this.#spent += path.length
    if (this.#found.has(path)) return
    this.#found.add(path)
    this.#onRepeated(path, key, this.#lineOf(start))
  }

  /** Line of an index behind all earlier ones. */
  #lineOf(start: number): number {
    for (let end = this.#text.indexOf('\n', this.#counted); end !== -1 && end < start; ) {
      this.#line++
      this.#counted = end + 1
      end = this.#text.indexOf('\n', this.#counted)
    }
    return this.#line
  }

  /** Past a value without a report. */
  #skipValue(): void {
    let depth = 0
    do {
      const code = this.#skip(',:')
      if (code === OPEN_MAP || code === OPEN_LIST) depth++
      else if (code === CLOSE_MAP || code === CLOSE_LIST) depth--
      else if (code === QUOTE) this.#at = endOfString(this.#text, this.#at)
      else while (/[\w.+-]/.test(this.#text[this.#at + 1] ?? '')) this.#at++
      this.#at++
    } while (depth > 0)
  }

  /** Past space and these signs; the code of what comes then. */
  #skip(signs = ''): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (!isSpace(code) && !(signs !== '' && signs.includes(this.#text[this.#at] ?? ' '))) return code
      this.#at++
    }
  }
}
