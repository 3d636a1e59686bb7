/** Names and metadata: the rules of shape and the validation that uses them. */
export * from './nameRules.ts'
export {
  ANNOTATIONS_LIMIT_BYTES,
  type ObjectMetaOptions,
  validateAnnotations,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './objectMeta.ts'
