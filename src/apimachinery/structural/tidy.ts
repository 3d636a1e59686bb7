/**
 * Whether a received object needs no work: no null, no unknown field, no value of another type, and nothing empty that Go would leave out.
 * Nearly all objects are so, and one look at each value proves it. The search for faults, and their repair, takes a look for each of these
 * (`nulls.ts`, `prune.ts`, `typeErrors.ts`, `emptyFields.ts`). It may say no of an object that all of them would leave alone; never yes of
 * another.
 */
import { typeErrors } from '../go/typeErrors.ts'
import type { Schema } from '../schema.ts'
import { resourceRootSchema } from './objectMetaSchema.ts'

/**
 * Demands of one schema node on a value. Made where an object has one: a definition may describe much more than any object has.
 */
class Form {
  readonly type: Schema['type']
  /** Not all values of the type will do. */
  readonly special: Schema | undefined
  /** Everything else would have to be looked at in another way. */
  readonly odd: boolean
  readonly #schema: Schema
  readonly #isRoot: boolean
  readonly #members = new Map<string, Form>()
  /** Members that no schema names may be anything. */
  readonly #isOpen: boolean

  constructor(schema: Schema, isRoot = false) {
    const { type, properties, additionalProperties } = schema
    const keepsUnknown = schema['x-kubernetes-preserve-unknown-fields'] === true
    this.type = type
    this.special = isSpecial(schema) ? schema : undefined
    this.odd = schema['x-kubernetes-embedded-resource'] === true || (keepsUnknown && properties !== undefined)
    this.#schema = schema
    this.#isRoot = isRoot
    this.#isOpen =
      keepsUnknown ||
      additionalProperties === true ||
      (type === undefined && properties === undefined && additionalProperties === undefined)
  }

  /** Form of a member that the schema names. */
  member(name: string): Form | undefined {
    const known = this.#members.get(name)
    if (known !== undefined) return known
    const { properties } = this.#schema
    let schema = this.#isRoot ? resourceRootSchema(name) : undefined
    if (schema === undefined && properties !== undefined && Object.hasOwn(properties, name)) schema = properties[name]
    if (schema === undefined) return undefined
    const form = formOf(schema)
    this.#members.set(name, form)
    return form
  }

  /** Form of all other members; `undefined`: there must be none. */
  get others(): Form | undefined {
    const { additionalProperties } = this.#schema
    return typeof additionalProperties === 'object' ? formOf(additionalProperties) : this.#isOpen ? ANYTHING : undefined
  }

  get items(): Form {
    const { items } = this.#schema
    return items === undefined ? ANYTHING : formOf(items)
  }
}

// A memo of a pure function: forms live as long as their schema.
const forms = new WeakMap<Schema, Form>()
const roots = new WeakMap<Schema, Form>()

function formOf(schema: Schema): Form {
  let form = forms.get(schema)
  if (form === undefined) {
    form = new Form(schema)
    forms.set(schema, form)
  }
  return form
}

function rootOf(schema: Schema): Form {
  let form = roots.get(schema)
  if (form === undefined) {
    form = new Form(schema, true)
    roots.set(schema, form)
  }
  return form
}

/** The schema demands more than the type. */
function isSpecial({ type, format, 'x-kubernetes-int-or-string': intOrString }: Schema): boolean {
  if (intOrString === true || format === 'quantity') return true
  return type === 'string' ? format === 'date-time' || format === 'byte' : type === 'integer' && format === 'int32'
}

/** Form of undescribed values; nulls in them are looked at in another way, too. */
const ANYTHING = new Form({})

/**
 * `object` is a whole one; its metadata is looked at as metadata, whatever the schema says of it. `keepsEmpty`: its kind tells empty
 * values from absent ones, but in metadata.
 */
export function isTidy(object: object, schema: Schema, keepsEmpty: boolean): boolean {
  return isTidyMap(object as Record<string, unknown>, rootOf(schema), keepsEmpty, true)
}

function isTidyMap(object: Record<string, unknown>, form: Form, keepsEmpty: boolean, isRoot: boolean): boolean {
  const { others } = form
  let isEmpty = true
  for (const name in object) {
    isEmpty = false
    const known = form.member(name)
    const member = known ?? others
    if (member === undefined) return false
    // the schema of metadata is that of a struct, whatever the kind is; and nobody looks for what is empty where anything may be
    const keeps = member === ANYTHING || (keepsEmpty && !(isRoot && name === 'metadata'))
    if (!isTidyValue(object[name], member, keeps, known !== undefined && !keeps)) return false
  }
  return !isEmpty || keepsEmpty
}

/** `mayGo`: it is a member of a struct, which goes where it is empty. */
function isTidyValue(value: unknown, form: Form, keepsEmpty: boolean, mayGo: boolean): boolean {
  if (form.odd) return false
  switch (typeof value) {
    case 'string':
      if (mayGo && value === '') return false
      return (form.type === 'string' || form.type === undefined) && fits(value, form)
    case 'number':
      if (mayGo && value === 0) return false
      if (form.type === 'integer') return Number.isInteger(value) && fits(value, form)
      return (form.type === 'number' || form.type === undefined) && fits(value, form)
    case 'boolean':
      if (mayGo && !value) return false
      return (form.type === 'boolean' || form.type === undefined) && fits(value, form)
    case 'object':
      break
    default:
      return false
  }
  if (value === null || !fits(value, form)) return false
  if (!Array.isArray(value))
    return (
      (form.type === 'object' || form.type === undefined) &&
      isTidyMap(value as Record<string, unknown>, form, keepsEmpty, false)
    )
  const { items } = form
  if ((form.type !== 'array' && form.type !== undefined) || (value.length === 0 && !keepsEmpty)) return false
  const keeps = keepsEmpty || items === ANYTHING
  for (let i = 0; i < value.length; i++) if (!isTidyValue(value[i], items, keeps, false)) return false
  return true
}

function fits(value: unknown, { special }: Form): boolean {
  return special === undefined || typeErrors(value, special) === undefined
}
