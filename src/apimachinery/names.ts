/** Names and metadata: the rules of shape and the validation that uses them. */
export * from './nameRules.ts'
export {
  validateAnnotations,
  validateLabels,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from './objectMeta.ts'
