/**
 * Unset fields: the fields of an object that no author set, through the `mutate` steps of admission. The steps that fill in add to them.
 * A policy or webhook of the space is an author: each field that it changes is set.
 */
import { EMPTY_SET, type FieldSet, union } from '../../apimachinery/apply/fieldSet.ts'
import { sameIn } from '../../apimachinery/apply/looseFields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { Admission } from './admission.ts'
import { admittedIn, type Content, content } from './provenance.ts'

export class UnsetFields {
  readonly #object: KubeObject
  readonly #schema: Schema | undefined
  #unset: FieldSet
  /** Whether the steps that run now fill in; and the object before them. */
  #fillsIn: boolean | undefined
  #before: Content = {}

  /** `unset` of `object`, which the steps change in place. */
  constructor(object: KubeObject, unset: FieldSet, schema: Schema | undefined) {
    this.#object = object
    this.#unset = unset
    this.#schema = schema
  }

  /** Before each step, and at the end: then without one. */
  readonly turn = (next: Admission | undefined): void => {
    const fillsIn = next && next.fillsIn === true
    if (fillsIn === this.#fillsIn) return
    const now = content(this.#object)
    if (this.#fillsIn) this.#unset = union(this.#unset, admittedIn(this.#before, now, this.#schema))
    else if (this.#fillsIn === false) this.#unset = sameIn(this.#before, now, this.#unset)
    this.#fillsIn = fillsIn
    if (fillsIn || (fillsIn === false && this.#unset !== EMPTY_SET)) this.#before = cloneJson(now)
  }

  get unset(): FieldSet {
    return this.#unset
  }
}
