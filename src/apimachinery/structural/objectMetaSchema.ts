/**
 * The structural schema of `metadata`, of `apiVersion` and of `kind`: what every object and every embedded resource has.
 * Only types stand here; shapes of names and labels are judged by `objectMeta.ts`, in other words.
 */
import { type Schema, STRUCT_NAME } from '../schema.ts'

const text: Schema = { type: 'string' }
const time: Schema = { type: 'string', format: 'date-time' }
const integer: Schema = { type: 'integer', format: 'int64' }
const textMap: Schema = { type: 'object', additionalProperties: text }

export const objectMetaSchema: Schema = {
  [STRUCT_NAME]: 'v1.ObjectMeta',
  type: 'object',
  properties: {
    name: text,
    generateName: text,
    namespace: text,
    selfLink: text,
    uid: text,
    resourceVersion: text,
    generation: integer,
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: integer,
    labels: textMap,
    annotations: textMap,
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['uid'],
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-patch-strategy': 'merge',
      items: {
        [STRUCT_NAME]: 'v1.OwnerReference',
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: text,
          kind: text,
          name: text,
          uid: text,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    finalizers: {
      type: 'array',
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
      items: text,
    },
    managedFields: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        [STRUCT_NAME]: 'v1.ManagedFieldsEntry',
        type: 'object',
        properties: {
          manager: text,
          operation: text,
          apiVersion: text,
          time,
          fieldsType: text,
          fieldsV1: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          subresource: text,
        },
      },
    },
  },
}

/** The three members of a resource root, whatever its own schema says about them. */
const resourceRootSchemas: Readonly<Record<string, Schema>> = {
  apiVersion: text,
  kind: text,
  metadata: objectMetaSchema,
}

/**
 * The three members as a definition with these `properties` at its root has them. It may restrict `apiVersion`, `kind` and, in
 * `metadata`, `name` and `generateName`; whatever else it says about metadata does not count.
 */
export function resourceRootSchemasOf(properties: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const { apiVersion = text, kind = text, metadata } = properties
  const { name, generateName } = metadata?.properties ?? {}
  if (name === undefined && generateName === undefined) return { apiVersion, kind, metadata: objectMetaSchema }
  const restricted = { ...objectMetaSchema.properties, ...(name && { name }), ...(generateName && { generateName }) }
  return { apiVersion, kind, metadata: { ...objectMetaSchema, properties: restricted } }
}

/** The schema of member `name` of a resource root (an object of the API or an embedded one), if it is one of the three. */
export function resourceRootSchema(name: string): Schema | undefined {
  return name === 'apiVersion' || name === 'kind' || name === 'metadata' ? resourceRootSchemas[name] : undefined
}
