/**
 * Deletion: at once, or by a deletionTimestamp while finalizers hold the object.
 * @see https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { fieldError } from '../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson, equalJson } from '../../apimachinery/values.ts'
import type { Work } from '../../program/workTurns.ts'
import { copyIn } from '../../storage/copyText.ts'
import { sizeOf } from '../../storage/sharedStored.ts'
import type { Encoded, Key, Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { accepted, refusal } from '../registry/accepted.ts'
import { ADMISSION_STAGES, type AdmissionRequest, optionsOf, runStage, stepsFor } from '../registry/admission.ts'
import { decodeObject, encodeInSteps, encodeObject } from '../registry/codec.ts'
import type { WriteContext } from '../registry/context.ts'
import { decodeInSteps } from '../registry/decodeInSteps.ts'
import { keyOf } from '../registry/keys.ts'
import { LARGE_BYTES } from '../registry/largeWrites.ts'
import type { TextMutation } from '../registry/preparation.ts'
import type { RegistryDeps } from '../registry/registry.ts'
import { hasNamespaceFinalizers } from '../registry/systemMetadata.ts'
import { workOf } from '../registry/works.ts'

export interface DeleteOptions {
  propagationPolicy?: string
  orphanDependents?: boolean
  preconditions?: { uid?: string; resourceVersion?: string }
  gracePeriodSeconds?: number
  dryRun?: boolean
}

interface Deleted {
  /** The last state, or the state with its deletionTimestamp. */
  stored: Stored
  /** False while finalizers or a grace period hold it. */
  gone: boolean
}

/** An object as its deletion leaves it. */
interface Marked {
  object: KubeObject
  gone: boolean
  changed: boolean
}

/** Attempts on a large object beside other writers. */
const ATTEMPTS = 3

const ORPHAN = 'orphan'
const FOREGROUND = 'foregroundDeletion'

/** @throws StatusError NotFound, Conflict (preconditions), Forbidden, Invalid (options) */
export async function deleteObject(
  deps: RegistryDeps,
  context: WriteContext,
  type: ResourceType,
  ref: { namespace: string; name: string },
  options: DeleteOptions = {},
): Promise<Deleted> {
  checkOptions(options)
  const key = keyOf(context.space, type, ref.namespace, ref.name)
  const own = await deps.store.get(key)
  const layer = deps.shared?.of(type, key.namespace)
  const shared = await layer?.get(key.space, type, key.name)
  if (shared !== undefined && layer!.comeBack === undefined)
    throw statusError.forbidden(type, ref.name, 'every space has it; it cannot be deleted')
  const current = own ?? shared
  if (current === undefined) throw statusError.notFound(type, ref.name)
  const orphansByDefault = deps.strategyFor(type)?.orphansByDefault === true
  const change = (stored: Stored): Marked => mark(decodeObject(stored))
  const mark = (object: KubeObject): Marked => {
    checkDeletePreconditions(type, object, options.preconditions)
    const now = deps.clock()
    if (object.metadata.deletionTimestamp === undefined) {
      deps.strategyFor(type)?.prepareForDelete?.(object, timestamp(now))
    }
    return markDeleted(object, { ...options, orphansByDefault }, now)
  }
  const target = { space: context.space, namespace: ref.namespace, subresource: '', user: context.user }
  const steps = stepsFor(deps.admission, type, 'DELETE', target)
  if (steps.length > 0) {
    change(current)
    const object = decodeObject(current)
    const request: AdmissionRequest = {
      operation: 'DELETE',
      context,
      type,
      requestType: type,
      subresource: '',
      object,
      old: object,
      options: optionsOf('DeleteOptions', context, sentOptions(options)),
    }
    for (const stage of ADMISSION_STAGES) await runStage(steps, stage, request)
  }
  if (context.dryRun || options.dryRun) {
    const { object, gone } = change(current)
    if (gone) return { stored: current, gone }
    return { stored: versionOf(key, current.revision, encodeObject(object)), gone }
  }
  if (own === undefined) {
    // The deleted object is the space's own: watchers see it go. A refused deletion writes nothing.
    change(current)
    const copy = encodeObject(decodeObject(current))
    const copied = await deps.store.write({ key, mutation: { type: 'put', text: copy, leads: 'out' }, expect: 0 })
    if (!copied.ok && copied.refused) throw refusal(copied.refused)
  }
  const work = own && workOf(deps.turns, context, sizeOf(own) > LARGE_BYTES)
  const deleted = (work && (await deleteLarge(deps, key, { type, mark, work }))) ?? (await deleteAtOnce())
  if (deleted.gone) await deps.shared?.deleted(key)
  return deleted

  async function deleteAtOnce(): Promise<Deleted> {
    let gone = false
    const outcome = await deps.store.update(key, now => {
      if (now === undefined) throw statusError.notFound(type, ref.name)
      const result = change(now)
      gone = result.gone
      return mutationOf(result, () => encodeObject(result.object, copyIn(now) !== undefined))
    })
    return { stored: accepted(outcome)!, gone }
  }
}

