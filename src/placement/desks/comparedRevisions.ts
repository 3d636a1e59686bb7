/**
 * The question of a PlacementPreview for a difference: between two revisions of an EdgePlacement, or between one and the space as it is
 * now. Pure.
 */

import { StatusError } from '../../apimachinery/errors.ts'
import { at, record } from '../../apimachinery/fields.ts'
import { type GroupResource, isRecord } from '../../apimachinery/object.ts'
import { revisionName } from '../rollout/revisionNames.ts'
import { PLACEMENT_REVISIONS } from '../words/placement.ts'

/** Objects that a comparison names, or whose contents it reads; the rest is counted. */
export const MAX_COMPARED = 1000
/** Bytes of contents that a comparison reads, as JSON. */
export const MAX_COMPARED_BYTES = 64 * 1024 * 1024

export interface ComparedObject extends GroupResource {
  /** Empty for cluster-scoped objects. */
  readonly namespace: string
  readonly name: string
}

export interface RevisionsWish {
  readonly placement: string
  /** 0: before the first revision. */
  readonly from: number
  /** Absent: the objects as they are now. */
  readonly to?: number
  /** Absent: all that differ. */
  readonly objects?: readonly ComparedObject[]
}

/** Objects that whoever asks has to be allowed to get. */
export function namedIn({ placement, from, to, objects = [] }: RevisionsWish): readonly ComparedObject[] {
  const numbers = [from, to].filter((number): number is number => number !== undefined && number > 0)
  const { group, resource } = PLACEMENT_REVISIONS
  const revisions = numbers.map(number => ({ group, resource, namespace: '', name: revisionName(placement, number) }))
  return [...revisions, ...objects]
}

/** Wish in `spec.revisions`. @throws StatusError BadRequest, naming the field */
export function readRevisionsWish(spec: unknown): RevisionsWish | undefined {
  const wish = at(spec, 'revisions')
  if (wish === undefined) return undefined
  if (!isRecord(wish)) throw bad('', 'must be an object')
  for (const other of ['objects', 'live'])
    if (isRecord(spec) && spec[other] !== undefined) throw bad('', `goes without spec.${other}`)
  const { placement, from, to, objects } = wish
  if (typeof placement !== 'string' || placement === '') throw bad('.placement', 'must name an EdgePlacement')
  if (!isNumber(from)) throw bad('.from', 'must be the number of a revision; 0 is before the first one')
  if (to !== undefined && (!isNumber(to) || to === 0)) throw bad('.to', 'must be the number of a revision')
  if (to === undefined && from === 0) throw bad('.from', 'must be the number of a revision where there is no .to')
  if (objects === undefined) return { placement, from, ...(to !== undefined && { to }) }
  if (!Array.isArray(objects) || objects.length === 0 || objects.length > MAX_COMPARED)
    throw bad('.objects', `must be a list of 1 to ${MAX_COMPARED} objects; without it all that differ are compared`)
  return { placement, from, ...(to !== undefined && { to }), objects: objects.map(comparedObject) }
}

function comparedObject(item: unknown, i: number): ComparedObject {
  const { group = '', resource, namespace = '', name } = record(item)
  const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('|')
  if (!isText(group) || !isText(resource) || !isText(namespace) || !isText(name) || resource === '' || name === '')
    throw bad(`.objects[${i}]`, 'must have a resource and a name, and may have a group and a namespace')
  return { group, resource, namespace, name }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function bad(field: string, message: string): StatusError {
  return new StatusError('BadRequest', `spec.revisions${field}: ${message}`)
}
