/**
 * A text of a form that is known: what stands in its gaps is all that is said. It is an {@link Encoded} like any other for those who
 * look at its head and tail; a store that keeps texts once has nothing to put together, nor to compare.
 */
import { SharedStored } from './sharedStored.ts'
import type { Encoded, Stored, Write } from './store.ts'
import type { Said, TextForm } from './textForm.ts'

export class AlikeText implements Encoded, Said {
  readonly form: TextForm
  readonly own: string
  readonly rest: readonly string[]
  readonly #space: string

  /** Each of `said` is as long as what the form's texts say there. */
  constructor(form: TextForm, { own, rest }: Said, space: string) {
    this.form = form
    this.own = own
    this.rest = rest
    this.#space = space
  }

  get note(): string | undefined {
    return this.form.note
  }

  get head(): string {
    return this.#whole().toString('utf8', 0, this.form.headBytes)
  }

  get tail(): string {
    return this.#whole().toString('utf8', this.form.headBytes + String(ANY).length)
  }

  /** Without the revision's digits. */
  get size(): number {
    return this.form.size(ANY) - String(ANY).length
  }

  mentions(text: string): boolean {
    return this.form.mentions(text, this, this.#space, ANY) ?? (this.head.includes(text) || this.tail.includes(text))
  }

  #whole(): Buffer {
    return this.form.text(this, this.#space, ANY)
  }
}

/** A revision that the text is looked at under. */
const ANY = 1

/** The same in a form that can be sent to another thread. */
export function sendable(write: Write): Write {
  const { key, mutation, expect } = write
  if (!(mutation.text instanceof AlikeText)) return write
  const { head, tail, note, own } = mutation.text
  return { key, expect, mutation: { ...mutation, text: { head, tail, note, own } } }
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
