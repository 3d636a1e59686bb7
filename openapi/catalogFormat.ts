/**
 * What `openapi/derive.ts` writes into `openapi/generated/` and the catalog of the API server reads.
 * Schemas are OpenAPI v3 in the Kubernetes dialect; a reference is `{ $ref: <definition name> }`, alone or beside the
 * extensions that hold for that place only.
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
  [keyword: string]: unknown
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
}

export interface CatalogFile {
  /** The Kubernetes release that the built-in kinds are of: `1.36`. */
  release: string
  definitions: Record<string, SchemaNode>
  resources: CatalogResource[]
}

/** Per definition: its own text under the empty name, and the texts of its properties. */
export type DescriptionsFile = Record<string, Record<string, string>>

export const API_VERSION_TEXT = 'The group and version of the schema that this object follows.'
export const KIND_TEXT = 'The kind of this object, in CamelCase.'
