/**
 * The bodies that a store keeps once for many objects: copies in mailboxes, and what every space has. An object whose writer
 * declares the gaps of its text shares the body with all that have the same digest. In memory only: each row on disk is whole.
 *
 * A row with an outline is always shared in memory, and no other one is. The journal writes the row of a replaced version again from
 * memory. A body goes with its last object.
 */

import { Body, type BodyParts, declaredOf, digestIn, type Own, valuesIn } from './body.ts'
import { CopyText } from './copyText.ts'
import { JoinedTexts } from './joinedTexts.ts'
import { SharedStored } from './sharedStored.ts'
import type { Encoded, Key, Stored } from './store.ts'

/** The body of a text, and the own values of its object. */
interface Declared {
  readonly body: Body
  readonly own: Own
}

export class Bodies {
  readonly #joined = new JoinedTexts()
  readonly #known = new Map<string, Body>()

  /** The body and own values of a text that is written; `undefined`: it is its object's alone. */
  declared(key: Key, text: Encoded): Declared | undefined {
    if (text instanceof CopyText) return { body: this.#registered(text.body), own: text }
    const declared = declaredOf(key, text)
    if (declared === undefined) return undefined
    const { outline, headBytes, own } = declared
    return { body: this.#of(outline, { key, headBytes, note: text.note }, () => declared.text), own }
  }

  /** The body and own values of a version with an outline. */
  read({ key, revision, bytes, headBytes, note }: Stored, outline: Buffer): Declared {
    const digits = String(revision).length
    const withoutRevision = (): Buffer =>
      Buffer.concat([bytes.subarray(0, headBytes), bytes.subarray(headBytes + digits)])
    const body = this.#of(outline, { key, headBytes, note }, withoutRevision)
    return { body, own: valuesIn(bytes, outline, headBytes, digits) }
  }

  /** A body that another thread has read. */
  adopt(parts: BodyParts): Body {
    return this.#registered(new Body(parts))
  }

  /** A version of an object; `key` is kept. */
  stored({ key, revision }: Pick<Stored, 'key' | 'revision'>, { body, own }: Declared): SharedStored {
    return new SharedStored({ key, revision }, body, own, this.#joined)
  }

  /** A current object is this one, and not that one any more. */
  replaced(now: Stored | undefined, before: Stored | undefined): void {
    if (now instanceof SharedStored) now.body.users++
    if (!(before instanceof SharedStored) || --before.body.users > 0) return
    const { digest } = before.body
    if (this.#known.get(digest) === before.body) this.#known.delete(digest)
  }

  #of(
    outline: Buffer,
    { key, headBytes, note }: Pick<Stored, 'key' | 'headBytes' | 'note'>,
    textOf: () => Buffer,
  ): Body {
    const known = this.#known.get(digestIn(outline))
    if (known !== undefined) return known
    return this.#registered(new Body({ text: textOf(), outline, headBytes, note, name: key.name }))
  }

  /** The last object of the body may have gone since it was known. */
  #registered(body: Body): Body {
    const { digest } = body
    const known = this.#known.get(digest)
    if (known === undefined) this.#known.set(digest, body)
    return known ?? body
  }
}
