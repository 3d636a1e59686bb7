/**
 * Patches of a Customizer, in the forms of the API server: JSON (RFC 6902), merge (RFC 7396) and strategic merge. A patch changes what
 * an object says, and neither which object it is nor the marks by which Orrery carries it.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { at, objects, record } from '../../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { jsonPatchInSteps, MAX_COPIED_CHARS } from '../../../apimachinery/patch/jsonPatch.ts'
import { applyMergePatch } from '../../../apimachinery/patch/mergePatch.ts'
import { strategicMergeInSteps } from '../../../apimachinery/patch/strategicMerge.ts'
import type { Steps } from '../../../apimachinery/steps.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { PatchForm } from '../../../placement/content/customizerRules.ts'
import type { BuiltinSchema } from '../../../placement/desks/desks.ts'
import { isOwnKey } from '../../../placement/words/marks.ts'

export interface Patch {
  readonly form: PatchForm
  readonly body: unknown
}

export class PatchError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'PatchError'
  }
}

/** A strategic merge says so of lists that it cannot merge. */
const UNLIKE = 'list element types are not identical'

/**
 * The patched object; `object` stays as it is, and may be a part of what comes.
 * @throws PatchError when the patch does not apply, or changes what it may not
 */
export function* patchedInSteps(object: KubeObject, patch: Patch, schema: BuiltinSchema): Steps<KubeObject> {
  let made: unknown
  try {
    made = yield* applied(object, patch, schema)
  } catch (error) {
    if (!isStatusError(error)) throw error
    const { cause } = error
    const message = cause instanceof Error ? cause.message : error.message
    // behind it comes the object's list, in which parameters may stand
    throw new PatchError(message.startsWith(UNLIKE) ? UNLIKE : message)
  }
  const kept = changedIdentity(object, made)
  if (kept !== undefined) throw new PatchError(`it changes ${kept}, which no Customizer may`)
  return made as KubeObject
}

function* applied(object: KubeObject, { form, body }: Patch, schemaOf: BuiltinSchema): Steps<unknown> {
  if (form === 'jsonPatch') return yield* jsonPatchInSteps(object, body)
  if (form === 'mergePatch') return applyMergePatch(object, body)
  const { apiVersion, kind } = object
  const schema = schemaOf(apiVersion, kind)
  if (!schema) throw new PatchError(`${apiVersion} ${kind} has no strategic merge; use mergePatch or jsonPatch for it`)
  return yield* strategicMergeInSteps(object, body, schema)
}

/** How many characters a patch may have looked at or copied beside itself and the object. */
export function carriedBy({ form, body }: Patch, bytes: number): number {
  if (form !== 'jsonPatch' || !Array.isArray(body)) return 0
  const ops = objects(body)
  const copies = ops.filter(({ op }) => op === 'copy').length
  const tests = ops.filter(({ op }) => op === 'test').length
  return Math.min(copies * bytes, MAX_COPIED_CHARS + bytes) + tests * bytes
}

/** The first field of what an object is that is another; `undefined`: none. */
function changedIdentity(before: KubeObject, after: unknown): string | undefined {
  if (!isRecord(after) || after.apiVersion !== before.apiVersion) return 'apiVersion'
  if (after.kind !== before.kind) return 'kind'
  const { metadata } = after
  if (!isRecord(metadata)) return 'metadata'
  for (const field of ['name', 'namespace'] as const)
    if (metadata[field] !== at(before, 'metadata', field)) return `metadata.${field}`
  for (const field of ['labels', 'annotations'] as const) {
    const [old, now] = [record(before, 'metadata', field), metadata[field] ?? {}]
    if (!isRecord(now)) return `metadata.${field}`
    const keys = [...Object.keys(old), ...Object.keys(now)].filter(isOwnKey)
    const other = keys.find(key => !equalJson(old[key], now[key]))
    if (other !== undefined) return `metadata.${field}[${other}]`
  }
  return undefined
}
