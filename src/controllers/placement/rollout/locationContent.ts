/**
 * Locations in revisions. A customized object reads labels and annotations of the Location that it goes to, so an edit of these is an edit
 * of the placement. A Location that nothing of a placement reads, or of which other values change, makes no revision. Pure.
 */
import { record, records, str } from '../../../apimachinery/fields.ts'
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
      for (const name of Object.keys(record(selector, 'matchLabels'))) names.add(name)
      for (const expression of records(selector, 'matchExpressions')) names.add(str(expression, 'key'))
    }
  return [...names]
}

/**
 * A Location as contents of revisions keep it: with the labels and annotations that they read. The inventory writes these, and the space
 * of the placement has to hold them.
 */
export function keptLocation({ apiVersion, kind, metadata }: KubeObject, names: ReadonlySet<string>): KubeObject {
  const { name = '', resourceVersion = '', labels, annotations } = metadata
  const read = (all: Readonly<Record<string, string>> = {}): Record<string, string> =>
    Object.fromEntries(Object.entries(all).filter(([key]) => isRead(key, names)))
  return { apiVersion, kind, metadata: { name, resourceVersion, labels: read(labels), annotations: read(annotations) } }
}

/** From so many names on the Location is searched for them: an object may have a hundred thousand. */
const MANY = 100

/** Whether a Location, and as it was kept, are the same to whatever reads these names. */
export function readsAlike(kept: KubeObject, now: KubeObject, names: ReadonlySet<string>): boolean {
  for (const field of ['labels', 'annotations'] as const) {
    const [a, b] = [kept.metadata[field] ?? {}, now.metadata[field] ?? {}]
    for (const name of names.size < MANY ? names : Object.keys({ ...a, ...b }))
      if (a[name] !== b[name] && isRead(name, names)) return false
  }
  return true
}

/** No object reads what kubectl notes. */
function isRead(name: string, names: ReadonlySet<string>): boolean {
  return names.has(name) && name !== LAST_APPLIED_ANNOTATION
}
