/** CustomResourceDefinition as a kind: defaults, validation, and a status that only the server writes. */
import { conditionsOf, mergeConditions } from '../../apimachinery/conditions.ts'
import {
  defaultCrd,
  formatWarnings,
  storedVersionsOf,
  validateCrd,
  validateCrdInSteps,
  validateCrdStatusUpdate,
  validateCrdUpdate,
} from '../../apimachinery/crd/crd.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { withStatus } from '../../kinds/kind.ts'
import { CLIENT_METADATA, type Strategy } from '../../kinds/strategy.ts'
import { decodeDefinition } from './decodeDefinition.ts'
import { CLEANUP_FINALIZER } from './definitionRecord.ts'

const strategy: Strategy = withStatus(
  {
    decode: decodeDefinition,
    statusKeeps: CLIENT_METADATA,
    applyDefaults: defaultCrd,
    prepareForCreate: recordStoredVersion,
    prepareForUpdate: recordStoredVersion,
    validate: validateCrd,
    validateInSteps: validateCrdInSteps,
    validateUpdate: validateCrdUpdate,
    validateStatusUpdate: validateCrdStatusUpdate,
    warnings: formatWarnings,
    prepareForDelete: waitForInstances,
  },
  () => ({ conditions: [], acceptedNames: { plural: '', kind: '' }, storedVersions: [] }),
)

export const definitionStrategy: Strategy = { ...strategy, requireResourceVersion: true }

/** Instances go before their definition. Nobody can lose a finalizer that comes with the deletion. */
function waitForInstances(crd: KubeObject, now: string): void {
  crd.metadata.finalizers = [...new Set([...(crd.metadata.finalizers ?? []), CLEANUP_FINALIZER])]
  const status = isRecord(crd.status) ? crd.status : {}
  const pending = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  } as const
  crd.status = { ...status, conditions: mergeConditions(conditionsOf(crd), [pending], now).conditions }
}

/** The storage version is recorded with the write that makes it that, before any object can be stored in it. */
function recordStoredVersion(crd: KubeObject): void {
  crd.status = { ...(isRecord(crd.status) ? crd.status : {}), storedVersions: storedVersionsOf(crd) }
}
