/**
 * Copies of one placement that clusters refuse, for its condition `Placed`: all are counted, some are named in the clusters' words.
 * Each cluster's first comes before any cluster's second, so a cluster that refuses much hides no other.
 */

import { someOf } from '../../../../apimachinery/someOf.ts'
import { RefusalCount } from '../../../../placement/outcome/refusalCount.ts'
import { describeObject, objectKey, parseObjectKey } from '../../../../placement/words/names.ts'
import type { Reason } from '../../../../placement/words/reason.ts'

const REASON = 'RefusedByCluster'
const REFUSED_AT = 'refused by the cluster at '
/** Copies of one cluster that are named in its words. */
const MAX_LISTED = 20
/** Locations named beside one refusal. */
const MAX_NAMES = 5

interface Example {
  readonly object: string
  readonly words: string
  /** Position among the refused copies of a cluster: the least of all clusters. */
  position: number
  /** Locations. */
  readonly at: string[]
}

export class RefusedCopies {
  readonly #count = new RefusalCount()
  readonly #examples = new Map<string, Example>()

  /** Adds all copies that one cluster refuses, each in the cluster's words. @param at its Location */
  add(at: string, copies: readonly (readonly [key: string, words: string])[]): void {
    for (const [position, [key, text]] of copies.entries()) {
      // refusersIn() reads summaries: no cluster's words may name another refuser
      const words = text.replaceAll(REFUSED_AT, 'refused at ')
      const object = describeObject(parseObjectKey(key))
      this.#count.add(object, { reason: REASON }, 1)
      if (position >= MAX_LISTED) continue
      const id = `${key} ${words}`
      const example = this.#examples.get(id) ?? { object, words, position, at: [] }
      example.position = Math.min(example.position, position)
      example.at.push(at)
      this.#examples.set(id, example)
    }
  }

  /** The refusals of all clusters; `undefined`: nothing is refused. To be called once. */
  summary(): Reason | undefined {
    for (const { object, words, at } of [...this.#examples.values()].sort((a, b) => a.position - b.position))
      this.#count.add(object, { reason: REASON, message: `${REFUSED_AT}${namesOf(at)}: ${words}` }, 0)
    return this.#count.summary
  }
}

const REFUSERS = new RegExp(`${REFUSED_AT}(.+?)(?: and \\d+ more)?: `, 'g')

/** The summary within the message of a condition: the center's findings stand before it. `undefined`: there is none. */
export function summaryIn(message: string): Reason | undefined {
  const start = message.indexOf(`${REASON}: `)
  return start < 0 ? undefined : { reason: REASON, message: message.slice(start) }
}

/** Locations named by a summary. */
export function refusersIn({ message }: Reason): string[] {
  return [...message.matchAll(REFUSERS)].flatMap(([, names = '']) => names.split(', '))
}

const OBJECTS = /([a-z0-9-]+)(?:\.([a-z0-9.-]+))? "(?:([^"/]+)\/)?([^"/]+)"/g
const COUNTED = /^\w+: (\d+) refused/
const UNNAMED = /; and \d+ more$/

/** Whether a summary may be about an object that is selected still; it may name some of them only, or be shortened. */
export function mayConcern({ message }: Reason, isSelected: (key: string) => boolean): boolean {
  const keys = [...message.matchAll(OBJECTS)].map(([, resource = '', group = '', namespace = '', name = '']) =>
    objectKey({ group, resource }, namespace, name),
  )
  const isPartial = UNNAMED.test(message) || new Set(keys).size < Number(COUNTED.exec(message)?.[1])
  return isPartial || keys.some(isSelected)
}

/** Some of the Locations, and the number of the others. */
export function namesOf(locations: readonly string[]): string {
  return someOf(locations, MAX_NAMES)
}
