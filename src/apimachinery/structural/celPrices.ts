/**
 * Prices of the operators and functions of CEL beside the call, by the sizes of their arguments, and bounds on their results. A price is
 * paid before anything is built, so that nothing too large ever is.
 *
 * Prices follow upstream's runtime cost where it has one, so that an expression that runs there runs here. They are higher where upstream
 * prices no allocation (joined lists), or where the work is dearer here (time zones, large regular expressions).
 * @see https://kubernetes.io/docs/reference/using-api/cel/#runtime-cost-budget
 */
import { isMistakable } from '../jsonParse.ts'
import { mistakableKeyWords } from '../mistakableKeys.ts'
import { READ, type WorkBudget } from '../workBudget.ts'
import { checkItems, checkText } from './celBounds.ts'
import { celEqual, chargeEntries, isMap } from './celEquality.ts'
import { CelSemver } from './celSemver.ts'
import { occurrences } from './celText.ts'
import { CelUrl } from './celUrls.ts'
import { paidPattern } from './userPatterns.ts'

/** Bound on a text that becomes one number or version: large numbers take more than linear time to read. */
export const MAX_NUMBER_TEXT = 1024

/** Where the library walks over characters that upstream counts for nothing. */
const COUNT = 0.02
/** Setting up a calendar for another time zone. */
const TIME_ZONE = 500
/** Upstream's is 350,000, which is for requests to other servers; here each question costs one evaluation. */
const AUTHORIZER_CHECK = 1000

/** Pays for a call with these arguments, a method's receiver first. @throws Error when the result would be too large */
export type Price = (values: readonly unknown[], budget: WorkBudget) => void

/** Characters, bytes, or the text behind a URL; 0 for everything else. */
function textSize(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length
  return value instanceof CelUrl ? value.url.href.length : 0
}

const sum: Price = ([a, b], budget) => {
  if (Array.isArray(a) && Array.isArray(b)) {
    checkItems(a.length + b.length)
    budget.spend(a.length + b.length)
  } else {
    const length = textSize(a) + textSize(b)
    checkText(length)
    budget.spend(length * READ)
  }
}

const equality: Price = (values, budget) => {
  comparing(values, budget)
  celEqual(values[0], values[1], budget)
}

const order: Price = ([a, b], budget) => budget.spend(Math.min(textSize(a), textSize(b)) * READ)

const membership: Price = ([item, container], budget) => {
  if (Array.isArray(container)) {
    budget.spend(container.length)
    search(item, container, budget)
  } else checkKey(item, budget)
}

/** The comparisons of looking for a value in a list. */
function search(wanted: unknown, list: readonly unknown[], budget: WorkBudget): void {
  if (typeof wanted === 'string' || (typeof wanted === 'object' && wanted !== null)) {
    list.some(item => celEqual(wanted, item, budget))
  }
}

const access: Price = ([, key], budget) => checkKey(key, budget)

/** A list would be written out to be a key, however often parts stand in it. @throws Error for what is no key */
export function checkKey(key: unknown, budget: WorkBudget): void {
  if (Array.isArray(key) || isMap(key)) throw new Error('unsupported key type: a list or a map is no key')
  budget.spend(textSize(key) * READ)
}

/**
 * A key that a map is made with, which the engine may remember: see `jsonParse.ts`.
 * @throws Error for what is no key, and for one that others' could be mistaken for
 */
export function checkNewKey(key: unknown, budget: WorkBudget): void {
  checkKey(key, budget)
  if (typeof key === 'string' && isMistakable(key)) throw new Error(mistakableKeyWords(key))
}

/** By operator as the syntax tree has it. */
export const OPERATOR_PRICES: ReadonlyMap<string, Price> = new Map([
  ['+', sum],
  ['==', equality],
  ['!=', equality],
  ['<', order],
  ['<=', order],
  ['>', order],
  ['>=', order],
  ['in', membership],
  ['[]', access],
  ['[?]', access],
])

const free: Price = () => {}

const reading: Price = (values, budget) => {
  budget.spend(values.reduce<number>((all, value) => all + textSize(value), 0) * READ)
}

const readingArgument: Price = ([, argument], budget) => budget.spend(textSize(argument) * READ)

/** Price of a reading as a number: `quantity`, `semver`. */
const readingNumber: Price = (values, budget) => {
  const length = textSize(values[0])
  if (length > MAX_NUMBER_TEXT) {
    throw new Error(`a text of ${length} characters is no number or version; at most ${MAX_NUMBER_TEXT} are read`)
  }
  reading(values, budget)
}

/** Results that are up to so many times as long. */
const growing =
  (times: number): Price =>
  ([value], budget) => {
    const length = textSize(value) * times
    checkText(length)
    budget.spend(length * READ)
  }

