/**
 * Effects of a write of workload objects on the clusters: the question and the answer of a PlacementPreview. Nothing is stored. The server
 * sends the question for users who may make the writes, with the objects as they would be stored. The translator answers. Pure.
 */

import { StatusError } from '../../apimachinery/errors.ts'
import { at } from '../../apimachinery/fields.ts'
import { type GroupVersionResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { WORK_STATUSES } from '../words/placement.ts'
import type { RevisionsWish } from './comparedRevisions.ts'

export const PLACEMENT_PREVIEWS: GroupVersionResource = { ...WORK_STATUSES, resource: 'placementpreviews' }
/** Objects of one preview. */
export const MAX_PREVIEWED = 100
/** All of them as JSON. */
export const MAX_PREVIEW_BYTES = 1024 * 1024
/** Clusters that are looked at for all objects together; what is behind is counted. */
export const MAX_PREVIEW_DESTINATIONS = 5000
/** Units of work (workBudget.ts) for these: what is large, or asks for much customizing, is looked at in fewer clusters. */
export const MAX_PREVIEW_WORK = 3_000_000
/** Contents before and after of all objects together, as JSON. */
export const MAX_PREVIEW_CONTENT_BYTES = 2 * 1024 * 1024
/** Objects outside the question that its EdgePlacement or Customizer moves; the rest is counted. */
export const MAX_PREVIEW_MOVED = 50
/** Objects of a space without EdgePlacements that are read for a question about its first. */
export const MAX_PREVIEW_READ = 20_000
/** Bound on their matched parts together (labels, names, owners), as JSON. */
export const MAX_PREVIEW_READ_BYTES = 16 * 1024 * 1024
/** Pairs of an object that EdgePlacements of the question move and a cluster, of which it is counted what becomes of them. */
export const MAX_PREVIEW_PAIRS = 1_000_000
/** Units of work for the consequence of a write: labels, tests and pairs of an object and a cluster that are judged. */
export const MAX_CONSEQUENCE_WORK = 30_000
/** Clusters that are named of each group; the rest is counted. */
export const MAX_GROUP_LOCATIONS = 100
/** At the same time, of one space. */
export const MAX_PREVIEWS_AT_ONCE = 4

export const PREVIEW_ACTIONS = [
  /** The cluster has none and gets one. */
  'Create',
  'Update',
  /** It is placed there no more. */
  'Delete',
  'Unchanged',
  /** Another space's object of the name is there. */
  'Conflict',
  /** A pause keeps all as it is. */
  'Paused',
  /** Grants, or a cluster that takes nothing new, do not let it in. */
  'NotPermitted',
  /** It cannot be customized as it asks, and is held back. */
  'Invalid',
  /** Not known yet, or left out because there are too many. */
  'Unknown',
] as const
export type PreviewAction = (typeof PREVIEW_ACTIONS)[number]

/** As in a SinglePlacementSlice. */
export interface PreviewLocation {
  /** Id of the inventory. */
  readonly cluster: string
  readonly name: string
  /** Where it has another name than the Location. */
  readonly syncTarget?: string
}

/** Clusters where the same becomes of an object. */
export interface PreviewGroup {
  readonly action: PreviewAction
  readonly count: number
  /** Some of them, sorted. */
  readonly locations: readonly PreviewLocation[]
  /**
   * The present object and the future one; values of Secrets as hashes. Absent where nothing changes, or it would be too much.
   */
  readonly before?: KubeObject
  readonly after?: KubeObject
  readonly reason?: string
  readonly message?: string
}

/** Effects on the copies of all objects that an EdgePlacement moves, shown or not. */
export interface MovedCopies {
  /** How many would be made. */
  readonly creates: number
  /** How many would be deleted. */
  readonly deletes: number
  /** How many are in clusters of which it is not known what they hold. */
  readonly unknown: number
  /** How many clusters that is about. */
  readonly clusters: number
  /** Some of them, sorted. */
  readonly locations: readonly (PreviewLocation & {
    readonly creates: number
    readonly deletes: number
    readonly unknown: number
  })[]
  /** There are more, which were too many to be counted. */
  readonly isPartial?: boolean
  /** So many would be deleted that the brake holds it until somebody confirms it. */
  readonly isHeld?: boolean
}

export interface ObjectPreview {
  readonly group: string
  readonly resource: string
  readonly kind: string
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string
  readonly name: string
  /** In the space itself. */
  readonly operation: 'create' | 'update' | 'unchanged'
  /** EdgePlacements that would select it. */
  readonly placements: readonly string[]
  readonly groups: readonly PreviewGroup[]
  /** Why it goes nowhere, whatever selects it; what of others it moves. */
  readonly message?: string
  /** Whether the object stands outside the question and moves by an effect of one within. */
  readonly isMoved?: boolean
  /** Present only where the question includes the clusters: their content, beside that of their mailboxes. */
  readonly live?: readonly PreviewGroup[]
  /** Present for an EdgePlacement that moves something. */
  readonly moves?: MovedCopies
  /** The part of its effects that is unknown. */
  readonly unknown?: string
  /** As the write would get them. */
  readonly warnings?: readonly string[]
  /** In a comparison of revisions: the one since which it is as in the first of them. */
  readonly revision?: number
}

/** A Location in a stage of a rollout. */
export interface StageLocation extends PreviewLocation {
  /** Silent, paused or leaving: it is passed over, and has its turn once it is back. */
  readonly away?: true
}

/** How a revision of a placement would come to its clusters. */
export interface RolloutPreview {
  readonly placement: string
  /** Clusters keep this revision, and nothing begins. */
  readonly pinned?: number
  /** A cluster is done once its content has been healthy for so long. */
  readonly minSuccessSeconds?: number
  /** For people: when clusters begin, of whatever group. */
  readonly windows?: readonly string[]
  /** One after the other. */
  readonly stages: readonly {
    readonly atOnce: number
    readonly mayFail: number
    readonly groups: readonly {
      /** Absent: clusters that are in no group. */
      readonly name?: string
      readonly approval?: true
      readonly windows?: readonly string[]
      readonly count: number
      /** The first of them, in the order in which they begin. */
      readonly locations: readonly StageLocation[]
    }[]
  }[]
  /** Why the stages are not known. */
  readonly message?: string
}

export interface Previews {
  /** One for each object of the question, then those about others that these move. */
  readonly objects: readonly ObjectPreview[]
  /** One for each staged placement of which something changes, by name. */
  readonly rollouts: readonly RolloutPreview[]
  /** Objects that differ and whoever asks may not get, and those beyond the bound of an answer. */
  readonly hidden?: number
  readonly more?: number
}

export interface PreviewedObject {
  readonly resource: GroupVersionResource
  /** As it would be stored, with marks on the fields that its author left open. */
  readonly object: KubeObject
  readonly operation: ObjectPreview['operation']
}

export interface LiveWish {
  /** Names of Locations. Absent: all where the objects are placed. */
  readonly locations?: readonly string[] | undefined
}

export interface PreviewRequest {
  /** Id. */
  readonly space: string
  readonly objects: readonly PreviewedObject[]
  /** Asks clusters what they hold of the objects now. Absent: clusters are not included. */
  readonly live?: LiveWish | undefined
  /** Whether whoever asks may see an object that they did not ask about. Absent: they may not. */
  readonly mayGet?: (resource: GroupVersionResource, place: { namespace: string; name: string }) => Promise<boolean>
  /** Aborts when whoever asks has gone: clusters are waited for no longer. */
  readonly gone?: AbortSignal | undefined
  /** Between steps, when others are due. */
  readonly work?: { readonly due: boolean; rest(): Promise<void> } | undefined
}

export interface RevisionsRequest extends RevisionsWish, Pick<PreviewRequest, 'gone' | 'work'> {
  /** Id. */
  readonly space: string
  readonly mayGet: NonNullable<PreviewRequest['mayGet']>
}

/** An object that is about to be written. */
export interface PlacementWrite {
  /** Id. */
  readonly space: string
  /** As it would be stored. */
  readonly object: KubeObject
  /** The Customizer that it names, where that is written beside it. Absent: as it is stored. */
  readonly customizer?: KubeObject | undefined
}

/** The consequence of writing an EdgePlacement, as far as that is found with little work. */
export interface PlacementConsequence {
  /** Why it leads nowhere. Absent: it leads somewhere, or nobody knows. */
  readonly nowhere?: string
  /** Copies that leave clusters. */
  readonly deletes: number
  /** How many clusters these leave. */
  readonly clusters: number
  /** There may be more. */
  readonly isPartial: boolean
  /** The brake would hold them. */
  readonly isHeld: boolean
}

export interface PreviewReceiver {
  /** @throws StatusError ServiceUnavailable while not enough is known */
  preview(request: PreviewRequest): Promise<Previews>
  /** @throws StatusError NotFound for a revision, ServiceUnavailable */
  compare(request: RevisionsRequest): Promise<Previews>
  /** `undefined`: it is not known yet. */
  consequence(write: PlacementWrite): Promise<PlacementConsequence | undefined>
  /** A fault for each parameter that no Location defines on which the space places, and each selector that none matches, as far as known. */
  locationFaults(write: PlacementWrite): Promise<readonly string[]>
}

/** Entrance of previews; they go to one receiver. */
export interface PreviewSource {
  deliverTo(receiver: PreviewReceiver | undefined): void
}

/** Objects in the `spec` of a PlacementPreview. @throws StatusError BadRequest, naming the field */
export function readPreviewed(spec: unknown): KubeObject[] {
  const objects = at(spec, 'objects')
  if (!Array.isArray(objects) || objects.length === 0) throw bad('spec.objects', 'must name at least one object')
  if (objects.length > MAX_PREVIEWED) {
    throw bad(
      'spec.objects',
      `has ${objects.length} objects, of at most ${MAX_PREVIEWED}: ask for them in several previews`,
    )
  }
  const bytes = Buffer.byteLength(JSON.stringify(objects))
  if (bytes > MAX_PREVIEW_BYTES) {
    throw bad('spec.objects', `has ${bytes} bytes, of at most ${MAX_PREVIEW_BYTES}: ask for them in several previews`)
  }
  return objects.map((item: unknown, i) => {
    const at = `spec.objects[${i}]`
    if (!isRecord(item)) throw bad(at, 'must be an object')
    const { apiVersion, kind, metadata } = item
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw bad(at, 'must have apiVersion and kind')
    if (!isRecord(metadata) || typeof metadata.name !== 'string' || metadata.name === '') {
      throw bad(`${at}.metadata.name`, 'must be there: a generated name is not known before')
    }
    if (metadata.namespace !== undefined && typeof metadata.namespace !== 'string') {
      throw bad(`${at}.metadata.namespace`, 'must be a string')
    }
    return { ...item, apiVersion, kind, metadata }
  })
}

/** Wish in `spec.live`. @throws StatusError BadRequest, naming the field */
export function readLiveWish(spec: unknown): LiveWish | undefined {
  const live = at(spec, 'live')
  if (live === undefined) return undefined
  if (!isRecord(live)) throw bad('spec.live', 'must be an object; {} asks all clusters where the objects are placed')
  const { locations } = live
  if (locations === undefined) return {}
  const areNames = Array.isArray(locations) && locations.every(name => typeof name === 'string')
  if (!areNames) throw bad('spec.live.locations', 'must be a list of names of Locations')
  return { locations }
}

function bad(field: string, message: string): StatusError {
  return new StatusError('BadRequest', `${field}: ${message}`)
}
