/**
 * The mailbox space as the syncer last saw it, with the cursor that it belongs to. Kept on disk, so that a syncer that starts
 * while the center is away still knows what its cluster shall hold, and resumes instead of reading everything again.
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

export function keyText(key: SyncKey): string {
  return `${groupResourceName(key)}|${key.namespace}|${key.name}`
}

export class MailboxMirror {
  readonly #objects = new Map<string, Mirrored>()
  /** Kinds that the syncer never looks at would only cost memory. */
  readonly #ignored = new Set([
    'events',
    'events.events.k8s.io',
    'endpoints',
    'endpointslices.discovery.k8s.io',
    'leases.coordination.k8s.io',
    'logicalclusters.core.kcp.io',
  ])

  get(key: SyncKey): Mirrored | undefined {
    return this.#objects.get(keyText(key))
  }

  values(): Iterable<Mirrored> {
    return this.#objects.values()
  }

  get size(): number {
    return this.#objects.size
  }

  /** Takes a change in; the key it concerns, or `undefined` for kinds that are ignored. */
  apply(event: StreamEvent): SyncKey | undefined {
    if (this.#ignored.has(groupResourceName(event.resource))) return undefined
    const { group, resource } = event.resource
    const key = { group, resource, namespace: event.namespace, name: event.name }
    if (event.type === 'DELETED') this.#objects.delete(keyText(key))
    else this.#objects.set(keyText(key), { resource: event.resource, object: event.object })
    return key
  }

  remove(key: SyncKey): void {
    this.#objects.delete(keyText(key))
  }

  /** @param space guards against a state dir of another mailbox */
  async save(dir: string, space: string, cursor: number): Promise<void> {
    const path = join(dir, 'mailbox.json')
    const temporary = `${path}.new`
    const text = JSON.stringify({ format: 1, space, cursor, objects: [...this.#objects.values()] })
    await writeFile(temporary, text, { mode: 0o600, flush: true })
    await rename(temporary, path)
  }

  /** The saved cursor; `undefined` when there is no usable state, and then the mirror stays empty. */
  async load(dir: string, space: string): Promise<number | undefined> {
    let text: string
    try {
      text = await readFile(join(dir, 'mailbox.json'), 'utf8')
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      throw error
    }
    const state: unknown = JSON.parse(text)
    if (
      !isRecord(state) ||
      state.format !== 1 ||
      state.space !== space ||
      typeof state.cursor !== 'number' ||
      !Array.isArray(state.objects)
    )
      return undefined
    for (const entry of state.objects as Mirrored[]) {
      const { namespace = '', name = '' } = entry.object.metadata
      this.#objects.set(keyText({ ...entry.resource, namespace, name }), entry)
    }
    return state.cursor
  }
}
