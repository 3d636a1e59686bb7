/** The PlacementPreviews by which many objects are previewed, and what of their answers counts. Pure. */
import type { KubeObject } from '../../../../apimachinery/object.ts'

interface Bounds {
  readonly most: number
  readonly bytes: number
}

/** Kinds of objects by which others exist, go somewhere or are customized: they are part of each question. */
const SHARED = new Set(['Namespace', 'CustomResourceDefinition', 'EdgePlacement', 'Customizer'])

/** @returns `shared`: how many objects come first in each question */
export function questionsOf(all: readonly KubeObject[], bounds: Bounds): { questions: KubeObject[][]; shared: number } {
  const apart = batches(all, bounds)
  if (apart.length <= 1) return { questions: apart, shared: 0 }
  const shared = all.filter(({ kind }) => SHARED.has(kind))
  const sharedBytes = shared.reduce((sum, object) => sum + sizeOf(object), 0)
  // more than that leaves no room for the question
  if (shared.length > bounds.most / 2 || sharedBytes > bounds.bytes / 2) return { questions: apart, shared: 0 }
  const others = all.filter(({ kind }) => !SHARED.has(kind))
  const left = { most: bounds.most - shared.length, bytes: bounds.bytes - sharedBytes }
  return { questions: batches(others, left).map(some => [...shared, ...some]), shared: shared.length }
}

interface Place {
  readonly isFirst: boolean
  /** Objects of the question. */
  readonly requested: number
  readonly shared: number
}

/** Shared objects, and all that they move, are in the first answer, and counted there alone. */
export function oneOfMany(
  answers: readonly Record<string, unknown>[],
  { isFirst, requested, shared }: Place,
): Record<string, unknown>[] {
  if (shared === 0) return [...answers]
  const own = answers.slice(shared, requested)
  return [
    ...(isFirst ? answers.slice(0, shared) : []),
    ...own.map(one => (isFirst || one.operation === 'create' ? one : { ...one, isMoved: true })),
    ...(isFirst ? answers.slice(requested) : []),
  ]
}

/** In their order. */
export function batches(all: readonly KubeObject[], { most, bytes }: Bounds): KubeObject[][] {
  const found: KubeObject[][] = []
  let left = 0
  for (const object of all) {
    const size = sizeOf(object)
    const last = found.at(-1)
    if (last && last.length < most && size <= left) last.push(object)
    else {
      found.push([object])
      left = bytes
    }
    left -= size
  }
  return found
}

function sizeOf(object: KubeObject): number {
  return Buffer.byteLength(JSON.stringify(object)) + 1
}
