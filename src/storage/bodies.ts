/**
 * The bodies that a store keeps once for many objects: copies in mailboxes, and what every space has. An object whose writer
 * declares the gaps of its text shares the body with all that have the same digest. In memory only: each row on disk is whole.
 *
 * A row with an outline is always shared in memory, and no other one is: the journal makes the row of a replaced version
 * again from memory. A body goes with its last object.
 */
import { AlikeText } from './alikeText.ts'
import { Body, type BodyParts, digestIn, outlineOf, type Said, valuesIn } from './body.ts'
import { JoinedTexts } from './joinedTexts.ts'
import { SharedStored } from './sharedStored.ts'
import type { Encoded, Key, Stored } from './store.ts'

/** Different values in gaps whose strings are shared: the seconds in which copies were made. */
const KEPT_RESTS = 4096

/** The body of a text, and the own values of its object. */
export interface Declared {
  readonly body: Body
  readonly said: Said
}

export class Bodies {
  readonly #joined = new JoinedTexts()
  readonly #known = new Map<string, Body>()
  readonly #rests = new Map<string, readonly string[]>()

  /** The body and own values of a text that is written; `undefined`: it is its object's alone. */
  declared(key: Key, text: Encoded): Declared | undefined {
    if (text instanceof AlikeText) return { body: this.#registered(text.body), said: text }
    const { head, tail, note, gaps } = text
    if (gaps === undefined) return undefined
    const headBytes = Buffer.byteLength(head)
    const bytes = Buffer.allocUnsafeSlow(headBytes + Buffer.byteLength(tail))
    bytes.write(tail, bytes.write(head))
    const outline = outlineOf(key, { text: bytes, gaps, headBytes, note })
    if (outline === undefined) return undefined
    const body = this.#of(outline, { key, headBytes, note }, () => bytes)
    return { body, said: valuesIn(bytes, outline, headBytes, 0) }
  }

  /** The body and own values of a version with an outline. */
  read({ key, revision, bytes, headBytes, note }: Stored, outline: Buffer): Declared {
    const digits = String(revision).length
    const withoutRevision = (): Buffer =>
      Buffer.concat([bytes.subarray(0, headBytes), bytes.subarray(headBytes + digits)])
    const body = this.#of(outline, { key, headBytes, note }, withoutRevision)
    return { body, said: valuesIn(bytes, outline, headBytes, digits) }
  }

  /** A body that another thread has read. */
  adopt(parts: BodyParts): Body {
    return this.#registered(new Body(parts))
  }

  /** A version of an object; `key` is kept. */
  stored({ key, revision }: Pick<Stored, 'key' | 'revision'>, { body, said }: Declared): SharedStored {
    return new SharedStored({ key, revision }, body, { own: said.own, rest: this.#rest(body, said.rest) }, this.#joined)
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

  /** Objects with one body that follow each other mostly have the same. */
  #rest(body: Body, rest: readonly string[]): readonly string[] {
    if (body.lastRest?.[0] === rest) return body.lastRest[1]
    const id = rest.length === 1 ? rest[0]! : rest.join('\0')
    const known = this.#rests.get(id) ?? rest
    body.lastRest = [rest, known]
    if (known !== rest) return known
    if (this.#rests.size >= KEPT_RESTS) this.#rests.clear()
    this.#rests.set(id, rest)
    return rest
  }
}
