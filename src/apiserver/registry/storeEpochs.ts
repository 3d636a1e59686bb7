/**
 * The lives of the store: each process that opened it, and at which revision. A cursor has a meaning only in the history that it comes
 * from. When a backup replaces a store, the revisions behind it are given again, to other writes. Only the epoch of a cursor decides which
 * were meant.
 *
 * An object like others keeps them, in a space that nobody reaches. It goes with a backup. Later writes of an epoch are on disk only behind
 * it, so none waits for it.
 */
import { randomUUID } from 'node:crypto'
import { isRecord } from '../../apimachinery/object.ts'
import type { Key, Mutation, Revision, Store, Stored } from '../../storage/store.ts'
import { accepted } from './accepted.ts'
import { encodeObject } from './codec.ts'

interface Epoch {
  readonly id: string
  /** The store's revision when it began, where the one before it ended. */
  readonly after: Revision
  /** The life is none of a process: the store was made of an archive, which shows it as of `after`. */
  readonly restored?: Restored
}

/** The store was made of an archive; clusters may hold what it does not know. */
export interface Restored {
  /** RFC 3339: of the archive's snapshot, and of the restore. */
  readonly takenAt: string
  readonly restoredAt: string
  /** The administrator knows what is missing: clusters need to keep nothing more for that. */
  readonly isSettled?: boolean
}

/** No cursor lives as long as so many starts and the history that is kept. */
const KEPT = 200

const KEY: Key = { space: 'store', group: '', resource: 'epochs', namespace: '', name: 'epochs' }

export class StoreEpochs {
  /** The life that is going on. */
  readonly current: string
  /** Called when a restore is settled. */
  onSettled = (): void => {}
  #epochs: readonly Epoch[]
  readonly #store: Pick<Store, 'revision' | 'update'>

  private constructor(store: Pick<Store, 'revision' | 'update'>, epochs: readonly Epoch[]) {
    this.#store = store
    this.#epochs = epochs
    this.current = epochs.at(-1)!.id
  }

  /** Begins one. `failed` gets the reason why later ones will not know it. */
  static async begin(
    store: Pick<Store, 'revision' | 'get' | 'update'>,
    failed: (error: unknown) => void,
    id: string = randomUUID(),
  ): Promise<StoreEpochs> {
    const before = epochsIn(await store.get(KEY))
    const epochs = kept([...before, { id, after: store.revision }])
    store
      .update(KEY, () => put(epochs))
      .then(outcome => {
        if (!outcome.ok) failed(new Error(outcome.refused.message))
      })
      .catch(failed)
    return new StoreEpochs(store, epochs)
  }

  /** For a store just made of an archive: revisions of earlier lives beyond `after` belong to another history. */
  static async restored(store: Pick<Store, 'update'>, after: Revision, restored: Restored): Promise<void> {
    const outcome = await store.update(KEY, stored => put([...epochsIn(stored), { id: randomUUID(), after, restored }]))
    if (!outcome.ok) throw new Error(outcome.refused.message)
  }

  /** Those that are known to who follows the process that began the life `id`. */
  static async following(store: Pick<Store, 'revision' | 'get' | 'update'>, id: string): Promise<StoreEpochs> {
    const known = epochsIn(await store.get(KEY))
    // it may not be on disk yet
    return new StoreEpochs(store, known.at(-1)?.id === id ? known : [...known, { id, after: store.revision }])
  }

  /** The newest restore, until the administrator settles it. */
  get restored(): (Restored & { readonly id: string }) | undefined {
    const { id, restored } = this.#epochs.findLast(epoch => epoch.restored !== undefined) ?? {}
    return id !== undefined && restored !== undefined && !restored.isSettled ? { id, ...restored } : undefined
  }

  /** Ends {@link restored}, on disk when this resolves. @throws StatusError where the store refuses the write */
  async settle(): Promise<void> {
    const { restored } = this
    if (restored === undefined) return
    const settled = ({ restored, ...epoch }: Epoch): Epoch =>
      restored === undefined ? epoch : { ...epoch, restored: { ...restored, isSettled: true } }
    accepted(await this.#store.update(KEY, stored => put(epochsIn(stored).map(settled))))
    this.#epochs = this.#epochs.map(settled)
    this.onSettled()
  }

  /** Whether the history of a former epoch up to a revision is part of this store's. */
  hold(id: string, revision: Revision): boolean {
    const at = this.#epochs.findIndex(epoch => epoch.id === id)
    return at >= 0 && revision <= (this.#epochs[at + 1]?.after ?? this.#store.revision)
  }
}

function put(epochs: readonly Epoch[]): Mutation {
  const object = { apiVersion: 'v1', kind: 'StoreEpochs', metadata: { name: KEY.name }, epochs: kept(epochs) }
  return { type: 'put', text: encodeObject(object) }
}

/** A restore stays until it is settled, however often the server starts. */
function kept(epochs: readonly Epoch[]): Epoch[] {
  const first = epochs.length - KEPT
  return epochs.filter(({ restored }, i) => i >= first || (restored !== undefined && !restored.isSettled))
}

function epochsIn(stored: Stored | undefined): Epoch[] {
  if (!stored) return []
  const { epochs } = JSON.parse(stored.bytes.toString()) as { epochs?: unknown }
  return Array.isArray(epochs) ? epochs.filter(isEpoch) : []
}

function isEpoch(value: unknown): value is Epoch {
  return isRecord(value) && typeof value.id === 'string' && typeof value.after === 'number'
}
