/**
 * JSON Patch (RFC 6902), with kube-apiserver's limits and answers.
 * One departure that its users rely on: `test` of a missing member against `null` holds.
 * @see https://www.rfc-editor.org/rfc/rfc6902
 */
import { cloneInSteps } from '../cloneInSteps.ts'
import { StatusError, statusError } from '../errors.ts'
import { unmarshalError } from '../go/goJson.ts'
import { isMistakable } from '../jsonParse.ts'
import { messageOf } from '../messageOf.ts'
import { mistakableKeyWords } from '../mistakableKeys.ts'
import { isRecord } from '../object.ts'
import { hasMoreValues } from '../objectSize.ts'
import { Pace } from '../pace.ts'
import type { Steps } from '../steps.ts'
import { cloneJson, equalJson, isTooDeep, memberOf, NESTING_LIMIT, setMember } from '../values.ts'
import { LongLists } from './longLists.ts'

export const MAX_OPERATIONS = 10_000
/** Operations of one step: some milliseconds. */
const STEP = 500
/** JSON text that all `copy` operations of one patch may add, in UTF-16 units: kube-apiserver's largest request body. */
export const MAX_COPIED_CHARS = 3 * 1024 * 1024

interface Operation {
  op: string
  path: string
  /** Where the operation has one. */
  from: string
  value: unknown
}

/**
 * The patched document, independent of both inputs, which stay as they are. All operations apply or none.
 * @throws StatusError BadRequest when `patch` is not a JSON Patch, RequestEntityTooLarge above 10,000 operations, Invalid
 *   (422, its `cause` says which operation) when it does not apply
 */
export function* jsonPatchInSteps(document: unknown, patch: unknown): Steps<unknown> {
  const operations = parsePatch(patch)
  const isLarge = hasMoreValues(document, AT_ONCE)
  const draft = new Draft(isLarge ? yield* cloneInSteps(document, new Pace()) : cloneJson(document))
  try {
    for (const [i, operation] of operations.entries()) {
      if (i > 0 && i % STEP === 0) yield
      draft.apply(operation)
    }
    yield
    return draft.finish()
  } catch (cause) {
    throw doesNotApply(cause)
  }
}

/** Fields and elements that are copied at once. */
const AT_ONCE = 1000

/** kube-apiserver's answer to a well-formed patch that does not fit the object. */
export function doesNotApply(cause: unknown): StatusError {
  return new StatusError('Invalid', 'the server rejected our request due to an error in our request', {}, { cause })
}

