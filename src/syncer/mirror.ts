/**
 * The mailbox space as the syncer last saw it, with the cursor that it belongs to. Kept on disk, so that a syncer that starts
 * while the center is away still knows what its cluster shall hold, and resumes instead of reading everything again.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LogFields } from '../apimachinery/logFields.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
} from '../apimachinery/object.ts'
import type { StreamEvent } from '../client/client.ts'

export interface Mirrored {
  readonly resource: GroupVersionResource
  readonly object: Readonly<KubeObject>
}
/** Names an object on both sides. */
export interface SyncKey extends GroupResource {
  namespace: string
  name: string
}
export interface MirrorState {
  /** Name of the mailbox's Workspace; a state of release 0.1.0 does not have it. */
  mailbox: string | undefined
  /** Logical-cluster id of the mailbox; a mailbox that was made anew has another one. */
  space: string
  cursor: number
  /** The life of the center's store that the cursor belongs to; a center of an earlier release did not say. */
  epoch?: string | undefined
}

export function keyText(key: SyncKey): string {
  return `${groupResourceName(key)}|${key.namespace}|${key.name}`
}

/** For the log: the object that a line is about. */
export function fieldsOf({ group, resource, namespace, name }: SyncKey, uid?: string): LogFields {
  return { group, resource, ...(namespace && { namespace }), name, ...(uid !== undefined && { uid }) }
}

export function refOf(key: SyncKey): { namespace?: string; name: string } {
  return key.namespace === '' ? { name: key.name } : { namespace: key.namespace, name: key.name }
}

export function keyOf(resource: GroupResource, object: Readonly<KubeObject>): SyncKey {
  const { namespace = '', name = '' } = object.metadata
  return { group: resource.group, resource: resource.resource, namespace, name }
}

export class MailboxMirror {
  #objects = new Map<string, Mirrored>()

  get(key: SyncKey): Mirrored | undefined {
    return this.#objects.get(keyText(key))
  }

  values(): Iterable<Mirrored> {
    return this.#objects.values()
  }

  get size(): number {
    return this.#objects.size
  }

  apply(key: SyncKey, event: StreamEvent): void {
    if (event.type === 'DELETED') this.remove(key)
    else this.#objects.set(keyText(key), { resource: event.resource, object: slim(event.object) })
  }

  remove(key: SyncKey): void {
    this.#objects.delete(keyText(key))
  }

  /** Replaces the file as a whole; readable by its owner only, for there are Secrets in it. */
  async save(dir: string, state: MirrorState): Promise<void> {
    const path = join(dir, 'mailbox.json')
    const temporary = `${path}.new`
    const text = JSON.stringify({ format: 1, ...state, objects: [...this.#objects.values()] })
    await writeFile(temporary, text, { mode: 0o600, flush: true })
    await rename(temporary, path)
  }

  /**
   * Reads what was saved of a mailbox. `undefined` when nothing was, or only of another one; the mirror then stays as it is.
   * @throws Error when the file is there but cannot be used
   */
  async load(dir: string, mailbox: string): Promise<MirrorState | undefined> {
    let text: string
    try {
      text = await readFile(join(dir, 'mailbox.json'), 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
    const { objects, ...state } = stateIn(text)
    if (state.mailbox !== mailbox) return undefined
    this.#objects = new Map(objects.map(entry => [keyText(keyOf(entry.resource, entry.object)), entry]))
    return state
  }
}

/** The server's notes about who wrote what are of no use here and often the larger half. */
function slim(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata
  return managedFields === undefined ? object : { ...object, metadata }
}

function stateIn(text: string): MirrorState & { objects: Mirrored[] } {
  let state: unknown
  try {
    state = JSON.parse(text)
  } catch (cause) {
    // The parser's words would quote the file.
    throw new Error('it is not JSON', { cause: cause instanceof Error ? cause.name : undefined })
  }
  if (
    !isRecord(state) ||
    state.format !== 1 ||
    (state.mailbox !== undefined && typeof state.mailbox !== 'string') ||
    (state.epoch !== undefined && typeof state.epoch !== 'string') ||
    typeof state.space !== 'string' ||
    !Number.isSafeInteger(state.cursor) ||
    !Array.isArray(state.objects) ||
    !state.objects.every(isMirrored)
  )
    throw new Error('it is not a state of this release')
  const { mailbox, space, epoch, objects } = state
  return { mailbox, space, cursor: state.cursor as number, epoch, objects }
}

function isMirrored(entry: unknown): entry is Mirrored {
  if (!isRecord(entry) || !isRecord(entry.resource) || !isRecord(entry.object)) return false
  const { group, version, resource } = entry.resource
  const named = isRecord(entry.object.metadata) && typeof entry.object.metadata.name === 'string'
  return [group, version, resource].every(part => typeof part === 'string') && named
}
