/**
 * A kind as a space serves it: the same descriptor for built-in kinds, for Orrery's own and for CustomResourceDefinitions.
 * One descriptor stands for one served version; all versions of a resource share `group`, `resource` and `storageVersion`.
 */
import type { KubeObject } from './object.ts'
import type { Schema } from './schema.ts'

/** A `kubectl get` column. @see https://kubernetes.io/docs/reference/using-api/api-concepts/#table-fetches */
export interface ColumnDefinition {
  name: string
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  format?: string
  description?: string
  /** 0 is always shown; greater only with `-o wide`. */
  priority?: number
  /** Simple JSONPath such as `.status.phase`; built-in kinds leave it out and bring a printer function instead. */
  jsonPath?: string
}

export interface ScalePaths {
  specReplicasPath: string
  statusReplicasPath: string
  labelSelectorPath?: string
}

/** Additions of a custom resource: its other versions, and the way between them. */
export interface CustomVersions {
  /** Whole-object schemas by name of the version, served or not; `undefined` accepts anything. */
  readonly schemas: ReadonlyMap<string, Schema | undefined>
  /**
   * Generation of the CRD: it rises with every change of its spec. At 1 no stored object can have been written under another schema.
   */
  readonly generation: number
  /** Creation of the CRD (RFC 3339), where it is stored. */
  readonly created?: string
  /**
   * Converts objects to a version of the resource through a webhook, in one request; results in order. Absent: versions
   * differ in nothing but their apiVersion. @throws StatusError InternalError that names the webhook's failure
   */
  readonly convert?: (objects: readonly KubeObject[], apiVersion: string) => Promise<KubeObject[]>
  /** Retained forms of objects in other versions than the stored one. Absent: for each version apart. */
  readonly views?: KeptViews
  /** For the `Warning` header of requests for this version. */
  readonly deprecation?: string
}

/** Views of one space, for all its kinds. */
export interface KeptViews {
  /** To be called before many are read, and what it returns afterwards: until then none goes. */
  hold(): () => void
}

/**
 * How a kind is made, which decides how its objects are read, checked and spoken of.
 * `struct`: Kubernetes' own, compiled into its servers; strategies know what no schema can say.
 * `own`: Orrery's own, built in as well, of structural schemas as CRDs have them.
 * `custom`: what a CRD of the space makes.
 */
export type TypeForm = 'struct' | 'own' | 'custom'

export interface ResourceType {
  readonly group: string
  readonly version: string
  /** Lower-case plural: the URL segment. */
  readonly resource: string
  readonly singular: string
  readonly kind: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly namespaced: boolean
  /** Subset of create, delete, deletecollection, get, list, patch, update, watch. */
  readonly verbs: readonly string[]
  /** The version that the store holds. */
  readonly storageVersion: string
  /** Names of sub-resources that it serves (`status`, `scale`, `token`, `approval`, …). */
  readonly subresources: readonly string[]
  /** Where `/scale` finds its numbers; present exactly when `subresources` has `scale`. */
  readonly scale?: ScalePaths
  /** Whole-object schema; `undefined` accepts anything. */
  readonly schema: Schema | undefined
  /** Columns of `kubectl get` behind the name; those of a struct are empty, as printers know them. */
  readonly columns: readonly ColumnDefinition[]
  /** JSONPaths usable in field selectors beside metadata.name and metadata.namespace. */
  readonly selectableFields: readonly string[]
  readonly form: TypeForm
  /** Whether its deletion answers the deleted object in place of a Status. */
  readonly returnsDeleted?: true
  /** Whether its objects are answered by whoever knows what they say, and not stored. */
  readonly answered?: true
  /** Additions of the form `custom` from its CRD. */
  readonly custom?: CustomVersions
}