/** The whole patch is read before any of it applies, as servers since 1.36 do. A null stands for an empty patch. */
function parsePatch(patch: unknown): Operation[] {
  if (patch === null) return []
  if (!Array.isArray(patch)) throw undecoded(patch, 'value of type []handlers.jsonPatchOp')
  if (patch.length > MAX_OPERATIONS)
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`,
    )
  for (const operation of patch) checkTypes(operation)
  return patch.map(parseOperation)
}

/** Why an operation is none, whatever it is applied to; `undefined`: it is one. */
export function operationProblem(operation: unknown): string | undefined {
  try {
    checkTypes(operation)
    const { op, path, from } = parseOperation(operation as Record<string, unknown> | null)
    parsePointer(path)
    if (NEEDS_FROM.has(op)) parsePointer(from)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

function checkTypes(operation: unknown): void {
  if (operation === null) return
  if (!isRecord(operation)) throw undecoded(operation, 'value of type handlers.jsonPatchOp')
  for (const field of ['op', 'path', 'from']) {
    const value = memberOf(operation, field) ?? null
    if (value !== null && typeof value !== 'string')
      throw undecoded(value, `struct field jsonPatchOp.${field} of type string`)
  }
}

const NEEDS_VALUE = new Set(['add', 'replace'])
const NEEDS_FROM = new Set(['move', 'copy'])
/** Those that may make a member of a name that nothing had before. */
const SETS = new Set(['add', 'replace', 'move', 'copy'])
const KNOWN = new Set([...NEEDS_VALUE, ...NEEDS_FROM, 'remove', 'test'])

function parseOperation(given: Record<string, unknown> | null): Operation {
  const invalid = (why: string): StatusError =>
    statusError.badRequest(`invalid operation ${JSON.stringify(given)}: ${why}`)
  const { op, path, from } = (given ?? {}) as Record<string, string | null | undefined>
  const value = given === null ? undefined : memberOf(given, 'value')
  if (typeof op !== 'string' || !KNOWN.has(op)) throw invalid('unsupported operation')
  if (NEEDS_VALUE.has(op) && value === undefined)
    throw invalid("failed to decode 'value': operation, missing value field: missing value")
  if (NEEDS_FROM.has(op) && typeof from !== 'string')
    throw invalid("failed to decode 'from': operation, missing from field: missing value")
  if (typeof path !== 'string') throw invalid("failed to decode 'path': operation missing path field: missing value")
  const key = SETS.has(op) && path.includes('\\') ? parsePointer(path).find(isMistakable) : undefined
  if (key !== undefined) throw statusError.badRequest(mistakableKeyWords(key))
  return { op, path, from: from ?? '', value: value ?? null }
}

function undecoded(value: unknown, wanted: string): StatusError {
  return statusError.badRequest(`error decoding patch: ${unmarshalError(value, wanted)}`)
}

/** Tokens below `root`; the first is always `''`, the document. @see https://www.rfc-editor.org/rfc/rfc6901 */
function parsePointer(pointer: string): string[] {
  if (pointer !== '' && !pointer.startsWith('/')) throw new Error(`${JSON.stringify(pointer)} is not a JSON pointer`)
  return pointer.split('/').map(token => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

type Container = Record<string, unknown> | unknown[]

/** The document while it is patched. */
class Draft {
  /** A pointer's first token is looked up here under the empty key, so the whole document is a member like any other. */
  readonly #root: Record<string, unknown>
  readonly #lists = new LongLists()
  #copiedChars = 0

  /** `document` is patched in place. */
  constructor(document: unknown) {
    this.#root = { '': document }
  }

  apply(operation: Operation): void {
    const path = parsePointer(operation.path)
    switch (operation.op) {
      case 'add':
        this.#add(path, cloneJson(operation.value))
        break
      case 'remove':
        this.#remove(path)
        break
      case 'replace':
        this.#replace(path, cloneJson(operation.value))
        break
      case 'move':
        this.#move(parsePointer(operation.from), path)
        break
      case 'copy': {
        const value = this.#whole(this.#get(parsePointer(operation.from)))
        this.#copiedChars += JSON.stringify(value).length
        if (this.#copiedChars > MAX_COPIED_CHARS) throw new Error('the copy operations add more than 3 MiB')
        this.#add(path, cloneJson(value))
        break
      }
      case 'test':
        this.#test(path, operation.value)
        break
    }
  }

  finish(): unknown {
    this.#lists.settle()
    const result = this.#root['']
    if (isTooDeep(result)) throw new Error(`the result is nested more than ${NESTING_LIMIT} levels deep`)
    return result
  }

  #add(path: string[], value: unknown): void {
    const { container, key } = this.#parentOf(path)
    if (Array.isArray(container)) {
      const length = this.#lists.lengthOf(container)
      this.#lists.insert(container, key === '-' ? length : indexIn(key, length), value)
    } else setMember(container, key, value)
  }

  #replace(path: string[], value: unknown): void {
    const { container, key } = this.#parentOf(path)
    if (Array.isArray(container)) {
      this.#lists.set(container, this.#indexOf(container, key), value)
      return
    }
    if (!Object.hasOwn(container, key)) throw missing(path)
    setMember(container, key, value)
  }

  #remove(path: string[]): unknown {
    const { container, key } = this.#parentOf(path)
    if (path.length === 1) throw new Error('the whole document cannot be removed')
    if (Array.isArray(container)) return this.#lists.remove(container, this.#indexOf(container, key))
    if (!Object.hasOwn(container, key)) throw missing(path)
    const value = container[key]
    delete container[key]
    return value
  }

  #move(from: string[], path: string[]): void {
    const isAbove = from.length <= path.length && from.every((token, i) => token === path[i])
    if (isAbove && from.length < path.length) throw new Error(`${show(from)} cannot be moved into itself`)
    if (isAbove) this.#get(from)
    else this.#add(path, this.#remove(from))
  }

  /** An equal value is no larger than the patch's own, and a different one ends the patch. That bounds the cost of a whole look at it. */
  #test(path: string[], expected: unknown): void {
    const { container, key } = this.#parentOf(path)
    const absent = !Array.isArray(container) && !Object.hasOwn(container, key)
    const actual = absent ? null : this.#whole(this.#get(path))
    if (!equalJson(actual, expected)) throw new Error(`testing value ${show(path)} failed`)
  }

  #get(path: string[]): unknown {
    const { container, key } = this.#parentOf(path)
    if (Array.isArray(container)) return this.#lists.at(container, this.#indexOf(container, key))
    if (!Object.hasOwn(container, key)) throw missing(path)
    return container[key]
  }

  #parentOf(path: string[]): { container: Container; key: string } {
    let container: Container = this.#root
    for (const token of path.slice(0, -1)) {
      const next: unknown = Array.isArray(container)
        ? this.#lists.at(container, this.#indexOf(container, token))
        : memberOf(container, token)
      if (!Array.isArray(next) && !isRecord(next)) throw missing(path)
      container = next
    }
    return { container, key: path.at(-1)! }
  }

  #indexOf(list: unknown[], token: string): number {
    return indexIn(token, this.#lists.lengthOf(list) - 1)
  }

  /** The value with its lists in one piece. */
  #whole(value: unknown): unknown {
    if (this.#lists.untouched) return value
    if (Array.isArray(value)) return Array.from(this.#lists.elementsOf(value), item => this.#whole(item))
    if (!isRecord(value)) return value
    const copy: Record<string, unknown> = {}
    for (const name of Object.keys(value)) setMember(copy, name, this.#whole(value[name]))
    return copy
  }
}

function indexIn(token: string, max: number): number {
  if (!/^(0|[1-9]\d{0,9})$/.test(token)) throw new Error(`${JSON.stringify(token)} is not an array index`)
  const index = Number(token)
  if (index > max) throw new Error(`array index ${token} is out of bounds`)
  return index
}

function missing(path: string[]): Error {
  return new Error(`doc is missing path: ${show(path)}`)
}

function show(path: string[]): string {
  return path.map(token => token.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
}
