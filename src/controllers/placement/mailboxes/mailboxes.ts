/**
 * The mailboxes as they are: which Workspaces are ready, and for each an index of the projected objects inside, fed by one stream per
 * mailbox. Events of a mailbox (edits and deletions of copies, newly served kinds, statuses) go to the listener and to followers of copies.
 */

import type { GroupResource, KubeObject } from '../../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../../apimachinery/resources.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { StreamEvent } from '../../../client/client.ts'
import type { Waiting } from '../../../client/setAside/intake.ts'
import { StreamSource } from '../../../client/streamSource.ts'
import { associatedWith } from '../../../placement/associated/associated.ts'
import { ownerOf } from '../../../placement/content/projection.ts'
import { associatedStatus, isUpsyncFull, NOTHING_LEFT_OUT } from '../../../placement/desks/syncerConfig.ts'
import { contentHash } from '../../../placement/outcome/contentHash.ts'
import { type HealthVerdict, healthOf } from '../../../placement/outcome/health.ts'
import { definedBy } from '../../../placement/select/eligibility.ts'
import {
  isNamespaceKey,
  namespaceKey,
  namespaceOf,
  objectKey,
  parseObjectKey,
  resourceKey,
} from '../../../placement/words/names.ts'
import {
  isProjected,
  PROJECTED_LABEL,
  UPSYNC_FULL,
  UPSYNCED,
  UPSYNCED_FOR,
} from '../../../placement/words/placement.ts'
import type { ControllerRuntime } from '../../spacesController.ts'
import type { ObjectCache } from '../join/objectCache.ts'
import type { ClaimedBy, Signals } from '../signals/signals.ts'
import { CopyTimings, type StageTimes } from './copyTimings.ts'
import { InternedNames } from './internedNames.ts'
import { type Likened, Likenesses } from './likenesses.ts'
import { isEmptyIn, Mailbox, type MailboxListener, SYNCER_CONFIG_KEY } from './mailbox.ts'

/** The runtime is that of all their streams. */
export interface MailboxesDeps extends ControllerRuntime {
  signal: AbortSignal
  cache: ObjectCache
  /** Objects for which the intake of a mailbox waits, none once it goes on. */
  waits: (mailbox: string, objects: readonly Waiting[]) => void
  /** Where is counted how long copies take. */
  stageTimes: StageTimes
}

type MailboxSignals = Pick<Signals, 'copyChanged' | 'mailboxChanged'>

/** A start opens thousands of streams at once: what says what they are for does not wait for all of them. */
const TURNS = 'mailboxes'

interface Running {
  readonly mailbox: Mailbox
  readonly stop: AbortController
  readonly done: Promise<void>
}

export class Mailboxes {
  readonly #deps: MailboxesDeps
  readonly #listener: MailboxListener
  readonly #signals: MailboxSignals
  readonly #running = new Map<string, Running>()
  readonly #ending = new Set<Promise<void>>()
  readonly #likenesses = new Likenesses()
  readonly #names = new InternedNames()
  /** The object with the latest judgement on its health. */
  #judged: { readonly object: Readonly<KubeObject>; readonly verdict: HealthVerdict; content?: string } | undefined

  constructor(deps: MailboxesDeps, listener: MailboxListener, signals: MailboxSignals) {
    this.#deps = deps
    this.#listener = listener
    this.#signals = signals
  }

  /** The mailbox, once it is ready and its content is known. */
  get(name: string): Mailbox | undefined {
    const mailbox = this.known(name)
    return mailbox?.synced ? mailbox : undefined
  }

  /** The mailbox, once it is ready, as far as its content is known. */
  known(name: string): Mailbox | undefined {
    return this.#running.get(name)?.mailbox
  }

