/** One request that a server answers, as both OpenAPI dialects tell of it. */
import type { GroupVersionKind } from '../../apimachinery/object.ts'

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete' | 'head' | 'options'
export type Action =
  | 'get'
  | 'list'
  | 'watch'
  | 'watchlist'
  | 'post'
  | 'put'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'connect'

export interface Operation {
  path: string
  method: HttpMethod
  /** Absent where it is about no resource. */
  action?: Action
  /** Unique in a document: `readAppsV1NamespacedDeployment`. */
  id: string
  description: string
  tag: string
  /** The value of `x-kubernetes-group-version-kind`. */
  kind?: GroupVersionKind
  body?: Model
  answer: Model
  consumes: readonly string[]
  produces: readonly string[]
  /** Parameters of its query; those of the path follow from the path. */
  parameters: readonly Parameter[]
}

/** The kind itself, its list, a meta kind, another kind of the catalog that a sub-resource speaks, or no object at all. */
export type Model = 'object' | 'list' | 'text' | MetaModel | GroupVersionKind
export type MetaModel =
  | 'status'
  | 'patch'
  | 'deleteOptions'
  | 'watchEvent'
  | 'apiVersions'
  | 'apiGroupList'
  | 'apiGroup'
  | 'apiResourceList'
  | 'version'

export interface Parameter {
  name: string
  in: 'path' | 'query'
  type: 'string' | 'integer' | 'boolean'
  description: string
  required?: true
}
