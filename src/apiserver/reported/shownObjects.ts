/** Objects of mailboxes as spaces see them: the one place where a report is made of a stored object. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import {
  type ReportedMarks,
  type ReportedTo,
  reportedMetadata,
  reportedObject,
} from '../../placement/content/reportedObject.ts'
import { objectKey } from '../../placement/words/names.ts'
import { mentions } from '../../storage/sharedStored.ts'
import type { Key, Revision, Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { metadataOf } from '../registry/decodeInSteps.ts'
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
export interface Wanted {
  readonly type: ResourceType
  /** Default: everything. */
  readonly selection?: Selection
}

/** `undefined`: it is not the space's to see, or not selected. `revision`: default, that of the object. */
export function shownOf(
  stored: Stored,
  source: Source,
  { type, selection = EVERYTHING }: Wanted,
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
  const report = own
    ? markedReport(stored, to, own, type, revision)
    : plainReport(stored, to, revision, kept.scratch.textOf(stored))
  if (report && isPlain) kept.keep(report, to)
  return report
}

function markedReport(
  stored: Stored,
  to: ReportedTo,
  marks: ReportedMarks,
  { scale }: ResourceType,
  revision: Revision,
): Stored | undefined {
  const shown = reportedObject(decodeObject(stored), to, marks, scale?.specReplicasPath.slice(1))
  return shown && versionOf(keyOf(stored, to), revision, { ...encodeObject(shown), note: stored.note })
}

/** The same without marks: metadata alone is read and written, and the bytes beside it are copied out of the text. */
export function plainReport(
  stored: Stored,
  to: ReportedTo,
  revision: Revision,
  bytes = stored.bytes,
): Stored | undefined {
  const { note } = stored
  const start = bytes.indexOf(METADATA) + METADATA.length
  const end = stored.headBytes + String(stored.revision).length
  const shown = reportedMetadata(metadataOf(stored, bytes) ?? decodeObject(stored).metadata, to)
  if (!shown) return undefined
  // the store's texts have the resourceVersion last in the metadata
  const { resourceVersion: _, ...rest } = shown
  const metadata = `${JSON.stringify(rest).slice(0, -1)},"resourceVersion":"${revision}`
  const behind = start + Buffer.byteLength(metadata)
  const report = Buffer.allocUnsafe(behind + bytes.length - end)
  bytes.copy(report, 0, 0, start)
  report.write(metadata, start)
  bytes.copy(report, behind, end)
  const headBytes = behind - String(revision).length
  return { key: keyOf(stored, to), revision, bytes: report, headBytes, ...(note !== undefined && { note }) }
}

function keyOf({ key }: Stored, { space }: ReportedTo): Key {
  return { ...key, space }
}

/** As each of several spaces sees it. */
export function shownTo(stored: Stored, sources: Sources, wanted: Wanted, revision = stored.revision): Shown[] {
  const found: Shown[] = []
  for (const source of sources.values()) {
    const shown = shownOf(stored, source, wanted, revision)
    if (shown) found.push({ to: source.to, stored: shown })
  }
  return found
}

export function objectKeyOf({ key }: Pick<Stored, 'key'>): string {
  return objectKey(key, key.namespace, key.name)
}

/** Part of a selection that the store itself can look up: readers see more of an object than its selectors do. */
export function lookedUp({ name, namespace }: Selection): Selection {
  return { ...EVERYTHING, ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) }
}

/** Where an object of a name stands among those of the same name. */
export function placeOf({ location, space }: ReportedTo): string {
  return `${location} ${space}`
}
