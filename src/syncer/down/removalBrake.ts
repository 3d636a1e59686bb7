/**
 * The brake of a syncer. Deletions by name at the center pass. An object may be missing without a deletion, in a store of unknown origin
 * (restored from a backup, replaced, a mailbox made anew). Few such objects go. More stay in the cluster, are reported, and go when the
 * cluster's owner confirms exactly this, once. The hold ends when the mailbox holds them again. A center that reports its own restore
 * removes not even few.
 */
import { createHash } from 'node:crypto'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import { isTooMuch } from '../../placement/brake/removalLimits.ts'
import { DELETION_HELD } from '../../placement/outcome/outcome.ts'
import { CLUSTER_RECORD, CONFIRM_DELETION_ANNOTATION, isProjected } from '../../placement/words/placement.ts'
import { keyText, type MailboxMirror, type SyncKey } from '../mailbox/mirror.ts'
import type { Trouble } from '../tells/outcomes.ts'
import { ADOPTED } from '../whose/clusterRecord.ts'

const EXAMPLES = 3

interface Gone {
  readonly key: SyncKey
  /** As it was known last. */
  readonly object: Readonly<KubeObject> | undefined
}

interface RemovalBrakeDeps {
  readonly mirror: Pick<MailboxMirror, 'values'>
  /** The center was restored from an archive: however little is missing there is held. */
  readonly isRestored: () => boolean
  /** They are to be removed as if they were deleted by name. */
  readonly free: (key: SyncKey, object: Readonly<KubeObject> | undefined) => void
  /** They are to be looked at anew: {@link RemovalBrake.holdOf} answers otherwise. */
  readonly again: (key: SyncKey) => void
  /** Confirmed removals are under way: {@link CONFIRM_DELETION_ANNOTATION} has had its effect. */
  readonly obeyed: (hash: string) => void
  readonly logger: Logger
  readonly clock: Clock
}

/** Changes that come together are logged together. */
const TELL_MS = 1000

export class RemovalBrake {
  readonly #deps: RemovalBrakeDeps
  /** To be judged together. */
  readonly #coming = new Map<string, Gone>()
  readonly #held = new Map<string, Gone>()
  /** Removals before the end of the cluster's first search, which may find more of their kind. */
  #unjudged: Map<string, SyncKey> | undefined = new Map()
  #confirmed: string | undefined
  #hash: string | undefined
  #logged = ''
  #logging: (() => void) | undefined

  constructor(deps: RemovalBrakeDeps) {
    this.#deps = deps
  }

  /** Objects and holds of an earlier run are known: any other missing object was deleted by name. */
  restore(keys: Iterable<SyncKey>): void {
    this.#unjudged = undefined
    for (const key of keys) this.#held.set(keyText(key), { key, object: undefined })
    this.#changed()
  }

  /** It is missing without a deletion. To be followed by {@link judge}. */
  left(key: SyncKey, object: Readonly<KubeObject> | undefined): void {
    this.#coming.set(keyText(key), { key, object })
  }

  /** The mailbox holds it, or nothing of it is in the cluster any more. */
  over(key: SyncKey): void {
    const text = keyText(key)
    this.#coming.delete(text)
    if (this.#held.delete(text)) this.#changed()
  }

  /** All that went together is known. */
  judge(): void {
    const coming = [...this.#coming]
    this.#coming.clear()
    if (coming.length === 0) return
    const count = coming.filter(([, { key }]) => groupResourceName(key) !== 'namespaces').length
    const remains = (): boolean => remainsAnything(this.#deps.mirror)
    const isMuch = isTooMuch({ byMailbox: new Map([['', { size: count }]]), remains })
    if (this.isAdopted || !(isMuch || this.#held.size > 0 || this.#deps.isRestored())) {
      for (const [, { key, object }] of coming) this.#deps.free(key, object)
      return
    }
    for (const [text, gone] of coming) this.#held.set(text, gone)
    this.#changed()
    for (const [, { key }] of coming) this.#deps.again(key)
  }

  /** The cluster was searched for the first time, and all that it holds was judged. */
  searched(): void {
    this.judge()
    const unjudged = this.#unjudged ?? new Map<string, SyncKey>()
    this.#unjudged = undefined
    for (const key of unjudged.values()) this.#deps.again(key)
  }

  /** Whether that is over. */
  get hasSearched(): boolean {
    return this.#unjudged === undefined
  }

  /** The confirmation on the cluster's note. */
  confirmed(hash: string | undefined): void {
    this.#confirmed = hash
    this.#obey()
  }

  /** Whether an object that the mailbox does not hold is not to be touched. `undefined`: it may be removed. */
  holdOf(key: SyncKey): Trouble | 'to be judged' | undefined {
    const text = keyText(key)
    this.#unjudged?.set(text, key)
    if (this.#unjudged || this.#coming.has(text)) return 'to be judged'
    return this.#held.has(text) ? { state: 'held', reason: DELETION_HELD, message: this.#message } : undefined
  }

  /** Whether the cluster was just handed over. */
  get isAdopted(): boolean {
    return this.#confirmed === ADOPTED
  }

  keys(): SyncKey[] {
    return [...this.#held.values()].map(({ key }) => key)
  }

  end(): void {
    this.#logging?.()
  }

  #changed(): void {
    this.#hash = undefined
    this.#obey()
    if (this.#logging || this.#plan === this.#logged) return
    this.#logging = this.#deps.clock.after(TELL_MS, () => {
      this.#logging = undefined
      this.#log()
    })
  }

  #log(): void {
    if (this.#plan === this.#logged) return
    this.#logged = this.#plan
    const { logger, again } = this.#deps
    if (this.#plan === '') logger.info({}, 'nothing is kept in the cluster any more that the center does not hold')
    else logger.warn({ examples: [...this.#held.keys()].slice(0, EXAMPLES).join(', ') }, this.#message)
    // each reports the plan that is to be confirmed now
    for (const { key } of this.#held.values()) again(key)
  }

  /** Names what is held; `''` when nothing is. */
  get #plan(): string {
    this.#hash ??= this.#held.size === 0 ? '' : hashOf(this.#held.keys())
    return this.#hash
  }

  #obey(): void {
    if (this.#plan === '' || this.#confirmed !== this.#plan) return
    const hash = this.#plan
    const freed = [...this.#held.values()]
    this.#held.clear()
    this.#hash = ''
    this.#logged = ''
    this.#deps.logger.info({ count: freed.length }, 'what was held is confirmed, and is removed from the cluster')
    for (const { key, object } of freed) this.#deps.free(key, object)
    this.#deps.obeyed(hash)
  }

  get #message(): string {
    const { namespace, name } = CLUSTER_RECORD
    return (
      `${this.#held.size} objects stay in the cluster: the center does not hold them any more, and does not know that they were ` +
      `deleted; was it restored or replaced? If they shall go: kubectl -n ${namespace} annotate --overwrite configmap ${name} ` +
      `${CONFIRM_DELETION_ANNOTATION}=${this.#plan}`
    )
  }
}

/** Whether the mailbox holds anything for the cluster beside Namespaces. */
function remainsAnything(mirror: Pick<MailboxMirror, 'values'>): boolean {
  for (const { resource, object } of mirror.values())
    if (isProjected(object) && groupResourceName(resource) !== 'namespaces') return true
  return false
}

function hashOf(keys: Iterable<string>): string {
  return createHash('sha256')
    .update([...keys].sort().join('\n'))
    .digest('hex')
    .slice(0, 12)
}
