/**
 * Generations in a status that is reported by another server than the one where it is read. Each server counts the generations of an object
 * for itself. `observedGeneration`, of the status and of its conditions, has a meaning only beside the `metadata.generation` of the same
 * server. A wait for a rollout compares the two. Pure.
 */
import { at, list, objects, record } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'

/** An object that was written to another server. */
export interface Produced {
  /** Its generation here, when it was read. */
  readonly here: number
  /** The generation that came of it there, or a later one: who has observed that has observed what was written. */
  readonly there: number
}

/** Whether the status names generations at all. */
export function hasGenerations(status: unknown): boolean {
  if (!isRecord(status)) return false
  return isObserving(status) || list(status, 'conditions').some(isObserving)
}

/**
 * The status with generations of this server. Until the cluster observes a generation, the status keeps `returned`, the last known one of
 * this server. The same holds where the origin of a generation is unknown.
 */
export function inOurGenerations(status: unknown, produced: Produced | undefined, returned: unknown): unknown {
  if (!isRecord(status) || !hasGenerations(status)) return status
  const before = record(returned)
  const translated = withOurs(status, produced, before)
  if (!Array.isArray(status.conditions)) return translated
  const known = objects(before, 'conditions')
  const conditions = status.conditions.map((condition: unknown) =>
    isRecord(condition)
      ? withOurs(condition, produced, known.find(({ type }) => type === condition.type) ?? {})
      : condition,
  )
  return { ...translated, conditions }
}

/**
 * The generation of this server that has been observed there: the written one, or else the last known, `returned`. `undefined` without
 * either.
 */
export function ourGeneration(observed: number, produced: Produced | undefined, returned = 0): number | undefined {
  if (produced && observed >= produced.there) return produced.here
  // reported of an earlier object of this name, it would be too early
  const ours = produced ? Math.min(returned, produced.here - 1) : returned
  return ours > 0 ? ours : undefined
}

type Fields = Record<string, unknown>

function isObserving(value: unknown): boolean {
  return typeof at(value, 'observedGeneration') === 'number'
}

function withOurs(part: Fields, produced: Produced | undefined, before: Fields): Fields {
  const { observedGeneration, ...rest } = part
  if (typeof observedGeneration !== 'number') return part
  const earlier = typeof before.observedGeneration === 'number' ? before.observedGeneration : undefined
  const ours = ourGeneration(observedGeneration, produced, earlier)
  return ours === undefined ? rest : { ...part, observedGeneration: ours }
}
