/** Objects of mailboxes as spaces see them: the one place where a report is made of a stored object. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type ReportedTo, reportedObject } from '../../placement/content/reportedObject.ts'
import { objectKey } from '../../placement/words/names.ts'
import type { Revision, Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import { shownAs } from '../registry/eventSelector.ts'
import { EVERYTHING, type Selection } from '../registry/selection.ts'
import type { Source } from './reportedSources.ts'

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
  { to, marks }: Source,
  { type, selection = EVERYTHING }: Asked,
  revision: Revision = stored.revision,
): Stored | undefined {
  const own = marks(objectKeyOf(stored))
  const shown = reportedObject(decodeObject(stored), to, own)
  if (!shown) return undefined
  if (!selection.everything) {
    const asked = reportedObject(shownAs(stored, type, decodeObject), to, own)
    if (!asked || !selection.matches(asked)) return undefined
  }
  const key = { ...stored.key, space: to.space }
  return versionOf(key, revision, { ...encodeObject(shown), note: stored.note })
}

/** As each of several spaces sees it. */
export function shownTo(stored: Stored, sources: readonly Source[], asked: Asked, revision = stored.revision): Shown[] {
  return sources.flatMap(source => {
    const shown = shownOf(stored, source, asked, revision)
    return shown ? { to: source.to, stored: shown } : []
  })
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