const size: Price = ([value], budget) => {
  if (typeof value === 'string') budget.spend(value.length * COUNT)
  else if (isMap(value)) chargeEntries(value, budget)
}

const toBytes: Price = ([value], budget) => {
  if (typeof value === 'string') {
    checkText(value.length)
    const length = Buffer.byteLength(value)
    checkText(length)
    budget.spend(length * READ)
  }
}

const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/

/** The library takes time by the third power of the length of what is no duration. */
const duration: Price = ([value], budget) => {
  if (typeof value !== 'string') return
  budget.spend(value.length * READ)
  if (value.length <= MAX_NUMBER_TEXT && DURATION.test(value)) return
  throw new Error(`Invalid duration string: ${value.slice(0, 64)}`)
}

const textInText = (text: unknown, part: unknown, budget: WorkBudget): void =>
  budget.spend(Math.ceil(textSize(text) * READ) * Math.max(1, Math.ceil(textSize(part) * READ)))

/** Price for strings; for a namespace's two lists. */
const contains: Price = (values, budget) => {
  if (typeof values[0] === 'string') textInText(values[0], values[1], budget)
  else everyPair(values, budget)
}

const indexOf: Price = ([value, wanted], budget) => {
  if (!Array.isArray(value)) return textInText(value, wanted, budget)
  budget.spend(value.length)
  search(typeof wanted === 'string' ? wanted : null, value, budget)
}

/** Sets: each element of one list against those of the other. */
const everyPair: Price = ([, a, b], budget) => {
  if (!Array.isArray(a) || !Array.isArray(b)) return
  budget.spend(a.length * b.length + 1)
  for (const item of a) search(item, b, budget)
}
const everyPairTwice: Price = (values, budget) => {
  everyPair(values, budget)
  everyPair([values[0], values[2], values[1]], budget)
}

const split: Price = ([text, separator], budget) => {
  if (typeof text !== 'string' || typeof separator !== 'string') return
  budget.spend(text.length * READ * 2)
  textInText(text, separator, budget)
  const count = separator === '' ? text.length : occurrences(text, separator) + 1
  checkItems(count)
  budget.spend(count)
}

const join: Price = ([list, separator], budget) => {
  if (!Array.isArray(list)) return
  budget.spend(list.length)
  const between = Math.max(0, list.length - 1) * textSize(separator)
  const length = list.reduce<number>((all, item) => all + textSize(item), between)
  checkText(length)
  budget.spend(length * READ * 2)
}

const replace: Price = ([text, from, to, limit], budget) => {
  if (typeof text !== 'string' || typeof from !== 'string') return
  budget.spend(text.length * READ * 2)
  textInText(text, from, budget)
  const count = occurrences(text, from, typeof limit === 'bigint' ? Number(limit) : -1)
  const length = text.length + count * (textSize(to) - from.length)
  checkText(length)
  budget.spend(length * READ)
}

const matching: Price = ([text, pattern], budget) => {
  if (typeof text !== 'string' || typeof pattern !== 'string') return
  paidPattern(pattern, budget)
  budget.spend(Math.ceil((text.length + 1) * READ) * Math.ceil(pattern.length / 4))
}

const format: Price = ([template, values], budget) => {
  if (typeof template !== 'string' || !Array.isArray(values)) return
  budget.spend(template.length * READ)
  // numbers have a hundred decimals at most; hexadecimal text is six times as long as what it shows
  const times = /%(?:\.\d+)?[xX]/.test(template) ? 6 : 1
  const shown = values.reduce<number>((all, value) => all + shownSize(value, budget) * times, 0)
  checkText(template.length + shown)
}

/** Characters that a value takes at most, for itself with decimals, inside another value without. */
const LONGEST_NUMBER = 512
const LONGEST_MEMBER = 64

function shownSize(value: unknown, budget: WorkBudget, longest = LONGEST_NUMBER): number {
  const members = membersOf(value)
  if (members === undefined) {
    const length = textSize(value)
    budget.spend(1 + length * READ)
    return Math.max(length, typeof value === 'string' ? 0 : longest)
  }
  budget.spend()
  let length = 2
  for (const member of members) length += shownSize(member, budget, LONGEST_MEMBER) + 2
  return length
}

/** Members of a list; keys and values of a map. */
function membersOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!isMap(value)) return undefined
  return (value instanceof Map ? [...value] : Object.entries(value)).flat()
}

/** `sum`, `min`, `max`, `isSorted`: every element once. @throws Error for elements without an order */
const traversal: Price = ([list], budget) => {
  if (!Array.isArray(list)) return
  for (const item of list) {
    if (Array.isArray(item) || isMap(item)) throw new Error('no such overload: lists and maps have no order')
    budget.spend(1 + textSize(item) * READ)
  }
}

