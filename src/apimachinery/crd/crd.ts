/**
 * CustomResourceDefinitions: from the object that a user writes to the kinds that a space serves.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
 */
export { type CrdCondition, ownConditions } from './conditions.ts'
export { defaultCrd, storedVersionsOf } from './defaultCrd.ts'
export { conversionOf } from './definition.ts'
export { formatWarnings } from './formatWarnings.ts'
export { type AcceptedNames, NamesInUse, namesConflicts } from './names.ts'
export { resourceTypesOf, shareSchemasOf } from './resourceTypes.ts'
export { validateCrd, validateCrdInSteps, validateCrdStatusUpdate, validateCrdUpdate } from './validateCrd.ts'
