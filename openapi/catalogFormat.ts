/**
 * Output of `openapi/derive.ts` in `openapi/generated/`, which the catalog of the API server reads. Schemas are OpenAPI v3 in the
 * Kubernetes dialect; a reference is `{ $ref: <definition name> }`, alone or beside the extensions that hold for that place only.
 */
export interface SchemaNode {
  $ref?: string
  type?: string
  format?: string
  description?: string
  default?: unknown
  required?: string[]
  properties?: Record<string, SchemaNode>
  additionalProperties?: boolean | SchemaNode
  items?: SchemaNode
  struct?: StructFacts
  [keyword: string]: unknown
}

/** Facts of upstream's struct beyond its definition, which has it as `struct`. An absent fact is empty. */
export interface StructFacts {
  /** Fields that JSON always has, although they are not required. */
  always?: string[]
  /** Fields that are required, and left out of JSON when they are empty nevertheless. */
  omitted?: string[]
  /**
   * Texts, numbers and truth values that are pointers: empty is not absent. Other fields only where JSON always has them, as null.
   */
  pointers?: string[]
  /** Fields that stand in nameless structs, by the names of these, outermost first, joined by dots. */
  within?: Record<string, string[]>
  /** Go types of fields that have names although they are texts, lists or maps. */
  types?: Record<string, string>
}

export interface CatalogColumn {
  name: string
  type: string
  format?: string
  description?: string
  priority?: number
  jsonPath: string
}

export interface CatalogResource {
  group: string
  version: string
  resource: string
  singular: string
  kind: string
  listKind: string
  shortNames: string[]
  categories: string[]
  namespaced: boolean
  verbs: string[]
  storageVersion: string
  subresources: string[]
  scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string }
  /** Name of the definition that describes the whole object. */
  definition: string
  /** Name of the definition of its list; absent for kinds that cannot be listed and for structural schemas. */
  listDefinition?: string
  columns: CatalogColumn[]
  /** JSONPaths usable in field selectors; absent: none of its own. */
  selectableFields?: string[]
  /** Whether its deletion answers the deleted object in place of a Status. */
  returnsDeleted?: true
  /** Whether its objects are answered and not stored. */
  answered?: true
}

export interface CatalogFile {
  /** The Kubernetes release that the built-in kinds are of: `1.36`. */
  release: string
  definitions: Record<string, SchemaNode>
  resources: CatalogResource[]
}

/** Per definition: its own text under the empty name, and the texts of its properties. */
export type DescriptionsFile = Record<string, Record<string, string>>

export const API_VERSION_TEXT = 'APIVersion defines which group and version of the schema this object follows.'
export const KIND_TEXT = 'The kind of this object, in CamelCase.'
