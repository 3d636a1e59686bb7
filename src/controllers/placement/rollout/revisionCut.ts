/** The difference of a new revision of a placement from the newest one: only objects that changed since then are read. */
import { hash } from 'node:crypto'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../../apimachinery/resources.ts'
import { canonicalJson } from '../../../apimachinery/values.ts'
import { NOTES } from '../../../placement/words/marks.ts'
import { FIELD_MANAGER } from '../../../placement/words/names.ts'
import { CUSTOMIZERS, HAND_OVER_ANNOTATION, LOCATIONS, PAUSED_ANNOTATION } from '../../../placement/words/placement.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { ContentRow, ContentRows } from './contentRows.ts'
import { keptLocation, locationReads, readsAlike } from './locationContent.ts'
import type { NewContent } from './revisionStore.ts'
import { customizerKey } from './stagedPlacement.ts'

export interface CutInputs {
  /** The objects that the placement selects now. */
  readonly selected: Iterable<{ readonly fact: ObjectFact; readonly implied: boolean }>
  read(fact: ObjectFact): Promise<KubeObject | undefined>
  /** `reference` is `namespace/name`. */
  customizer(reference: string): KubeObject | undefined
  /** Locations to which the placement leads, by {@link locationKey}. */
  locations(): ReadonlyMap<string, KubeObject>
  /** The EdgePlacement, for its author. */
  placement(): Promise<KubeObject | undefined>
}

export interface Cut {
  readonly contents: readonly NewContent[]
  readonly closed: readonly ContentRow[]
  /** Objects in all. */
  readonly objects: number
  /** Field manager of the newest edit since the last revision; `''`: an object was deleted, or none says it. */
  readonly by: string
}

/** `undefined`: the newest revision has it all. */
export async function cutRevision(
  rows: ContentRows,
  { selected, read, customizer, locations, placement }: CutInputs,
): Promise<Cut | undefined> {
  const contents: NewContent[] = []
  const kept = new Set<string>()
  const references = new Set<string>()
  let objects = 0
  const take = (content: Omit<NewContent, 'digest'>): void => {
    const digest = digestOf(content.object)
    const before = rows.at(content.key, rows.newest)
    if (before && before.digest === digest && isSame(before, content))
      before.seen = Number(content.object.metadata.resourceVersion)
    else contents.push({ ...content, digest })
  }
  for (const { fact, implied } of selected) {
    const { key, resource } = fact
    kept.add(key)
    if (fact.customizer !== '') references.add(fact.customizer)
    const before = rows.at(key, rows.newest)
    if (before) objects++
    if (before?.seen === fact.revision && before.implied === implied) continue
    const object = await read(fact)
    // news of its end is on the way
    if (!object) continue
    if (!before) objects++
    take({ key, resource, implied, object })
  }
  for (const reference of references) {
    const object = customizer(reference)
    if (!object) continue
    const key = customizerKey(reference)
    kept.add(key)
    if (rows.at(key, rows.newest)?.seen !== Number(object.metadata.resourceVersion))
      take({ key, resource: CUSTOMIZERS, implied: false, object })
  }
  const changed = new Map(contents.map(({ key, object }) => [key, locationReads(object)]))
  const names = new Set<string>()
  for (const key of kept) for (const name of changed.get(key) ?? rows.at(key, rows.newest)?.reads ?? []) names.add(name)
  const isMoreRead = !names.isSubsetOf(rows.reads(rows.newest))
  const before = [...rows.in(rows.newest)]
  const there = before.some(({ location }) => location) ? locations() : new Map<string, KubeObject>()
  for (const { key, location } of before) {
    if (!location) continue
    const now = there.get(key)
    // a destination that left makes no revision, and is kept without names that nothing read then
    if (now || !isMoreRead) kept.add(key)
    if (now && !readsAlike(location, now, names)) contents.push(locationContent(key, now, names))
  }
  const closed = before.filter(({ key }) => !kept.has(key))
  // a first revision without objects is one, too: it is rolled out at once, and the next one says what came
  if (contents.length + closed.length === 0 && rows.newest > 0) return undefined
  const since = rows.madeAt(rows.newest)
  const edited = contents.map(({ key, object }) => ({ object, since: rows.at(key, rows.newest) ? '' : since }))
  const selector = await placement()
  return { contents, closed, objects, by: newestManager(selector ? [...edited, { object: selector, since }] : edited) }
}

/** `names`: labels and annotations of it that are read. */
export function locationContent(key: string, location: KubeObject, names: ReadonlySet<string>): NewContent {
  const object = keptLocation(location, names)
  return { key, resource: LOCATIONS, implied: false, object, digest: digestOf(object) }
}

function isSame(row: ContentRow, { implied, resource }: Omit<NewContent, 'digest'>): boolean {
  return row.implied === implied && row.resource.version === resource.version
}

/** Annotations that are for the present, whatever revision a cluster has. */
const LIVE: ReadonlySet<string> = new Set([...NOTES, LAST_APPLIED_ANNOTATION, PAUSED_ANNOTATION, HAND_OVER_ANNOTATION])

/** Equal for objects of which clusters get the same. */
export function digestOf({ metadata, status: _status, ...content }: Readonly<KubeObject>): string {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata
  const own = Object.fromEntries(Object.entries(annotations).filter(([key]) => !LIVE.has(key)))
  return hash(
    'sha256',
    canonicalJson({ ...content, metadata: { labels, annotations: own, ownerReferences } }),
    'base64',
  )
}

/**
 * Objects keep no users. Notes of the center and returned statuses are no edits. An object that came, and the placement, may have been
 * edited last before the newest revision: that edit made no new one.
 */
function newestManager(edited: readonly { readonly object: KubeObject; readonly since: string }[]): string {
  let newest: { manager: string; time: string } = { manager: '', time: '' }
  for (const { object, since } of edited)
    for (const { manager = '', time = '', subresource = '' } of object.metadata.managedFields ?? [])
      if (
        subresource !== 'status' &&
        manager !== FIELD_MANAGER &&
        time >= newest.time &&
        (time === '' || time >= since)
      )
        newest = { manager, time }
  return newest.manager
}
