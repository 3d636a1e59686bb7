/**
 * Generations in a status that is reported by another server than the one where it is read. Each server counts the generations
 * of an object for itself, so `observedGeneration`, of the status and of its conditions, means something only beside the
 * `metadata.generation` of the same server: whoever waits for a rollout compares the two. Pure.
 */
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
  return isObserving(status) || (Array.isArray(status.conditions) && status.conditions.some(isObserving))
}

/**
 * The status with generations of this server. What has not been observed there yet goes on as this server says it now, `said`: the
 * last generation of which that is known; and so does everything where nobody knows what came of what.
 */
export function inOurGenerations(status: unknown, produced: Produced | undefined, returned: unknown): unknown {
  if (!isRecord(status) || !hasGenerations(status)) return status
  const before = isRecord(returned) ? returned : {}
  const translated = withOurs(status, produced, before)
  if (!Array.isArray(status.conditions)) return translated
  const known = (Array.isArray(before.conditions) ? before.conditions : []).filter(isRecord)
  const conditions = status.conditions.map((condition: unknown) =>
    isRecord(condition)
      ? withOurs(condition, produced, known.find(({ type }) => type === condition.type) ?? {})
      : condition,
  )
  return { ...translated, conditions }
}

/**
 * Which of this server's generations has been observed there: the one that was written, or else the last of which that is known,
 * `said`. `undefined` where none is.
 */
export function ourGeneration(observed: number, produced: Produced | undefined, returned = 0): number | undefined {
  if (produced && observed >= produced.there) return produced.here
  // said of an object that was there before this one, it would be too early
  const ours = produced ? Math.min(returned, produced.here - 1) : returned
  return ours > 0 ? ours : undefined
}

type Fields = Record<string, unknown>

function isObserving(value: unknown): boolean {
  return isRecord(value) && typeof value.observedGeneration === 'number'
}

function withOurs(part: Fields, produced: Produced | undefined, before: Fields): Fields {
  const { observedGeneration, ...rest } = part
  if (typeof observedGeneration !== 'number') return part
  const earlier = typeof before.observedGeneration === 'number' ? before.observedGeneration : undefined
  const ours = ourGeneration(observedGeneration, produced, earlier)
  return ours === undefined ? rest : { ...part, observedGeneration: ours }
}