/** `sum` is for numbers and durations: texts would grow. */
const adding: Price = ([list], budget) => {
  if (!Array.isArray(list)) return
  budget.spend(list.length)
  const other = list.find(item => textSize(item) > 0 || typeof item === 'string' || Array.isArray(item) || isMap(item))
  if (other !== undefined) throw new Error('no such overload: sum adds numbers and durations')
}

const comparing: Price = (values, budget) => {
  for (const value of values) if (value instanceof CelSemver) budget.spend(value.prerelease.length)
}

const timeOfDay: Price = (values, budget) => {
  if (values.length > 1) budget.spend(TIME_ZONE + textSize(values[1]) * READ)
}

const keysOf: Price = ([value], budget) => {
  if (Array.isArray(value)) budget.spend(value.length)
  else if (isMap(value)) chargeEntries(value, budget)
}

const mapOf: Price = ([pairs], budget) => {
  if (!Array.isArray(pairs)) return
  budget.spend(pairs.length)
  for (const pair of pairs) checkNewKey(Array.isArray(pair) ? pair[0] : undefined, budget)
}

const check: Price = (_, budget) => budget.spend(AUTHORIZER_CHECK)

/** Growth of URLs: percent-encoded text is nine times as long. */
const ENCODED = 9

function prices(all: Readonly<Record<string, Price>>): ReadonlyMap<string, Price> {
  return new Map(Object.entries(all).flatMap(([names, price]) => names.split(' ').map(name => [name, price] as const)))
}

/** The beginning of a list that a function makes. */
const LIST = 10

/** As many elements as go in, at most. */
const copying: Price = ([list], budget) => {
  if (Array.isArray(list)) budget.spend(LIST + list.length)
}

const slicing: Price = ([, start, end], budget) => {
  if (typeof start === 'bigint' && typeof end === 'bigint' && end > start) budget.spend(LIST + Number(end - start))
}

const ranging: Price = ([, count], budget) => {
  if (typeof count !== 'bigint' || count <= 0n) return
  checkItems(Number(count))
  budget.spend(LIST + Number(count))
}

/** Every element beside every other, as upstream counts it; texts are read. */
const sorting: Price = ([list], budget) => {
  if (!Array.isArray(list)) return
  const [first] = list as readonly unknown[]
  const isText = typeof (Array.isArray(first) ? first[1] : first) === 'string'
  budget.spend(LIST + list.length ** 2 * (isText ? 2 + READ : 2))
}

const merging: Price = ([maps], budget) => {
  if (!Array.isArray(maps)) return
  budget.spend(maps.length)
  for (const map of maps) {
    if (!isMap(map)) throw new Error('no such overload: only maps are put together')
    chargeEntries(map, budget)
    for (const key of map instanceof Map ? map.keys() : Object.keys(map)) checkNewKey(key, budget)
  }
}

/** By name, for functions and methods alike. Every function of our environments is here; those of the first row have one size. */
export const FUNCTION_PRICES: ReadonlyMap<string, Price> = prices({
  'type dyn hasValue value none of or orValue uuid uri date datetime byte labelValue qualifiedName': free,
  'dns1035Label dns1035LabelPrefix dns1123Label dns1123LabelPrefix dns1123Subdomain dns1123SubdomainPrefix': free,
  'add sub sign isInteger asInteger asApproximateFloat major minor patch at': free,
  'family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast': free,
  'prefixLength masked getScheme getHost getHostname getPort': free,
  'path group serviceAccount resource subresource namespace name allowed reason errored error': free,
  'bool int uint double timestamp named validate trim substring charAt': reading,
  'reverse flatten': copying,
  'sort sortedByKey distinct': sorting,
  'first last': free,
  'ip isIP cidr isCIDR isCanonical containsIP containsCIDR getEscapedPath getQuery': reading,
  'string lowerAscii upperAscii lowerAsciiOnly upperAsciiOnly': growing(1),
  'base64 hex jsonpatchEscapeKey': growing(2),
  'url isURL': growing(ENCODED),
  json: growing(10),
  'quantity isQuantity semver isSemver': readingNumber,
  'startsWith endsWith': readingArgument,
  'compareTo isLessThan isGreaterThan': comparing,
  'getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getHours getMilliseconds': timeOfDay,
  'getMinutes getMonth getSeconds': timeOfDay,
  'isSorted min max': traversal,
  'size ofNonZeroValue': size,
  'indexOf lastIndexOf': indexOf,
  'matches matchesLinear find findAll': matching,
  bytes: toBytes,
  sum: adding,
  intersects: everyPair,
  equivalent: everyPairTwice,
  duration,
  contains,
  split,
  slice: slicing,
  range: ranging,
  quote: ([, text], budget) => growing(2)([text], budget),
  mergedMap: merging,
  join,
  replace,
  format,
  keysOf,
  mapOf,
  check,
})
