/**
 * CustomResourceDefinitions: from the object that a user writes to the kinds that a space serves.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
 */
export { defaultCrd, storedVersionsOf } from './defaultCrd.ts'
export { type AcceptedNames, type CrdCondition, namesConflicts } from './names.ts'
export { resourceTypesOf } from './resourceTypes.ts'
export { validateCrd, validateCrdUpdate } from './validateCrd.ts'