  /** All that are ready, as far as their content is known. */
  *all(): Generator<Mailbox> {
    for (const { mailbox } of this.#running.values()) yield mailbox
  }

  /** `space`: the one that the mailbox is now; `''` while it is not ready, or when it goes. */
  setSpace(name: string, space: string): void {
    if (space && this.#running.get(name)?.mailbox.space === space) return
    this.#close(name)
    if (space) this.#open(name, space)
  }

  #close(name: string): void {
    const running = this.#running.get(name)
    if (!running) return
    this.#running.delete(name)
    running.stop.abort()
    this.#deps.waits(name, [])
    this.#ending.add(running.done)
    void running.done.finally(() => this.#ending.delete(running.done))
    this.#signals.mailboxChanged.send(name, 'closed')
  }

  /** This process's write into the mailbox is over: a foreign event of the object meanwhile is handled now. */
  written(mailbox: Mailbox, key: string): void {
    const received = mailbox.end(key)
    if (received) this.#look(mailbox, key, received)
  }

  /** Follows up on this process's write, or on a copy that was right: consequences beside its content. */
  wrote(mailbox: Mailbox, key: string, object: Readonly<KubeObject>, claims?: readonly ClaimedBy[]): void {
    mailbox.others.delete(key)
    this.#carriedGone(mailbox, key)
    this.#noteState(mailbox, key, object, claims)
  }

  /** The changes of mailboxes were handled: facts kept for that are forgotten, unless a snapshot runs. */
  looked(): void {
    for (const mailbox of this.all()) if (mailbox.isReading) return
    this.#likenesses.clear()
  }

  /** Resolves when every stream has ended. */
  async stop(): Promise<void> {
    for (const name of [...this.#running.keys()]) this.#close(name)
    await Promise.all(this.#ending)
  }

  #open(name: string, space: string): void {
    const { clock, signal, waits, stageTimes } = this.#deps
    const mailbox = new Mailbox(name, space, {
      left: key => this.#signals.copyChanged.send(name, key, 'processed'),
      now: () => clock.now(),
      timings: new CopyTimings(clock, stageTimes),
    })
    const stop = new AbortController()
    const source = new StreamSource({
      ...this.#deps,
      space,
      owner: TURNS,
      handler: {
        begin: () => mailbox.beginSnapshot(),
        change: event => this.#change(mailbox, event),
        waits: objects => waits(name, objects),
        synced: revision => {
          waits(name, [])
          for (const key of mailbox.endSnapshot(revision)) {
            mailbox.overtake(key)
            this.#gone(mailbox, key)
          }
          mailbox.synced = true
          this.#signals.mailboxChanged.send(name, 'known')
        },
      },
    })
    const done = source.run(AbortSignal.any([signal, stop.signal]))
    this.#running.set(name, { mailbox, stop, done })
    this.#signals.mailboxChanged.send(name, 'opened')
  }

  #change(mailbox: Mailbox, event: StreamEvent): void {
    const { resource, namespace, name, type, revision } = event
    if (revision > mailbox.received) mailbox.received = revision
    const id = resourceKey(resource)
    const key = objectKey(resource, namespace, name)
    mailbox.receive(key, type !== 'DELETED')
    const before = mailbox.overtake(key)
    if (before) this.#look(mailbox, key, before)
    if (type === 'DELETED') {
      this.#gone(mailbox, key)
      return
    }
    const isPlain = id !== NAMESPACES_ID && id !== CRDS_ID
    if (isPlain && (mailbox.awaits(key, event) || mailbox.isSettled(key, revision))) return
    const likened = isPlain && mailbox.isReading ? this.#likenesses.of(event) : undefined
    if (likened && !mailbox.carried.has(key)) this.#take(mailbox, key, event, likened)
    else this.#look(mailbox, key, event)
  }

  /** Takes in what a snapshot tells of a copy, by what it is like: all of it is looked at when the snapshot is complete. */
  #take(mailbox: Mailbox, key: string, event: StreamEvent, { likeness, uid, hasStatus }: Likened): void {
    const { revision } = event
    mailbox.others.delete(key)
    const known = mailbox.copies.get(key)
    const resourceVersion = String(revision)
    const owner = known?.owner || mailbox.lostOwners.get(key) || likeness.owner
    if (!known || known.uid !== uid) mailbox.changes.changed(key, revision)
    const settled = known?.resourceVersion === resourceVersion && known.settled
    const terminating = likeness.isTerminating
    const resource = this.#names.kind(event.resource)
    const fact = { resource, uid, resourceVersion, terminating, owner, settled, likeness }
    mailbox.copies.set(known ? key : this.#names.key(key), fact)
    if (hasStatus || !likeness.isHealthy) {
      if (hasStatus && known && !settled) mailbox.timings?.returned(key)
      this.#noteState(mailbox, key, event.object)
      return
    }
    this.#signals.copyChanged.send(mailbox.name, key, 'status')
    if (mailbox.health.forget(key)) this.#signals.copyChanged.send(mailbox.name, key, 'health')
  }

  /** Takes in a version of an object of the mailbox. */
  #look(mailbox: Mailbox, key: string, event: StreamEvent): void {
    const { resource, namespace, name, revision } = event
    const id = resourceKey(resource)
    if (key === SYNCER_CONFIG_KEY) {
      this.#listener.configChanged(mailbox)
      this.#noteUpsync(mailbox, event)
    }
    if (id === NAMESPACES_ID) {
      if (event.object.metadata.deletionTimestamp === undefined) mailbox.namespaces.add(name)
      else mailbox.namespaces.delete(name)
    }
    if (id === CRDS_ID) {
      for (const kind of definedBy(resource, event.object)) {
        this.#noteDefinition(mailbox, kind, event)
        this.#listener.served(mailbox, resourceKey(kind))
      }
      this.#definesOther(mailbox)
    }
    if (event.mentions(PROJECTED_LABEL) || event.mentions(UPSYNCED)) mailbox.others.delete(key)
    else if (namespace !== '' && !isServersOwn(id, name)) mailbox.others.set(key, true)
    if (event.mentions(UPSYNCED) || mailbox.carried.has(key)) this.#noteCarried(mailbox, key, event)
    const known = mailbox.copies.get(key)
    if (!known && !event.mentions(PROJECTED_LABEL)) return
    const { object } = event
    const { uid = '', resourceVersion = '', deletionTimestamp } = object.metadata
    if (isProjected(object)) {
      // once known, the owner changes by this server's own writes alone: no edit in the mailbox gives an object away
      const owner = known?.owner || mailbox.lostOwners.get(key) || ownerOf(object)
      if (!known || known.uid !== uid) mailbox.changes.changed(key, revision)
      const settled = known?.resourceVersion === resourceVersion && known.settled
      const terminating = deletionTimestamp !== undefined
      const fact = { resource: this.#names.kind(resource), uid, resourceVersion, terminating, owner, settled }
      mailbox.copies.set(known ? key : this.#names.key(key), fact)
      this.#deps.cache.set(mailbox.space, key, object)
      if (object.status !== undefined && known && !settled) mailbox.timings?.returned(key)
      this.#noteState(mailbox, key, object)
      // all that a snapshot tells is looked at when it is complete
      if (settled || mailbox.isReading) return
    } else {
      if (!known) return
      mailbox.health.forget(key)
      mailbox.lostOwners.set(key, known.owner)
      mailbox.copies.delete(key)
    }
    this.#signals.copyChanged.send(mailbox.name, key, 'content')
  }

  /** A hash takes time, so each generation has one. */
  #noteDefinition(mailbox: Mailbox, kind: GroupResource, event: StreamEvent): void {
    const { name, object } = event
    const { uid = '', generation = 0 } = object.metadata
    const known = mailbox.definitions.get(name)
    if (!event.mentions(UPSYNCED)) mailbox.definitions.delete(name)
    else if (known?.uid !== uid || known.generation !== generation)
      mailbox.definitions.set(name, { kind, uid, generation, digest: contentHash(object) })
  }

  #definesOther(mailbox: Mailbox): void {
    mailbox.definitionChanges++
    this.#listener.definesOther(mailbox)
  }

  /** Followers of copy states get this one's. */
  #noteState(mailbox: Mailbox, key: string, object: Readonly<KubeObject>, claims?: readonly ClaimedBy[]): void {
    this.#signals.copyChanged.send(mailbox.name, key, 'status', claims)
    const judged = this.#judge(key, object)
    if (mailbox.health.note(key, judged.verdict, () => (judged.content ??= contentHash(object))))
      this.#signals.copyChanged.send(mailbox.name, key, 'health')
  }

  /** Copies of equal content are written in a row. */
  #judge(key: string, object: Readonly<KubeObject>): { readonly verdict: HealthVerdict; content?: string } {
    if (this.#judged?.object !== object) this.#judged = { object, verdict: healthOf(parseObjectKey(key), object) }
    return this.#judged
  }

  #noteUpsync(mailbox: Mailbox, event: StreamEvent): void {
    const isFull = event.mentions(UPSYNC_FULL) && isUpsyncFull(event.object)
    const leftOut = event.mentions('"leftOut"') ? associatedStatus(event.object) : NOTHING_LEFT_OUT
    if (mailbox.isUpsyncFull === isFull && equalJson(mailbox.leftOut, leftOut)) return
    mailbox.isUpsyncFull = isFull
    mailbox.leftOut = leftOut
    this.#listener.upsyncFilled(mailbox)
  }

