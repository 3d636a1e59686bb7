/**
 * Fields of an object that a cluster does not hold as they were sent. It drops fields, as its schema is older, and its admission changes
 * some. Additions of the cluster are no difference, elements of lists included. Pure.
 */

import { at } from '../../apimachinery/fields.ts'
import { type GroupResource, groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { isDeciding } from '../../placement/outcome/decidingFields.ts'
import { type FieldDifference, MAX_DIFFERENCES } from '../../placement/outcome/fieldDifference.ts'
import { elementName, isSecret, pathOf, type Steps, textOf, valueWords } from './fieldWords.ts'
import { comparedForm, isEmptyValue, isSameBase64, isSameScalar } from './normalForms.ts'

export interface AlteredFields {
  /** Some of them, those that decide first. */
  readonly differences: readonly FieldDifference[]
  readonly count: number
  /** Whether something of it is not there at all. */
  readonly isCut: boolean
}

/** `undefined`: the cluster holds all that was sent. */
export function alteredFields(
  resource: GroupResource,
  sent: Readonly<KubeObject>,
  live: Readonly<KubeObject>,
): AlteredFields | undefined {
  const look = new Look(resource, sent.kind ?? '')
  look.compare(comparedForm(sent), comparedForm(live), [], false)
  return look.count === 0 ? undefined : { differences: look.listed(), count: look.count, isCut: look.isCut }
}

type Fields = Readonly<Record<string, unknown>>

/** Keys of these are anybody's, and an empty value is one. */
const FREE_MAPS = new Set(['data', 'stringData', 'binaryData', 'labels', 'annotations', 'matchLabels', 'nodeSelector'])
/** Where an empty text is none of a default. */
const MEANT_EMPTY = new Set(['storageClassName', 'volumeName'])
/** Where what looks like a number is a text. */
const LITERAL = new Set(['args', 'command', 'image', 'env', 'version'])
const BYTES = new Set(['binaryData', 'caBundle'])
/** Keys of list elements, the first that fits. */
const KEYS: readonly (readonly string[])[] = [
  ['name'],
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['mountPath'],
  ['devicePath'],
  ['ip'],
  ['topologyKey', 'whenUnsatisfiable'],
]
const DEFAULTS: Fields = { protocol: 'TCP' }
/** Comparisons of elements without keys, of one object: beyond these they are compared by their places. */
const MOST_PAIRS = 5000

class Look {
  count = 0
  isCut = false
  readonly #resource: GroupResource
  readonly #kind: string
  readonly #decisive: FieldDifference[] = []
  readonly #others: FieldDifference[] = []
  #pairs = 0

  constructor(resource: GroupResource, kind: string) {
    this.#resource = resource
    this.#kind = kind
  }

  listed(): FieldDifference[] {
    return [...this.#decisive, ...this.#others].slice(0, MAX_DIFFERENCES)
  }

  /** `isTrial`: only whether there is a difference is of interest. */
  compare(sent: unknown, live: unknown, steps: Steps, isTrial: boolean): boolean {
    if (sent === live) return true
    const { member: last = '' } = steps.at(-1) ?? {}
    const isFree = FREE_MAPS.has(steps.at(-2)?.member ?? '')
    const isLiteral = isFree || steps.some(({ member = '' }) => LITERAL.has(member))
    const isMeant = sent === '' && (isFree || last === '' || MEANT_EMPTY.has(last))
    if (isEmptyValue(sent) && !isMeant) return true
    if (live === undefined || live === null) return this.#differs(sent, undefined, steps, isTrial)
    if (isRecord(sent) && isRecord(live)) {
      let isSame = true
      for (const key of Object.keys(sent)) {
        if (!this.compare(sent[key], at(live, key), [...steps, { member: key }], isTrial)) isSame = false
        if (!isSame && isTrial) return false
      }
      return isSame
    }
    if (Array.isArray(sent) && Array.isArray(live)) return this.#list(sent, live, steps, isTrial)
    const isBytes = BYTES.has(last) || BYTES.has(steps.at(-2)?.member ?? '') || (isFree && this.#kind === 'Secret')
    if (isLiteral ? !isRecord(sent) && !isRecord(live) && String(sent) === String(live) : isSameScalar(sent, live))
      return true
    if (isBytes && isSameBase64(sent, live)) return true
    return this.#differs(sent, live, steps, isTrial)
  }

  #list(sent: readonly unknown[], live: readonly unknown[], steps: Steps, isTrial: boolean): boolean {
    const keys = KEYS.find(one => areKeysOf(one, sent) && areKeysOf(one, live, sent))
    if (keys) {
      const byKey = new Map(live.filter(isRecord).map(item => [keyOf(keys, item), item]))
      return this.#each(sent, isTrial, item => {
        const element = item as Fields
        return this.compare(
          item,
          byKey.get(keyOf(keys, element)),
          [...steps, { element: nameOf(keys, element) }],
          isTrial,
        )
      })
    }
    const isOrdered = !sent.every(isRecord)
    const isInPlace = isOrdered && sent.length === live.length
    const places = isInPlace ? [] : this.#placesOf(sent, live, { steps, isOrdered })
    // a record without counterpart is held beside what is left
    const found = new Set(places)
    const left = (isOrdered ? [] : live.filter((_, i) => !found.has(i))).values()
    return this.#each(sent, isTrial, (item, i) => {
      if (places[i] !== undefined) return true
      const counterpart = isInPlace ? live[i] : left.next().value
      return this.compare(item, counterpart, [...steps, { element: `[${i}]` }], isTrial)
    })
  }

  #each(items: readonly unknown[], isTrial: boolean, look: (item: unknown, i: number) => boolean): boolean {
    let isSame = true
    for (const [i, item] of items.entries()) {
      if (!look(item, i)) isSame = false
      if (!isSame && isTrial) return false
    }
    return isSame
  }

  /** For each of `sent` where it is among `live`: texts and numbers in their order, records in any. */
  #placesOf(
    sent: readonly unknown[],
    live: readonly unknown[],
    { steps, isOrdered }: { steps: Steps; isOrdered: boolean },
  ): (number | undefined)[] {
    const inElement = [...steps, { element: '[]' }]
    const taken = new Set<number>()
    let from = 0
    const isAt = (item: unknown, j: number): boolean => {
      if (taken.has(j) || !this.compare(item, live[j], inElement, true)) return false
      taken.add(j)
      if (isOrdered) from = j + 1
      return true
    }
    return sent.map((item, i) => {
      // most often each is where it was
      if (!isOrdered && i < live.length && isAt(item, i)) return i
      for (let j = from; j < live.length; j++) {
        if (this.#pairs > MOST_PAIRS) return undefined
        if (isAt(item, j)) return j
        this.#pairs++
      }
      return undefined
    })
  }

  #differs(sent: unknown, live: unknown, steps: Steps, isTrial: boolean): false {
    if (isTrial) return false
    this.count++
    this.isCut ||= live === undefined
    const members = steps.flatMap(({ member }) => member ?? [])
    const decisive = isDeciding(this.#resource, members, live === undefined ? sent : undefined)
    const into = decisive ? this.#decisive : this.#others
    if (into.length >= MAX_DIFFERENCES) return false
    const isShown = !isSecret([groupResourceName(this.#resource), this.#kind, ...members], sent, live)
    into.push({
      path: pathOf(steps),
      change: live === undefined ? 'Dropped' : 'Changed',
      ...(isShown && { wanted: valueWords(sent) }),
      ...(isShown && live !== undefined && { live: valueWords(live) }),
      decisive,
    })
    return false
  }
}

/** Whether each has the keys, and no two the same. `of`: elements without them are not identified, nor are elements beside these. */
function areKeysOf(keys: readonly string[], items: readonly unknown[], of?: readonly unknown[]): boolean {
  const wanted = of && new Set(of.map(item => keyOf(keys, item as Fields)))
  const seen = new Set<string>()
  for (const item of items) {
    if (!isRecord(item) || typeof item[keys[0]!] === 'object' || item[keys[0]!] === undefined) {
      if (of) continue
      return false
    }
    const key = keyOf(keys, item)
    if (seen.has(key) && (wanted?.has(key) ?? true)) return false
    seen.add(key)
  }
  return items.length > 0 || of !== undefined
}

function keyOf(keys: readonly string[], item: Fields): string {
  return keys.map(key => textOf(item[key] ?? DEFAULTS[key] ?? '')).join('|')
}

function nameOf(keys: readonly string[], item: Fields): string {
  return elementName(keys.flatMap(key => (item[key] === undefined ? [] : [[key, textOf(item[key])]])))
}
