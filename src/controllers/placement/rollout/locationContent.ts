/**
 * Locations in revisions. A customized object reads labels and annotations of the Location that it goes to, so an edit of these is an edit
 * of the placement. A Location that nothing of a placement reads, or of which other values change, makes no revision. Pure.
 */
import { records, str } from '../../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../../apimachinery/resources.ts'
import { wantsExpansion } from '../../../placement/content/adaptation.ts'
import { isCustomizer, selectiveRules } from '../../../placement/content/customizerRules.ts'
import { objectKey } from '../../../placement/words/names.ts'
import { LOCATIONS } from '../../../placement/words/placement.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import { parameterNames } from '../copies/parameterExpansion.ts'

export function locationKey({ cluster, locationName }: Pick<Destination, 'cluster' | 'locationName'>): string {
  return objectKey(LOCATIONS, cluster, locationName)
}

/** Names of labels and annotations of Locations that an object, or a Customizer, reads. */
export function locationReads(object: KubeObject): readonly string[] {
  const { status: _status, ...described } = object
  const names = new Set(wantsExpansion(object) ? parameterNames(described) : [])
  if (isCustomizer(object))
    for (const { content } of selectiveRules(object)) {
      const selector = content.locationSelector
      if (!isRecord(selector)) continue
      for (const name of Object.keys(isRecord(selector.matchLabels) ? selector.matchLabels : {})) names.add(name)
      for (const expression of records(selector, 'matchExpressions')) names.add(str(expression, 'key'))
    }
  return [...names]
}

/** A Location as contents of revisions keep it. */
export function keptLocation({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name = '', resourceVersion = '', labels = {}, annotations = {} } = metadata
  const { [LAST_APPLIED_ANNOTATION]: _, ...others } = annotations
  return { apiVersion, kind, metadata: { name, resourceVersion, labels, annotations: others } }
}

/** Whether a Location, and as it was kept, are the same to whatever reads these names. */
export function readsAlike(a: KubeObject, now: KubeObject, names: Iterable<string>): boolean {
  const b = keptLocation(now)
  for (const name of names)
    for (const field of ['labels', 'annotations'] as const)
      if (a.metadata[field]?.[name] !== b.metadata[field]?.[name]) return false
  return true
}
