/** Obstacles of one object, in itself, its kind and its placements. Pure. */
import { at, objects, str } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../../client/client.ts'
import { waveFault, waveOf } from '../../../../placement/content/wave.ts'
import { isSystemObject } from '../../../../placement/select/eligibility.ts'
import { reachOf } from '../../../../placement/select/reach.ts'
import { VALIDATION_ERROR_PREFIX } from '../../../../placement/select/selectors.ts'
import { isNatured, NATURED_LABEL } from '../../../../placement/spaces/nature.ts'
import {
  CONFLICT_ANNOTATION,
  CREATE_ONLY,
  CUSTOMIZATION_ERROR_ANNOTATION,
  OVERWRITE,
  PAUSED_ANNOTATION,
  STAND_IN_ANNOTATION,
} from '../../../../placement/words/placement.ts'

export interface Note {
  /** Type of the condition that names it. */
  readonly type?: string
  readonly reason: string
  readonly message: string
}

/** Conditions that explain why objects of an EdgePlacement are not in place, unless they have this status. `Placed` covers the stages. */
const GOOD: Readonly<Record<string, string>> = {
  Placed: 'True',
  Scheduled: 'True',
  IntakeWaits: 'False',
  DeletionHeld: 'False',
  RestoreUnsettled: 'False',
  Paused: 'False',
  RolledOut: 'True',
}

/** Why an object travels nowhere, whatever selects it. */
export function staysHome(resource: DiscoveredResource, object: KubeObject): Note | undefined {
  if (reachOf(resource) === 'none') {
    return {
      reason: 'KindStays',
      message: `objects of kind ${object.kind} are for the space itself and travel nowhere`,
    }
  }
  if (isNatured(object)) {
    const standsIn = object.metadata.annotations?.[STAND_IN_ANNOTATION]
    const message = `it is labelled ${NATURED_LABEL}=true, so it acts in this space and travels nowhere; take the label off to place it`
    return { reason: 'Natured', message: standsIn ?? message }
  }
  if (!isSystemObject(resource, object)) return undefined
  return { reason: 'SystemObject', message: 'every cluster has its own of these, so it travels nowhere' }
}

export function objectNotes({ metadata }: KubeObject): Note[] {
  const notes: Note[] = []
  const annotations = metadata.annotations ?? {}
  if (metadata.deletionTimestamp !== undefined) {
    const waits = metadata.finalizers?.length ? `; it waits for finalizers ${metadata.finalizers.join(', ')}` : ''
    notes.push({ reason: 'Deleting', message: `it is being deleted since ${metadata.deletionTimestamp}${waits}` })
  }
  if (annotations[PAUSED_ANNOTATION] === 'true') {
    notes.push({
      reason: 'ObjectPaused',
      message: `annotation ${PAUSED_ANNOTATION} is "true": its copies stay as they are`,
    })
  }
  const troubles = { CustomizationError: CUSTOMIZATION_ERROR_ANNOTATION, ObjectConflict: CONFLICT_ANNOTATION }
  for (const [reason, annotation] of Object.entries(troubles)) {
    const message = annotations[annotation]
    if (message !== undefined) notes.push({ reason, message })
  }
  if (waveOf({ metadata }) === undefined) notes.push({ reason: 'InvalidWave', message: waveFault({ metadata }) })
  if (annotations[CREATE_ONLY] === 'true') {
    const message = `annotation ${CREATE_ONLY} is "true": it is made where it is missing, and not changed then`
    notes.push({ reason: 'CreateOnly', message })
  }
  const overwrite = annotations[OVERWRITE]
  if (overwrite !== undefined && overwrite !== '' && overwrite !== 'true') {
    const message = `annotation ${OVERWRITE} says that clusters keep what they have of it: it is made where it is missing, and not changed`
    notes.push({ reason: 'NotOverwritten', message })
  }
  return notes
}

export function placementNotes({ metadata, spec, status }: KubeObject): Note[] {
  const notes: Note[] = []
  if (metadata.deletionTimestamp !== undefined) {
    notes.push({ reason: 'Deleting', message: 'the placement is being deleted' })
  }
  if (at(spec, 'paused') === true) {
    notes.push({
      reason: 'PlacementPaused',
      message: 'spec.paused: its copies stay as they are, and it goes nowhere new',
    })
  }
  for (const condition of objects(status, 'conditions')) {
    const good = GOOD[str(condition, 'type')]
    if (good === undefined || condition.status === good) continue
    if (condition.type === 'Paused' && condition.reason === 'PlacementPaused') continue
    notes.push({ type: str(condition, 'type'), reason: str(condition, 'reason'), message: str(condition, 'message') })
  }
  for (const [key, message] of Object.entries(metadata.annotations ?? {})) {
    if (key.startsWith(VALIDATION_ERROR_PREFIX)) notes.push({ reason: 'InvalidSelector', message })
  }
  return notes
}
