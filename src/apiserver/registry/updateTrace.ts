/** One update of an object that may travel: its unset fields, before and after. */
import { EMPTY_SET, type FieldSet } from '../../apimachinery/apply/fieldSet.ts'
import { echoedIn, marked } from '../../apimachinery/apply/looseFields.ts'
import { cloneInSteps } from '../../apimachinery/cloneInSteps.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { Pace } from '../../apimachinery/pace.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Stored } from '../../storage/store.ts'
import {
  BARE,
  type Content,
  content,
  filledInSteps,
  noteOf,
  type Part,
  type Provenance,
  unsetAfter,
  withoutUnset,
} from './provenance.ts'

interface TraceOptions {
  provenance: Provenance
  type: ResourceType
  part: Part
  current: Stored
  stored: KubeObject
  subresource: string
}

const WRITTEN_WITH_STATUS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status'])

export class UpdateTrace {
  readonly #options: TraceOptions
  /** Base and reference of the update: with its defaults, whatever is stored. */
  readonly old: KubeObject
  /** A status says nothing about the rest. */
  readonly #ofStatus: boolean
  #unset: FieldSet | undefined
  #sendsBack = true
  #named: FieldSet = EMPTY_SET
  #requested: Content | undefined
  #filled: FieldSet = EMPTY_SET

  constructor(options: TraceOptions) {
    this.#options = options
    const { provenance, type, current, stored, subresource } = options
    this.#ofStatus = subresource === 'status'
    this.old = current.note === BARE && !this.#ofStatus ? provenance.whole(type, stored) : stored
  }

  /**
   * A whole object takes the place of the old one. A writer that read it here sends defaults back, which stay unset; a manifest has no uid,
   * and sets all its fields. The center's writes into a mailbox set all their fields.
   */
  replacedBy({ metadata }: KubeObject): void {
    this.#sendsBack = this.#options.part === 'source' && !!metadata.uid
  }

  names(fields: FieldSet): void {
    this.#named = fields
  }

  /**
   * Finds the fields that a patch names without changing them. On an object where all unset fields have other values, it brings the old
   * ones back.
   */
  *patchedBy(make: (from: KubeObject) => Steps<KubeObject>): Steps<void> {
    if (this.#ofStatus) return
    const unset = this.#before()
    if (unset === EMPTY_SET) return
    const other = marked(yield* cloneInSteps(this.old, new Pace()), unset)
    yield
    let result: KubeObject
    try {
      result = yield* make(other)
    } catch {
      return // it tests for the old values, and so does not set them
    }
    yield
    this.#named = echoedIn(result, this.old, unset)
  }

  /** The client's object, in the stored version, before defaults. */
  requested(object: KubeObject): void {
    const { provenance, type } = this.#options
    if (!this.#ofStatus && provenance.hasDefaults(type)) this.#requested = cloneJson(content(object))
  }

  /** The same object behind them. */
  *defaulted(object: KubeObject): Steps<void> {
    if (this.#requested) this.#filled = yield* filledInSteps(this.#requested, object, this.#options.type.schema)
    this.#requested = undefined
  }

  /** Unset fields among the new ones. */
  get filled(): FieldSet {
    return this.#filled
  }

  /** The same behind admission. */
  admitted(filled: FieldSet = EMPTY_SET): void {
    this.#filled = filled
  }

  /** A status goes beside a copy that stays as it is: nothing is filled in for it. */
  keepBare(object: KubeObject): void {
    const { current } = this.#options
    if (!this.#ofStatus || current.note !== BARE) return
    for (const field of Object.keys(object)) if (!WRITTEN_WITH_STATUS.has(field)) delete object[field]
    // A copy: whoever fills in structs does so in place.
    for (const [field, value] of Object.entries(this.old))
      if (!WRITTEN_WITH_STATUS.has(field)) object[field] = cloneJson(value)
  }

  /** Stored form of the finished object, and the note beside it. */
  *settle(object: KubeObject): Steps<{ kept: KubeObject; note?: string }> {
    const { type, part, current } = this.#options
    if (this.#ofStatus) return { kept: object, ...(current.note !== undefined && { note: current.note }) }
    const unset = yield* unsetAfter(
      { unset: this.#before(), filled: this.#filled, old: this.old, now: object },
      { sendsBack: this.#sendsBack, named: this.#named },
      type.schema,
    )
    yield
    if (part === 'source') return { kept: object, note: noteOf(unset) }
    if (unset === EMPTY_SET) return { kept: object }
    return { kept: withoutUnset(object, unset, type.schema), note: BARE }
  }

  #before(): FieldSet {
    const { provenance, type, current, stored } = this.#options
    this.#unset ??= provenance.before(type, current, stored)
    return this.#unset
  }
}
