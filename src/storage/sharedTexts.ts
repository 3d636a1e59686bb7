/**
 * The texts that a store keeps once for many objects. Objects of different spaces with the same name that say the same (copies in
 * mailboxes, what every space has) share one {@link TextForm}. In memory only: on disk each row is whole, so nothing there is counted,
 * and nothing can be lost with another object.
 *
 * A text is shared where its writer says that others will say the same, where it replaces a shared one, or where a neighbour that
 * is loaded before it says the same. A form goes with its last object.
 */
import type { AlikeText } from './alikeText.ts'
import { JoinedTexts } from './joinedTexts.ts'
import { SharedStored } from './sharedStored.ts'
import type { Key, Stored } from './store.ts'
import { type Said, TextForm, type Whole } from './textForm.ts'

/** Forms of objects of one name that new texts are compared with. What is of another one is kept whole, or begins one. */
const FORMS = 8
/** Different values in gaps whose strings are shared: the seconds in which copies were made. */
const KEPT_RESTS = 4096

/** After so many texts in a row that nobody else says, only every so many-th is looked at for others that do. */
const VAIN = 32

/** Objects of one name, whatever their space. */
export interface Named {
  readonly name: string
  readonly forms: TextForm[]
  /** Of a text that nobody else has said yet: it is kept whole, and this forgotten for the next such one. */
  candidate: TextForm | undefined
}

export class SharedTexts {
  readonly #joined = new JoinedTexts()
  readonly #named = new Map<string, Named>()
  /** The same by their forms. */
  readonly #registered = new WeakMap<TextForm, Named>()
  readonly #rests = new Map<string, readonly string[]>()
  /** What was looked up there last, as it was given and as it is kept. */
  #lastRest: readonly [given: readonly string[], kept: readonly string[]] | undefined
  #vain = 0

  /** Who has this name already and shares a text, to be given to the others below. `form`: that of the text, where it is known. */
  alike(key: Key, form?: TextForm): Named | undefined {
    const known = form && this.#registered.get(form)
    if (known || this.#named.size === 0) return known
    return this.#named.get(nameOf(key))
  }

  /**
   * A new version, shared from now on if that pays. `own`: its writer knows that others say the same, and this is the string in
   * which they differ. Its bytes are not kept for longer than joined ones are.
   */
  written(whole: Whole, own: string | undefined, named: Named | undefined): SharedStored | undefined {
    const stored = this.#found(whole, own, named)
    if (stored !== undefined) this.#joined.keep(stored, whole.bytes)
    return stored
  }

  /** The same where it is known what form its text has: nothing is compared. */
  said(place: Pick<Stored, 'key' | 'revision'>, text: AlikeText, named: Named | undefined): SharedStored {
    const { form } = text
    // the last object of it may have gone since
    if (named === undefined || this.#registered.get(form) !== named) this.#register(form, place.key)
    return this.#shared(form, text, place, text.own)
  }

  /** A version that is read from the disk, if its text is shared already, or `neighbour` says the same, which was read before it. */
  loaded(whole: Whole, neighbour: Stored | undefined): SharedStored | undefined {
    // what is the same in many spaces is mostly that of the one before
    if (neighbour instanceof SharedStored) {
      const said = neighbour.form.read(whole)
      if (said) return this.#shared(neighbour.form, said, whole, undefined)
    }
    const named = this.alike(whole.key)
    if (named !== undefined) return this.#found(whole, undefined, named)
    if (neighbour === undefined || neighbour instanceof SharedStored) return undefined
    return this.#isWorthALook() ? this.#begun(TextForm.of(neighbour), whole, undefined) : undefined
  }

  /** A form that whoever read the disk has found; `key`: of the first object of it. */
  adopt(form: TextForm, key: Key): void {
    this.#register(form, key)
  }

  /** A version of such a form. */
  restored(place: Pick<Stored, 'key' | 'revision'>, form: TextForm, said: Said): SharedStored {
    return this.#shared(form, said, place, said.own)
  }

  /** A current object is this one, and not that one any more. */
  replaced(now: Stored | undefined, before: Stored | undefined): void {
    if (now instanceof SharedStored) now.form.users++
    if (!(before instanceof SharedStored) || --before.form.users > 0) return
    const name = nameOf(before.key)
    const named = this.#named.get(name)
    const place = named?.forms.indexOf(before.form) ?? -1
    if (place >= 0) named!.forms.splice(place, 1)
    this.#registered.delete(before.form)
    if (named?.forms.length === 0) this.#named.delete(name)
  }

  #found(whole: Whole, own: string | undefined, named: Named | undefined): SharedStored | undefined {
    const known = named && this.#known(named, whole, own)
    if (known !== undefined) return known
    if (own !== undefined) return this.#begun(TextForm.of(whole), whole, own)
    if (named === undefined) return undefined
    const { candidate } = named
    const begun = candidate && this.#begun(candidate, whole, own)
    if (begun) named.candidate = undefined
    else if (this.#isWorthALook()) named.candidate = TextForm.of(whole)
    return begun
  }

  #known(named: Named, whole: Whole, own: string | undefined): SharedStored | undefined {
    const { forms } = named
    for (let i = forms.length - 1; i >= 0; i--) {
      const said = forms[i]!.read(whole)
      if (said !== undefined) return this.#shared(forms[i]!, said, whole, own)
    }
    return undefined
  }

  #begun(form: TextForm | undefined, whole: Whole, own: string | undefined): SharedStored | undefined {
    const said = form?.read(whole)
    if (form === undefined || said === undefined) return undefined
    this.#vain = 0
    this.#register(form, whole.key)
    return this.#shared(form, said, whole, own)
  }

  #register(form: TextForm, key: Key): void {
    const name = nameOf(key)
    const named = this.#named.get(name) ?? { name: key.name, forms: [], candidate: undefined }
    this.#named.set(name, named)
    this.#registered.set(form, named)
    if (named.forms.push(form) > FORMS) this.#registered.delete(named.forms.shift()!)
  }

  #shared(
    form: TextForm,
    said: Said,
    { key, revision }: Pick<Stored, 'key' | 'revision'>,
    own: string | undefined,
  ): SharedStored {
    const mine = { own: own === said.own ? own : said.own, rest: this.#rest(said.rest) }
    return new SharedStored({ key, revision }, form, mine, this.#joined)
  }

  /** Texts with the same names that say different things are told apart cheaply, be they ever so many. */
  #isWorthALook(): boolean {
    return ++this.#vain <= VAIN || this.#vain % VAIN === 0
  }

  #rest(rest: readonly string[]): readonly string[] {
    if (this.#lastRest?.[0] === rest) return this.#lastRest[1]
    const id = rest.length === 1 ? rest[0]! : rest.join('\0')
    const known = this.#rests.get(id) ?? rest
    this.#lastRest = [rest, known]
    if (known !== rest) return known
    if (this.#rests.size >= KEPT_RESTS) this.#rests.clear()
    this.#rests.set(id, rest)
    return rest
  }
}

const nameOf = ({ group, resource, namespace, name }: Key): string => `${resource}\0${group}\0${namespace}\0${name}`
