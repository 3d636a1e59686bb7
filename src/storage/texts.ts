/**
 * Versions of objects made outside the store: an object that nobody stored, or a version as it reads at another revision.
 */
import type { Encoded, Key, Revision, Stored } from './store.ts'

/** An object's text with its revision in place. */
export function versionOf(key: Key, revision: Revision, { head, tail, note }: Encoded): Stored {
  const bytes = Buffer.from(head + revision + tail)
  return { key, revision, bytes, headBytes: Buffer.byteLength(head), ...(note !== undefined && { note }) }
}

/** The same object under another revision. */
export function atRevision(stored: Stored, revision: Revision): Stored {
  const { key, bytes, headBytes } = stored
  const tail = bytes.subarray(headBytes + String(stored.revision).length)
  return {
    key,
    revision,
    bytes: Buffer.concat([bytes.subarray(0, headBytes), Buffer.from(String(revision)), tail]),
    headBytes,
  }
}

/** The same version in memory of its own: what the store or a reader of it has would be kept whole for it. */
export function apart({ key, revision, bytes, headBytes, note }: Stored): Stored {
  return { key, revision, bytes: Buffer.from(bytes), headBytes, ...(note !== undefined && { note }) }
}
