/**
 * The annotation of client-side `kubectl apply`, as far as server-side apply takes part in it. It lets `kubectl` take its own former fields
 * over, and is kept up to date so that users may go back.
 */
import { isRecord, type KubeObject } from '../object.ts'
import { LAST_APPLIED_ANNOTATION } from '../resources.ts'
import type { Schema } from '../schema.ts'
import { cloneJson } from '../values.ts'
import { EMPTY_SET, type FieldSet } from './fieldSet.ts'
import { fieldSetOf } from './typed.ts'

/** The field manager of `kubectl apply --server-side`. */
export const KUBECTL = 'kubectl'
/** Kubernetes' limit for all annotations of an object, in UTF-8 bytes. */
const MAX_ANNOTATION_BYTES = 256 * 1024

/** The fields that client-side apply last stated; empty without a readable annotation. */
export function lastAppliedFields(live: KubeObject | undefined, schema: Schema | undefined): FieldSet {
  const text = live?.metadata.annotations?.[LAST_APPLIED_ANNOTATION]
  if (text === undefined) return EMPTY_SET
  let configuration: unknown
  try {
    configuration = JSON.parse(text)
  } catch {
    return EMPTY_SET
  }
  return isRecord(configuration) ? fieldSetOf(configuration, schema) : EMPTY_SET
}

/** Writes `applied` into the annotation of `object`, if there is one; takes the annotation away if it would be too large. */
export function withLastApplied(object: KubeObject, applied: KubeObject): void {
  const { annotations } = object.metadata
  if (annotations?.[LAST_APPLIED_ANNOTATION] === undefined) return
  const configuration = cloneJson(applied)
  delete configuration.metadata.annotations?.[LAST_APPLIED_ANNOTATION]
  if (configuration.metadata.annotations && Object.keys(configuration.metadata.annotations).length === 0)
    delete configuration.metadata.annotations
  annotations[LAST_APPLIED_ANNOTATION] = `${JSON.stringify(sorted(configuration))}\n`
  const bytes = Object.entries(annotations).reduce(
    (sum, [k, v]) => sum + Buffer.byteLength(k) + Buffer.byteLength(v),
    0,
  )
  if (bytes > MAX_ANNOTATION_BYTES) delete annotations[LAST_APPLIED_ANNOTATION]
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, sorted(value[key])]),
  )
}