/**
 * In turn with all other long work, and not while the store's queue waits. `undefined` where others who write the object came first
 * each time: then it is deleted among them.
 */
async function deleteLarge(
  deps: RegistryDeps,
  key: Key,
  { type, mark, work }: { type: ResourceType; mark: (object: KubeObject) => Marked; work: Work },
): Promise<Deleted | undefined> {
  for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
    const now = await deps.store.get(key)
    if (now === undefined) throw statusError.notFound(type, key.name)
    if (work.due) await work.rest()
    const result = mark(await inSlices(decodeInSteps(now), work))
    if (work.due) await work.rest()
    const text = await inSlices(encodeInSteps(result.object, copyIn(now) !== undefined), work)
    if (work.due) await work.rest()
    const mutation = mutationOf(result, () => text)
    if (mutation === undefined) return { stored: now, gone: false }
    const written = await deps.store.write({ key, mutation, expect: now.revision })
    if (written.ok) return { stored: written.stored, gone: result.gone }
    if (written.refused) throw refusal(written.refused)
  }
  return undefined
}

function mutationOf({ gone, changed }: Marked, encode: () => Encoded): TextMutation | undefined {
  if (gone) return { type: 'delete', text: encode() }
  return changed ? { type: 'put', text: encode(), leads: 'out' } : undefined
}

/** DeleteOptions as the caller wrote them. */
function sentOptions(options: DeleteOptions): object {
  const { dryRun, ...sent } = options
  return dryRun === true ? { ...sent, dryRun: ['All'] } : sent
}

function checkOptions(options: DeleteOptions): void {
  const { propagationPolicy: policy, orphanDependents } = options
  if (policy !== undefined && orphanDependents !== undefined) {
    const why = 'orphanDependents and deletionPropagation cannot be both set'
    throw statusError.invalidOptions('DeleteOptions', fieldError.invalid('propagationPolicy', policy, why))
  }
  if (policy !== undefined && policy !== 'Background' && policy !== 'Foreground' && policy !== 'Orphan') {
    throw statusError.invalidOptions(
      'DeleteOptions',
      fieldError.notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']),
    )
  }
}

/** In other words than the preconditions of updates, and by kind instead of resource: upstream's ways. */
function checkDeletePreconditions(
  type: ResourceType,
  { metadata }: Readonly<KubeObject>,
  preconditions: DeleteOptions['preconditions'],
): void {
  const conflict = (why: string): StatusError =>
    statusError.conflict({ group: type.group, resource: type.kind }, metadata.name ?? '', why)
  const { uid, resourceVersion } = preconditions ?? {}
  if (uid !== undefined && uid !== metadata.uid) {
    throw conflict(
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    )
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    throw conflict(
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    )
  }
}

/** RFC 3339 has no later one. */
const LAST_DATE_MS = Date.UTC(9999, 11, 31, 23, 59, 59)