  #noteCarried(mailbox: Mailbox, key: string, { object, resource }: StreamEvent): void {
    const { uid = '', resourceVersion = '', annotations = {} } = object.metadata
    if (annotations[UPSYNCED] === undefined || isProjected(object)) {
      this.#carriedGone(mailbox, key)
      return
    }
    const before = mailbox.carried.get(key)
    const requestedBy = annotations[UPSYNCED_FOR] ?? ''
    const root = associatedWith(object)?.root
    mailbox.carry(key, { resource, uid, resourceVersion, requestedBy, root })
    this.#signals.copyChanged.send(mailbox.name, key, 'carried')
    if (before?.uid !== uid || before.requestedBy !== requestedBy || before.root !== root)
      this.#listener.carriedUp(mailbox, key)
  }

  #carriedGone(mailbox: Mailbox, key: string): void {
    if (mailbox.dropCarried(key)) this.#signals.copyChanged.send(mailbox.name, key, 'carried')
  }

  #gone(mailbox: Mailbox, key: string): void {
    this.#deps.cache.delete(mailbox.space, key)
    mailbox.generations.delete(key)
    this.#carriedGone(mailbox, key)
    mailbox.others.delete(key)
    mailbox.changes.gone(key, mailbox.received)
    mailbox.health.forget(key)
    if (key === SYNCER_CONFIG_KEY) this.#listener.configChanged(mailbox)
    if (key.startsWith(`${CRDS_ID}|`)) {
      mailbox.definitions.delete(parseObjectKey(key).name)
      this.#definesOther(mailbox)
    }
    if (isNamespaceKey(key)) {
      const { name } = parseObjectKey(key)
      mailbox.namespaces.delete(name)
      this.#listener.namespaceGone(mailbox, name)
    }
    const known = mailbox.copies.get(key)
    if (known) {
      mailbox.lostOwners.set(key, known.owner)
      mailbox.copies.delete(key)
      this.#signals.copyChanged.send(mailbox.name, key, 'content')
    }
    const namespace = namespaceOf(key)
    if (namespace === '' || !isEmptyIn(mailbox, namespace)) return
    const around = namespaceKey(namespace)
    if (mailbox.copies.has(around)) this.#signals.copyChanged.send(mailbox.name, around, 'content')
  }
}

function isServersOwn(resource: string, name: string): boolean {
  if (resource === '|serviceaccounts') return name === 'default'
  if (resource === '|configmaps') return name === 'kube-root-ca.crt'
  return resource === '|events' || resource === 'events.k8s.io|events'
}

const NAMESPACES_ID = resourceKey(NAMESPACES)
const CRDS_ID = resourceKey(CRDS)
