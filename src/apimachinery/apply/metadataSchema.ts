/** The structure of object metadata, alike in all kinds whatever their schemas say about it. */
import type { Schema } from '../schema.ts'

const STRING: Schema = { type: 'string' }
const STRINGS: Schema = { type: 'object', additionalProperties: STRING }
/** Structure, merge keys and strategies of `metadata`. */
export const METADATA_SCHEMA: Schema = {
  type: 'object',
  properties: {
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    uid: STRING,
    resourceVersion: STRING,
    generation: { type: 'integer' },
    creationTimestamp: STRING,
    deletionTimestamp: STRING,
    deletionGracePeriodSeconds: { type: 'integer' },
    selfLink: STRING,
    labels: STRINGS,
    annotations: STRINGS,
    finalizers: {
      type: 'array',
      items: STRING,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-patch-strategy': 'merge',
    },
    ownerReferences: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'uid',
      'x-kubernetes-list-map-keys': ['uid'],
      items: {
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
        properties: {
          apiVersion: STRING,
          kind: STRING,
          name: STRING,
          uid: STRING,
          controller: { type: 'boolean' },
          blockOwnerDeletion: { type: 'boolean' },
        },
      },
    },
    managedFields: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  },
}
