/**
 * Demands of each form of kinds on reads and writes. A difference by form and not by kind stands here, and no other code needs to know how
 * a kind is made.
 */
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { typeErrors } from '../../apimachinery/go/typeErrors.ts'
import type { KubeObject, ObjectMeta } from '../../apimachinery/object.ts'
import type { ResourceType, TypeForm } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { applyDefaults, hasDefaults } from '../../apimachinery/structural/defaults.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'
import { inOrderOfText } from '../../apimachinery/structural/prune.ts'
import { scaleErrors } from '../../apimachinery/structural/scaleRules.ts'
import { CLIENT_METADATA, type ClientMetadata } from '../../kinds/strategy.ts'
import { dropEmpty, fillEmpty, fillStored, zeroObject } from './emptyFields.ts'
import { finalizerWarnings, unqualifiedFinalizers } from './finalizerNames.ts'
import { dropNulls } from './nulls.ts'

/** All changes are made in place. */
interface FormRules {
  /** An object is of the kind that it names, and is compared with the URL later. Else it is of the URL's and need not say it. */
  readonly unstructured: boolean
  /** Upstream has compiled it in: its lists imply what their items are, and a body of another kind fails in its scheme. */
  readonly inScheme: boolean
  /** The schema says how patches merge. */
  readonly strategicMerge: boolean
  /** An update says which version it is made of. */
  readonly requireResourceVersion: boolean
  /** Creation starts without a status. Where it does not, strategies see to it. */
  readonly clearsStatus: boolean
  /** Metadata that `/status` leaves alone. */
  readonly statusKeeps: readonly ClientMetadata[]

  dropNulls(object: KubeObject, schema: Schema | undefined): void
  /** Unknown fields in the order in which upstream tells them. */
  inOrder(unknown: string[]): readonly string[]
  /** The first wrong type in words of Go's JSON package. */
  typeErrors(object: KubeObject, schema: Schema | undefined): string | undefined
  /** Empty values differ from absent ones. */
  readonly keepsEmpty: boolean
  /** Drops what is decoded as nothing; the types are right. */
  dropEmpty(object: KubeObject, schema: Schema): void
  /** Applies the schema's defaults; strategies add theirs. False when they are too large. */
  applyDefaults(object: KubeObject, schema: Schema): boolean
  /** Whether the schema says anything of them. */
  hasDefaults(schema: Schema): boolean
  /** Validates values by the schema; strategies add theirs. */
  validate(type: ResourceType, schema: Schema, change: Change): FieldError[]
  finalizerErrors(type: ResourceType, metadata: ObjectMeta, old?: ObjectMeta): FieldError[]
  finalizerWarnings(metadata: ObjectMeta, old?: ObjectMeta): string[]
  /** Adds what upstream's servers always write. */
  complete(object: KubeObject, schema: Schema): void
  /** The same, at the end of a write: as upstream's store hands it out. */
  finish(object: KubeObject, schema: Schema): void
  /** Content of an object without any author. */
  zeroObject?(schema: Schema): Record<string, unknown>
  /** A field selector for a field that is not known. @param someKnown whether the kind has selectable fields of its own */
  unknownSelector(field: string, someKnown: boolean): string
}

interface Change {
  object: KubeObject
  old: KubeObject | undefined
  /** Compares it with the schema of its kind. */
  compare(schema: Schema): FieldError[]
}

const nothing = (): void => {}
const none = (): [] => []
const unsupportedLabel = (field: string): string => `field label not supported: ${field}`

/** Compiled-in kinds are decoded as a whole, by their schema. */
const BUILTIN = {
  unstructured: false,
  strategicMerge: true,
  requireResourceVersion: false,
  dropNulls,
  inOrder: unknown => unknown,
  typeErrors,
  finalizerWarnings: none,
  unknownSelector: (field, someKnown) =>
    someKnown
      ? unsupportedLabel(field)
      : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
} satisfies Partial<FormRules>

/** Kinds with a structural schema: it is complete, and there are no structs to fill. */
const STRUCTURAL = {
  inScheme: false,
  clearsStatus: true,
  statusKeeps: CLIENT_METADATA,
  keepsEmpty: true,
  dropEmpty: nothing,
  applyDefaults,
  hasDefaults,
  validate(type, schema, { object, compare }) {
    const errors = compare(schema)
    return type.scale ? [...errors, ...scaleErrors(object, type.scale)] : errors
  },
  finalizerErrors: none,
  complete: nothing,
  finish: nothing,
} satisfies Partial<FormRules>

/** Upstream's server for CRDs takes any finalizer, as it does of custom resources. */
const ANY_FINALIZER = 'apiextensions.k8s.io'

export const FORMS: Readonly<Record<TypeForm, FormRules>> = {
  struct: {
    ...BUILTIN,
    inScheme: true,
    clearsStatus: false,
    statusKeeps: [],
    keepsEmpty: false,
    dropEmpty,
    applyDefaults(object, schema) {
      // a struct is there even when nothing is in it
      if (schema.properties?.spec) object.spec ??= {}
      return true
    },
    hasDefaults: schema => schema.properties?.spec !== undefined,
    validate: none,
    finalizerErrors: (type, metadata, old) =>
      type.group === ANY_FINALIZER ? [] : unqualifiedFinalizers(metadata, old),
    complete: fillEmpty,
    finish: fillStored,
    zeroObject,
  },
  own: { ...STRUCTURAL, ...BUILTIN },
  custom: {
    ...STRUCTURAL,
    unstructured: true,
    strategicMerge: false,
    requireResourceVersion: true,
    // whatever their schemas say, metadata is the server's own business
    dropNulls: object => dropNulls(object.metadata, objectMetaSchema),
    inOrder: unknown => (unknown.length > 1 ? inOrderOfText(unknown) : unknown),
    typeErrors: object => typeErrors(object.metadata, objectMetaSchema),
    finalizerWarnings,
    unknownSelector: unsupportedLabel,
  },
}
