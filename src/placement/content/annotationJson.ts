/** Annotations of a copy that carry lists from the center to a syncer, as JSON. */
import type { KubeObject } from '../../apimachinery/object.ts'

/** `undefined` where there is none, or what is there nobody of us wrote: the center puts back what somebody changed. */
export function annotationJson({ metadata }: Pick<KubeObject, 'metadata'>, annotation: string): unknown {
  const text = metadata.annotations?.[annotation]
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
