/** CustomResourceDefinition as a kind: defaults, validation, and a status that only the server writes. */
import {
  defaultCrd,
  storedVersionsOf,
  validateCrd,
  validateCrdStatusUpdate,
  validateCrdUpdate,
} from '../../apimachinery/crd/crd.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { withStatus } from '../registry/builtin/kind.ts'
import type { Strategy } from '../registry/strategy.ts'
import { decodeDefinition } from './decodeDefinition.ts'

const strategy: Strategy = withStatus(
  {
    decode: decodeDefinition,
    applyDefaults: defaultCrd,
    prepareForCreate: recordStoredVersion,
    prepareForUpdate: recordStoredVersion,
    validate: validateCrd,
    validateUpdate: validateCrdUpdate,
    validateStatusUpdate: validateCrdStatusUpdate,
  },
  () => ({ conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: [] }),
)

export const definitionStrategy: Strategy = { ...strategy, requireResourceVersion: true }

/** The storage version is recorded with the write that makes it that, before any object can be stored in it. */
function recordStoredVersion(crd: KubeObject): void {
  crd.status = { ...(isRecord(crd.status) ? crd.status : {}), storedVersions: storedVersionsOf(crd) }
}
