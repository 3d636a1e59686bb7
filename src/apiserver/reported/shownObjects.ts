/** Objects of mailboxes as spaces see them: the one place where a report is made of a stored object. */
import type { ObjectMeta } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import {
  type ReportedMarks,
  type ReportedTo,
  reportedMetadata,
  reportedObject,
} from '../../placement/content/reportedObject.ts'
import { objectKey } from '../../placement/words/names.ts'
import { mentions } from '../../storage/sharedStored.ts'
import type { Encoded, Revision, Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { shownAs } from '../registry/eventSelector.ts'
import { EVERYTHING, type Selection } from '../registry/selection.ts'
import type { Source, Sources } from './reportedSources.ts'

const METADATA = Buffer.from(',"metadata":')

/** An object as one space sees it. */
export interface Shown {
  readonly to: ReportedTo
  readonly stored: Stored
}

/** Which objects of what kind somebody asks for. */
export interface Asked {
  readonly type: ResourceType
  /** Default: everything. */
  readonly selection?: Selection
}

/** `undefined`: it is not the space's to see, or not selected. `revision`: default, that of the object. */
export function shownOf(
  stored: Stored,
  source: Source,
  { type, selection = EVERYTHING }: Asked,
  revision: Revision = stored.revision,
): Stored | undefined {
  const report = reportOf(stored, source, type, revision)
  if (!report || selection.everything) return report
  const { metadata } = decodeObject(report)
  return selection.matches({ ...shownAs(stored, type, decodeObject), metadata }) ? report : undefined
}

function reportOf(
  stored: Stored,
  { to, isMarked, marks, kept }: Source,
  type: ResourceType,
  revision: Revision,
): Stored | undefined {
  const own = isMarked() ? marks(objectKeyOf(stored)) : undefined
  const isPlain = own === undefined && revision === stored.revision
  const known = isPlain ? kept.of(stored, to) : undefined
  if (known) return known
  // whoever sees it is named in it
  if (!mentions(stored, to.space)) return undefined
  const text = own ? markedText(stored, to, own, type) : plainText(stored, to)
  if (!text) return undefined
  const report = versionOf({ ...stored.key, space: to.space }, revision, text)
  if (isPlain) kept.keep(report, to)
  return report
}

function markedText(
  stored: Stored,
  to: ReportedTo,
  marks: ReportedMarks,
  { scale }: ResourceType,
): Encoded | undefined {
  const shown = reportedObject(decodeObject(stored), to, marks, scale?.specReplicasPath.slice(1))
  return shown && { ...encodeObject(shown), note: stored.note }
}

/** The same without marks: metadata alone is read and written, and what the object says beside is copied as it stands. */
export function plainText({ bytes, headBytes, revision, note }: Stored, to: ReportedTo): Encoded | undefined {
  const start = bytes.indexOf(METADATA) + METADATA.length
  const end = headBytes + String(revision).length
  // the store's texts have the resourceVersion last in the metadata
  const metadata = JSON.parse(`${bytes.toString('utf8', start, end)}"}`) as ObjectMeta
  const shown = reportedMetadata(metadata, to)
  if (!shown) return undefined
  const { resourceVersion: _, ...rest } = shown
  const head = `${bytes.toString('utf8', 0, start)}${JSON.stringify(rest).slice(0, -1)},"resourceVersion":"`
  return { head, tail: bytes.toString('utf8', end), note }
}

/** As each of several spaces sees it. */
export function shownTo(stored: Stored, sources: Sources, asked: Asked, revision = stored.revision): Shown[] {
  const found: Shown[] = []
  for (const source of sources.values()) {
    const shown = shownOf(stored, source, asked, revision)
    if (shown) found.push({ to: source.to, stored: shown })
  }
  return found
}

export function objectKeyOf({ key }: Pick<Stored, 'key'>): string {
  return objectKey(key, key.namespace, key.name)
}

/** What the store itself can look up of a selection: readers see more of an object than its selectors do. */
export function lookedUp({ name, namespace }: Selection): Selection {
  return { ...EVERYTHING, ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) }
}

/** Where an object of a name stands among those of the same name. */
export function placeOf({ location, space }: ReportedTo): string {
  return `${location} ${space}`
}
