/** The kind of what `/scale` of other kinds shows and takes. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { objectMetaSchema } from '../../apimachinery/structural/objectMetaSchema.ts'

const REPLICAS: Schema = { type: 'integer', format: 'int32' }
const TEXT: Schema = { type: 'string' }
const SCHEMA: Schema = {
  type: 'object',
  properties: {
    kind: TEXT,
    apiVersion: TEXT,
    metadata: objectMetaSchema,
    spec: { type: 'object', properties: { replicas: REPLICAS } },
    status: { type: 'object', properties: { replicas: REPLICAS, selector: TEXT } },
  },
}

/** How `/scale` bodies are read and patched. */
export const SCALE_TYPE: ResourceType = {
  group: 'autoscaling',
  version: 'v1',
  resource: 'scales',
  singular: 'scale',
  kind: 'Scale',
  listKind: 'ScaleList',
  shortNames: [],
  categories: [],
  namespaced: true,
  verbs: [],
  storageVersion: 'v1',
  subresources: [],
  schema: SCHEMA,
  columns: [
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Available', type: 'integer', jsonPath: '.status.replicas' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: [],
  form: 'struct',
}
