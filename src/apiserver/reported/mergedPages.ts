/**
 * Content of several mailboxes of one kind, as one sequence in the order of (namespace, name), of one revision. A reading begins in each
 * mailbox where its part of the sequence does. It goes no further than required: a page costs a look at each mailbox.
 */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Key, Revision, Stored } from '../../storage/store.ts'
import type { KindReader } from '../registry/answeredReader.ts'
import { encodeContinue } from '../registry/continueToken.ts'
import { justBefore, keyOf } from '../registry/keys.ts'
import type { ListQuery } from '../registry/reader.ts'
import { Heap } from './heap.ts'

export interface MergedPages {
  readonly revision: Revision
  /** One for each object of each mailbox, some at a time. */
  readonly objects: AsyncIterable<readonly Stored[]>
}

export interface Begin {
  readonly namespace: string
  readonly name: string
  /** Whether an object of exactly that name counts. */
  readonly includes: (mailbox: string) => boolean
}

export interface MergedQuery {
  type: ResourceType
  mailboxes: Iterable<string>
  /** Without its continue token. */
  query: ListQuery
  /** Objects that are read of all mailboxes together at first; absent: all. */
  wanted: number | undefined
  /** `undefined`: the newest. */
  at: Revision | undefined
  /** Absent: the beginning. */
  begin: Begin | undefined
  work: Work | undefined
}

/** Objects that are handed over at once. */
const TOGETHER = 64

/** Reads a mailbox, some objects at a time. */
interface Cursor {
  readonly mailbox: string
  items: readonly Stored[]
  /** The object that is next. */
  i: number
  /** Where more begin. */
  more: string | undefined
  /** Number of wanted ones. */
  size: number | undefined
}

/** `undefined`: there is no mailbox, so there is no revision either. */
export async function mergedPages(reader: KindReader, merged: MergedQuery): Promise<MergedPages | undefined> {
  const { type, query, begin, work } = merged
  const mailboxes = [...merged.mailboxes]
  const size = merged.wanted && Math.ceil(merged.wanted / mailboxes.length)
  const heap = new Heap<Cursor>((a, b) => precedes(headOf(a).key, headOf(b).key))
  let revision: Revision | undefined
  const read = async (mailbox: string, limit: number | undefined, token: string | undefined): Promise<void> => {
    const position = token
      ? { continue: token, resourceVersion: undefined, resourceVersionMatch: undefined }
      : revision && { resourceVersion: String(revision), resourceVersionMatch: 'Exact' }
    const found = await reader.list(type, { ...query, ...position, space: mailbox, limit })
    revision ??= found.revision
    const cursor = { mailbox, items: found.items, i: 0, more: found.continue, size: limit && 2 * limit }
    if (cursor.items.length > 0) heap.add(cursor)
    else if (cursor.more) await read(mailbox, cursor.size, cursor.more)
  }
  for (const mailbox of mailboxes) {
    await read(mailbox, size, begin && tokenOf(type, mailbox, begin, revision ?? merged.at))
    if (work?.due) await work.rest()
  }
  if (revision === undefined) return undefined
  async function* objects(): AsyncGenerator<readonly Stored[]> {
    let some: Stored[] = []
    for (let cursor = heap.take(); cursor; cursor = heap.take()) {
      some.push(headOf(cursor))
      cursor.i++
      if (cursor.i < cursor.items.length) heap.add(cursor)
      else if (cursor.more) await read(cursor.mailbox, cursor.size, cursor.more)
      if (some.length < TOGETHER) continue
      yield some
      some = []
    }
    if (some.length > 0) yield some
  }
  return { revision, objects: objects() }
}

function headOf({ items, i }: Cursor): Stored {
  return items[i]!
}

function tokenOf(
  type: ResourceType,
  mailbox: string,
  { namespace, name, includes }: Begin,
  at: Revision | undefined,
): string {
  const after = includes(mailbox) && name !== '' ? justBefore(name) : name
  return encodeContinue({ at, after: keyOf(mailbox, type, namespace, after) })
}

function precedes(a: Key, b: Key): boolean {
  return a.namespace === b.namespace ? a.name < b.name : a.namespace < b.namespace
}
