/**
 * `pods/ephemeralcontainers`: adds containers to a pod that is there, for looking into it.
 * @see https://kubernetes.io/docs/concepts/workloads/pods/ephemeral-containers/
 */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { record, records } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../../apimachinery/values.ts'
import type { SubresourceStrategy } from '../strategy.ts'
import { keepMetadata, wholly } from './podResize.ts'
import { annotationErrors, MIRROR } from './podUpdate.ts'

const FIELD = 'ephemeralContainers'
const PATH = `spec.${FIELD}`

export const podEphemeral: SubresourceStrategy = {
  prepareForUpdate(pod, old) {
    const requested = record(pod, 'spec')[FIELD]
    pod.spec = cloneJson(record(old, 'spec'))
    if (requested === undefined) delete record(pod, 'spec')[FIELD]
    else record(pod, 'spec')[FIELD] = requested
    if (old.status === undefined) delete pod.status
    else pod.status = old.status
    keepMetadata(pod, old)
  },
  validateUpdate(pod, old) {
    if (old.metadata.annotations?.[MIRROR] !== undefined) {
      return [wholly('static pods do not support ephemeral containers')]
    }
    return [...annotationErrors(pod, old), ...changes(pod, old)]
  },
  narrow(configuration) {
    const requested = record(configuration, 'spec')[FIELD]
    configuration.spec = requested === undefined ? {} : { [FIELD]: requested }
  },
}

/** Those that are there stay, whatever their order. */
function changes(pod: KubeObject, old: KubeObject): FieldError[] {
  const now = new Map(records(pod, 'spec', FIELD).map(container => [container.name, container]))
  return records(old, 'spec', FIELD).flatMap(before => {
    const container = now.get(before.name)
    const existing = `existing ephemeral containers ${JSON.stringify(before.name)}`
    if (container === undefined) return [fieldError.forbidden(PATH, `${existing} may not be removed\n`)]
    if (sameMeaning(container, before)) return []
    return [fieldError.forbidden(PATH, `${existing} may not be changed`)]
  })
}
