/** CustomResourceDefinition as a kind: defaults, validation, and a status that only the server writes. */
import { defaultCrd, validateCrd, validateCrdUpdate } from '../../apimachinery/crd/crd.ts'
import { withStatus } from '../registry/builtin/kind.ts'
import type { Strategy } from '../registry/strategy.ts'

export const definitionStrategy: Strategy = withStatus(
  {
    applyDefaults: defaultCrd,
    validate: validateCrd,
    validateUpdate: validateCrdUpdate,
  },
  () => ({ conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: [] }),
)