function markDeleted(object: KubeObject, options: DeleteOptions & { orphansByDefault: boolean }, now: Date): Marked {
  const { metadata } = object
  const before = cloneJson(withoutClaims(metadata))
  setPropagation(object, options)
  const graceSeconds = Math.min(gracePeriod(object, options), Math.ceil((LAST_DATE_MS - now.getTime()) / 1000))
  const held = (metadata.finalizers?.length ?? 0) > 0 || hasNamespaceFinalizers(object)
  if (!held && graceSeconds === 0) {
    if (isPod(object)) {
      metadata.deletionTimestamp ??= timestamp(now)
      metadata.deletionGracePeriodSeconds = 0
    }
    return { object, gone: true, changed: true }
  }
  if (metadata.deletionTimestamp === undefined) {
    metadata.deletionTimestamp = timestamp(new Date(now.getTime() + graceSeconds * 1000))
    metadata.deletionGracePeriodSeconds = graceSeconds
    if (metadata.generation) metadata.generation++
    if (hasNamespaceFinalizers(object))
      object.status = { ...(isRecord(object.status) ? object.status : {}), phase: 'Terminating' }
  } else if (graceSeconds < (metadata.deletionGracePeriodSeconds ?? 0)) {
    metadata.deletionTimestamp = timestamp(new Date(now.getTime() + graceSeconds * 1000))
    metadata.deletionGracePeriodSeconds = graceSeconds
  }
  return { object, gone: false, changed: !equalJson(withoutClaims(metadata), before) }
}

/** A deletion is nobody's claim, and they may be most of the object. */
function withoutClaims({ managedFields: _, ...rest }: KubeObject['metadata']): KubeObject['metadata'] {
  return rest
}

/** Puts on the object, or takes from it, what makes the garbage collector keep, or first delete, its dependents. */
function setPropagation({ metadata }: KubeObject, options: DeleteOptions & { orphansByDefault: boolean }): void {
  const own = metadata.finalizers ?? []
  const wanted = propagationFinalizer(options) ?? own.find(isPropagation) ?? (options.orphansByDefault ? ORPHAN : '')
  if (own.filter(isPropagation).join() === wanted) return
  const finalizers = [...own.filter(name => !isPropagation(name)), ...(wanted === '' ? [] : [wanted])]
  if (finalizers.length > 0) metadata.finalizers = finalizers
  else delete metadata.finalizers
}

function isPropagation(finalizer: string): boolean {
  return finalizer === ORPHAN || finalizer === FOREGROUND
}

/** The finalizer that the deletion asks for, `''` for none; `undefined` when it does not say. */
function propagationFinalizer({ propagationPolicy, orphanDependents }: DeleteOptions): string | undefined {
  if (orphanDependents !== undefined) return orphanDependents ? ORPHAN : ''
  if (propagationPolicy === undefined) return undefined
  return propagationPolicy === 'Orphan' ? ORPHAN : propagationPolicy === 'Foreground' ? FOREGROUND : ''
}

/** The warning for who leaves dependents to a default that they may not expect. */
export function propagationWarning(deps: RegistryDeps, type: ResourceType, options: DeleteOptions): string | undefined {
  return propagationFinalizer(options) === undefined ? deps.strategyFor(type)?.orphanWarning : undefined
}

function isPod({ kind, apiVersion }: KubeObject): boolean {
  return kind === 'Pod' && apiVersion === 'v1'
}

/** Only a Pod that some node runs is given time; its kubelet removes it. */
function gracePeriod(object: KubeObject, options: DeleteOptions): number {
  if (!isPod(object)) return 0
  const spec = isRecord(object.spec) ? object.spec : {}
  const phase = isRecord(object.status) ? object.status.phase : undefined
  if (!spec.nodeName || phase === 'Succeeded' || phase === 'Failed') return 0
  if (options.gracePeriodSeconds !== undefined) return Math.max(0, options.gracePeriodSeconds)
  return typeof spec.terminationGracePeriodSeconds === 'number' ? spec.terminationGracePeriodSeconds : 30
}
