/** How the strategies of built-in kinds are put together: status and generation handled once for all. */

import { type FieldError, fieldError } from '../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../apimachinery/object.ts'
import { cloneJson, sameMeaning } from '../apimachinery/values.ts'
import type { Strategy } from './strategy.ts'

/** Strategies by `group/resource`; the core group is `''`. */
export type Strategies = Record<string, Strategy>

/** Wraps a strategy of a kind with `/status`: clients say spec, `/status` says status. */
export function withStatus(strategy: Strategy, initial: () => Record<string, unknown> = () => ({})): Strategy {
  return {
    ...strategy,
    prepareForCreate(object) {
      object.status = initial()
      strategy.prepareForCreate?.(object)
    },
    prepareForUpdate(object, old) {
      carryOver(object, old, 'status')
      strategy.prepareForUpdate?.(object, old)
    },
  }
}

/** Gives a field the value that it has in the stored object. */
export function carryOver(object: KubeObject, old: KubeObject, field: string): void {
  if (old[field] === undefined) delete object[field]
  else object[field] = cloneJson(old[field])
}

/** The value of a label map as text pairs. */
export function labelsOf(meta: unknown): Record<string, string> {
  return isRecord(meta) && isRecord(meta.labels) ? (meta.labels as Record<string, string>) : {}
}

/** Forbidden changes of whole fields, with upstream's sentence. */
export function forbidChanges(
  object: KubeObject,
  old: KubeObject,
  fields: Readonly<Record<string, string>>,
): FieldError[] {
  return Object.entries(fields)
    .filter(([field]) => !sameMeaning(object[field], old[field]))
    .map(([field, detail]) => fieldError.forbidden(field, detail))
}
