/**
 * What goes into the gaps of a stored text, so that it says the same of another object: for texts that the store keeps once, the
 * next one is said by its few words, and not put together. `S` is what tells one object from another: see templates.ts and revisions.ts.
 */
import { AlikeText, alikeOf } from '../../storage/alikeText.ts'
import type { Body } from '../../storage/body.ts'
import type { Encoded, Stored } from '../../storage/store.ts'

/** The word, or what it is there for. */
type Word<S> = { readonly constant: string } | { readonly slot: S; readonly length: number }

export interface FillingOf<S> {
  /** Why a word stands in the text; `undefined`: all say it. */
  slotOf(word: string): S | undefined
  /** A text that says other things in all slots; `space` is in no text so far. */
  example(wordFor: (slot: S) => string, space: string): Encoded
}

/** A space whose id no object says: ids are random. */
const NOWHERE = 'zzzzzzzzzzzzzzzz'
/** Of an example: a time and a uid of no object. */
const exampleTime = (number: number): string => `0001-01-01T00:00:${String(number % 60).padStart(2, '0')}Z`
const EXAMPLE_UID = '00000000-0000-0000-0000-000000000001'

export class Filling<S> {
  readonly #body: Body
  readonly #own: Word<S>
  readonly #rest: readonly Word<S>[]
  /** What stood beside the uid in the last text. */
  #last: readonly string[] | undefined

  /**
   * Learned of one text, and tried on an example: where a word stands in a gap by chance the two differ. `undefined` where the
   * store keeps the text for itself.
   */
  static of<S>(stored: Stored, { slotOf, example }: FillingOf<S>): Filling<S> | undefined {
    const shared = alikeOf(stored)
    if (shared === undefined || shared.key.space === NOWHERE) return undefined
    const wordOf = (word: string): Word<S> => {
      const slot = slotOf(word)
      return slot === undefined ? { constant: word } : { slot, length: word.length }
    }
    const filling = new Filling<S>(shared.body, wordOf(shared.own), shared.rest.map(wordOf))
    const examples = new Map<S, string>()
    const wordFor = (slot: S): string => {
      const known = examples.get(slot)
      if (known !== undefined) return known
      const word = slot === 'uid' ? EXAMPLE_UID : exampleTime(examples.size)
      examples.set(slot, word)
      return word
    }
    const said = filling.text(wordFor, NOWHERE)
    const meant = example(wordFor, NOWHERE)
    if (said === undefined || said.note !== meant.note) return undefined
    const isSame = said.head === meant.head && said.tail === meant.tail
    return isSame && examples.size < 60 ? filling : undefined
  }

  private constructor(body: Body, own: Word<S>, rest: readonly Word<S>[]) {
    this.#body = body
    this.#own = own
    this.#rest = rest
  }

  /** `undefined` where a word is longer or shorter than what the form has room for. */
  text(wordFor: (slot: S) => string, space: string): AlikeText | undefined {
    if (space.length !== NOWHERE.length) return undefined
    const own = filled(this.#own, wordFor)
    const rest = this.#saidBeside(wordFor)
    return own === undefined || rest === undefined ? undefined : new AlikeText(this.#body, { own, rest }, space)
  }

  /** Mostly what the last one said: what is written in the same second. */
  #saidBeside(wordFor: (slot: S) => string): readonly string[] | undefined {
    const last = this.#last
    let rest: string[] | undefined = last ? undefined : []
    for (let i = 0; i < this.#rest.length; i++) {
      const said = filled(this.#rest[i]!, wordFor)
      if (said === undefined) return undefined
      if (!rest && last![i] !== said) rest = last!.slice(0, i)
      rest?.push(said)
    }
    if (rest) this.#last = rest
    return this.#last
  }
}

function filled<S>(word: Word<S>, wordFor: (slot: S) => string): string | undefined {
  if ('constant' in word) return word.constant
  const said = wordFor(word.slot)
  return said.length === word.length ? said : undefined
}
