/**
 * Which fields of an object nobody said, through the `mutate` steps of admission. The steps that fill in add to them; a policy or
 * webhook of the space speaks for its authors, so whatever it changes is said.
 */
import { EMPTY_SET, type FieldSet, union } from '../../apimachinery/apply/fieldSet.ts'
import { sameIn } from '../../apimachinery/apply/looseFields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Admission } from './admission.ts'
import { admittedIn, type Content, content } from './provenance.ts'

export class UnsaidThrough {
  readonly #object: KubeObject
  readonly #schema: Schema | undefined
  #unsaid: FieldSet
  /** What the steps that run now fill in, or say; and the object before them. */
  #fillsIn: boolean | undefined
  #before: Content = {}

  /** `unsaid` of `object`, which the steps change in place. */
  constructor(object: KubeObject, unsaid: FieldSet, schema: Schema | undefined) {
    this.#object = object
    this.#unsaid = unsaid
    this.#schema = schema
  }

  /** Before each step, and at the end: then without one. */
  readonly turn = (next: Admission | undefined): void => {
    const fillsIn = next && next.fillsIn === true
    if (fillsIn === this.#fillsIn) return
    const now = content(this.#object)
    if (this.#fillsIn) this.#unsaid = union(this.#unsaid, admittedIn(this.#before, now, this.#schema))
    else if (this.#fillsIn === false) this.#unsaid = sameIn(this.#before, now, this.#unsaid)
    this.#fillsIn = fillsIn
    if (fillsIn || (fillsIn === false && this.#unsaid !== EMPTY_SET)) this.#before = cloneJson(now)
  }

  get unsaid(): FieldSet {
    return this.#unsaid
  }
}
