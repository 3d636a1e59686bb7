/** The text of a copy, declared as a body and own values. It is an {@link Encoded}: whoever needs its head and tail has them put together. */
import type { Body, Own } from './body.ts'
import { SharedStored } from './sharedStored.ts'
import type { Encoded, Gap, Stored, Write } from './store.ts'

export class CopyText implements Encoded, Own {
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

/** Any revision: texts are compared without its digits. */
const ANY = 1

/** The same write in a form that can be sent to another thread. */
export function sendable(write: Write): Write {
  const { key, mutation, expect } = write
  if (!(mutation.text instanceof CopyText)) return write
  const { head, tail, note, gaps } = mutation.text
  return { key, expect, mutation: { ...mutation, text: { head, tail, note, gaps } } }
}

/** The version as a copy; `undefined` where its text is its own. */
export function copyIn(stored: Stored): SharedStored | undefined {
  return stored instanceof SharedStored ? stored : undefined
}

/** The length of a text without its revision's digits, and of its note. */
export function lengthOf(text: Encoded): number {
  const { note } = text
  const length = text instanceof CopyText ? text.size : Buffer.byteLength(text.head) + Buffer.byteLength(text.tail)
  return length + (note?.length ?? 0)
}

/** At most that length, without a look at the text. */
export function leastBytes(text: Encoded): number {
  return text instanceof CopyText ? text.size : text.head.length + text.tail.length
}
