/**
 * A text of a known body: the values in its gaps are all that is declared. It is an {@link Encoded} like any other for those who
 * look at its head and tail; a store that keeps bodies once has nothing to put together.
 */
import type { Body, Own } from './body.ts'
import { SharedStored } from './sharedStored.ts'
import type { Encoded, Gap, Stored, Write } from './store.ts'

export class AlikeText implements Encoded, Own {
  readonly body: Body
  readonly uid: string
  readonly times: string
  readonly #space: string

  /** Each own value is as long as its gaps. */
  constructor(body: Body, { uid, times }: Own, space: string) {
    this.body = body
    this.uid = uid
    this.times = times
    this.#space = space
  }

  get note(): string | undefined {
    return this.body.note
  }

  get gaps(): readonly Gap[] {
    return this.body.gaps
  }

  get head(): string {
    return this.#whole().toString('utf8', 0, this.body.headBytes)
  }

  get tail(): string {
    return this.#whole().toString('utf8', this.body.headBytes + String(ANY).length)
  }

  /** Without the revision's digits. */
  get size(): number {
    return this.body.size(ANY) - String(ANY).length
  }

  mentions(text: string): boolean {
    return this.body.mentions(text, this, this.#space, ANY) ?? (this.head.includes(text) || this.tail.includes(text))
  }

  #whole(): Buffer {
    return this.body.text(this, this.#space, ANY)
  }
}

/** A revision that the text is looked at under. */
const ANY = 1

/** The same in a form that can be sent to another thread. */
export function sendable(write: Write): Write {
  const { key, mutation, expect } = write
  if (!(mutation.text instanceof AlikeText)) return write
  const { head, tail, note, gaps } = mutation.text
  return { key, expect, mutation: { ...mutation, text: { head, tail, note, gaps } } }
}

/** What a version says, where its text is kept once for many. */
export function alikeOf(stored: Stored): SharedStored | undefined {
  return stored instanceof SharedStored ? stored : undefined
}

/** The length of a text without its revision's digits, and of its note. */
export function lengthOf(text: Encoded): number {
  const { note } = text
  const length = text instanceof AlikeText ? text.size : Buffer.byteLength(text.head) + Buffer.byteLength(text.tail)
  return length + (note?.length ?? 0)
}

/** No more than that, found at once. */
export function leastBytes(text: Encoded): number {
  return text instanceof AlikeText ? text.size : text.head.length + text.tail.length
}
