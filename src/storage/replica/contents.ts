/** The objects of a replica, whose texts lie where their writer has them, and how they get there. */
import { Bodies } from '../bodies.ts'
import { ObjectIndex } from '../objectIndex.ts'
import type { Placed } from '../objectSlots.ts'
import type { SharedStored } from '../sharedStored.ts'
import { type Key, type Revision, StorageError, type Stored } from '../store.ts'
import type { Asker } from './asks.ts'
import type { LogReader } from './logReader.ts'
import { type ReadVersion, textOf, versionsIn } from './versionRecords.ts'

export class Contents {
  readonly index = new ObjectIndex()
  readonly bodies = new Bodies()

  /** A version as it is kept here. */
  kept(version: ReadVersion, previous: Stored | undefined): Stored {
    const shared = this.#shared(version, previous)
    if (shared !== undefined) return shared
    const { revision, headBytes, note } = version
    const key = previous?.key ?? this.index.ownKey(version.key)
    return { key, revision, bytes: textOf(lasting(version)), headBytes, ...(note !== undefined && { note }) }
  }

  /** Takes a version, unless what is there is newer; nothing is made of it. */
  load(version: ReadVersion): void {
    const present = this.index.get(version.key)
    if (present !== undefined && present.revision >= version.revision) return
    const shared = this.#shared(version, present)
    const key = present?.key ?? shared?.key ?? this.index.ownKey(version.key)
    this.index.place(key, shared ?? lasting(version))
    this.bodies.replaced(shared, present)
  }

  /** Lets go of what was deleted, unless what is there is newer. */
  unload({ key, revision }: Pick<Stored, 'key' | 'revision'>): void {
    const present = this.index.get(key)
    if (present === undefined || present.revision >= revision) return
    this.index.delete(key)
    this.bodies.replaced(undefined, present)
  }

  /** The text of this version lies there now, if it is the current one. */
  move(version: ReadVersion): void {
    const present = this.index.get(version.key)
    if (present?.revision === version.revision) this.index.place(present.key, lasting(version))
  }

  /** Where its writer has a text once for many, it is so here. */
  #shared(version: ReadVersion, previous: Stored | undefined): SharedStored | undefined {
    const { key, revision, outline } = version
    if (outline === undefined) return undefined
    const declared = this.bodies.read({ ...version, bytes: textOf(version) }, outline)
    const ownKey = previous?.key ?? this.index.ownKey(key, declared.body.name)
    return this.bodies.stored({ key: ownKey, revision }, declared)
  }
}

/** A place where nothing else will ever lie. */
function lasting(version: ReadVersion): Placed {
  if (version.isLasting) return version
  const memory = new Uint8Array(textOf(version)).buffer
  return { ...version, memory, at: 0 }
}

/**
 * Loads all objects, page by page, while others write. A page is of one instant, and the log is read up to that and no further. In the end
 * all is of the last page's instant.
 * @throws StorageError `Closed`
 */
export async function load(
  contents: Contents,
  reader: LogReader,
  asker: Pick<Asker, 'ask'>,
): Promise<{ revision: Revision; compactedRevision: Revision }> {
  let forgotten = 0
  const visitor = {
    version: (type: 'put' | 'delete', version: ReadVersion): void =>
      type === 'put' ? contents.load(version) : contents.unload(version),
    moved: (version: ReadVersion): void => contents.move(version),
    packed: (): void => {},
    compacted: (revision: Revision): void => {
      forgotten = revision
    },
    closed: (): void => {
      throw new StorageError('Closed', 'the store is closed')
    },
  }
  let after: Key | undefined
  for (;;) {
    const { versions, slabs, revision, compactedRevision, more } = await asker.ask('objects', { after })
    for (const version of versionsIn(versions, slabs)) {
      contents.load(version)
      after = version.key
    }
    reader.read(visitor, revision)
    if (!more) return { revision, compactedRevision: Math.max(compactedRevision, forgotten) }
  }
}
