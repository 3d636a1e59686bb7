/**
 * The mailboxes as they are: which Workspaces are ready, and for each an index of the projected objects inside, fed by one
 * stream per mailbox. What happens in a mailbox (somebody edits or deletes a copy, a kind begins to be served, a status
 * arrives) is told to the listener.
 */
import { type GroupVersionResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import {
  isProjected,
  MAILBOX_NAME,
  PROJECTED_LABEL,
  SYNC_TARGET_NAME_ANNOTATION,
  SYNCER_CONFIG_NAME,
  SYNCER_CONFIGS,
  UPSYNCED,
  UPSYNCED_FOR,
} from '../../apimachinery/placement.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import { type Clock, systemClock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import { StreamSource } from '../../client/streamSource.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { NOTHING_REFUSED, type Refused, refusedIn, sameRefused } from './clusterRefusals.ts'
import { CopyHealth } from './copyHealth.ts'
import { CopyNames } from './copyNames.ts'
import { CopyTimings, type Stages } from './copyTimings.ts'
import { DesiredContent, type DesiredContentDeps } from './desiredContent.ts'
import { definedBy } from './eligibility.ts'
import { type CopyLikeness, type Likened, Likenesses } from './likenesses.ts'
import { namespaceKey, objectKey, parseObjectKey, resourceKey } from './names.ts'
import { NamespacedMap } from './namespacedMap.ts'
import type { ObjectCache } from './objectCache.ts'
import { ownerOf } from './projection.ts'
import type { UpsyncShare } from './upsyncShare.ts'

/** What is remembered of each projected object. */
export interface CopyFact {
  readonly resource: GroupVersionResource
  readonly uid: string
  readonly resourceVersion: string
  readonly terminating: boolean
  /** Id of the space whose object it is; several, comma-separated, where an earlier release merged them; `''`: nobody's. */
  readonly owner: string
  /** Whether this version is known to say what we want: then its event is no news. */
  readonly settled: boolean
  /** As a snapshot told it. */
  readonly likeness?: CopyLikeness | undefined
}

/** Ids in {@link CopyFact.owner}. */
export function ownersIn(owner: string): string[] {
  return owner === '' ? [] : owner.split(',')
}

/** Which generation of an owner's object a copy says. */
export interface Meaning {
  readonly owner: string
  readonly uid: string
  /** Of the copy; a later one says the same, or is put right. */
  readonly generation: number
  /** Of the owner's object. */
  readonly source: number
}

/** What is remembered of each object that the syncer carried up. */
export interface CarriedFact {
  readonly resource: GroupVersionResource
  readonly uid: string
  /** Who asked for it, as the object says. */
  readonly askedBy: string
}

export interface MailboxListener {
  /** The mailbox is ready and all that it holds is known (again). */
  synced(mailbox: string): void
  /** A projected object changed by other hands than ours, or an object lost the label, or is gone. */
  changed(mailbox: string, key: string): void
  /** A projected object's status may have changed. */
  reported(mailbox: string, key: string): void
  /** Its syncer has looked at the newest that an object asks for. */
  processed(mailbox: string, key: string): void
  /** A projected object is healthy, or otherwise than before. */
  healthChanged(mailbox: string, key: string): void
  configChanged(mailbox: string): void
  /** Its cluster refuses something else than before. */
  clusterRefuses(mailbox: string): void
  /** An object was carried up, or it says another thing about who asked for it. */
  carriedUp(mailbox: string, key: string): void
  /** The mailbox defines (again) a kind. */
  served(mailbox: string, resource: string): void
  namespaceGone(mailbox: string, namespace: string): void
}

export interface MailboxesDeps {
  client: Client
  /** Is told what their snapshots tell. */
  guard?: KeyGuard | undefined
  logger: Logger
  clock?: Clock
  random?: () => number
  signal: AbortSignal
  cache: ObjectCache
  /** Whose slices of the loop's time all their streams are taken in. */
  turns: WorkTurns
  /** Where is counted how long copies take. */
  stages?: Stages
}

/** A start opens thousands of streams at once: what says what they are for does not wait for all of them. */
const TURNS = 'mailboxes'

export type MailboxTiming = DesiredContentDeps

export class Mailbox {
  readonly name: string
  /** Logical-cluster id. */
  readonly space: string
  /** Of the SyncTarget that it is for; `''` where its Workspace does not say. */
  readonly targetName: string
  readonly copies = new NamespacedMap<CopyFact>()
  readonly carried = new NamespacedMap<CarriedFact>()
  /** What is in its Namespaces that neither the center nor the syncer put there, nor the server itself. */
  readonly others = new NamespacedMap<true>()
  readonly namespaces = new Set<string>()
  /** Which of the copies changed in what they ask for, until the cluster has them. */
  readonly desired: DesiredContent
  readonly timings: CopyTimings | undefined
  readonly health = new CopyHealth()
  /** What copies say whose state a space wants back, as they were written or found right in this run. */
  readonly meanings = new Map<string, Meaning>()
  /** Why the mailbox does not take an object, for those that it refused when last asked. */
  readonly refused = new Map<string, string>()
  /** How often an object was tried whose kind it does not serve, for those that wait. */
  readonly unserved = new Map<string, number>()
  /** What its cluster refuses of what is in it. */
  clusterRefuses: Refused = NOTHING_REFUSED
  /** What its syncer was last asked to carry up. */
  share: UpsyncShare | undefined
  /** Owners of copies that other hands have taken away, and that are to be made again. */
  readonly bereft = new Map<string, string>()
  /** What is being written by us, and what the mailbox's stream has told of it meanwhile: news only if it is another's. */
  readonly #writing = new Map<string, StreamEvent | undefined>()
  synced = false
  /** While a snapshot is told that is not the first: what was known before and was not told yet. */
  #untold: Set<string> | undefined
  #hasConfig = false
  /** The mailbox's stream has told everything up to here; without end while a snapshot is being told. */
  told = Number.POSITIVE_INFINITY

  constructor(name: string, space: string, targetName = '', timing: MailboxTiming = {}) {
    this.name = name
    this.timings = timing.timings
    this.desired = new DesiredContent(timing)
    this.space = space
    this.targetName = targetName
  }

  /** Ids of the spaces that own the object there by what was written last; several only where an earlier release merged them. */
  ownersOf(key: string): string[] {
    return ownersIn(this.copies.get(key)?.owner ?? this.bereft.get(key) ?? '')
  }

  /**
   * Whether what a read or write of ours answered is news: an answer may arrive after the stream has told of what came later,
   * and must not bring back what is gone.
   */
  isNews({ metadata }: KubeObject): boolean {
    return Number(metadata.resourceVersion) > this.told
  }

  /** A snapshot begins: what is known and not part of it is gone. */
  beginSnapshot(): void {
    this.told = Number.POSITIVE_INFINITY
    const namespaces = [...this.namespaces].map(namespaceKey)
    const known = [...this.copies.keys(), ...this.carried.keys(), ...this.others.keys(), ...namespaces]
    this.#untold = new Set(this.#hasConfig ? [...known, SYNCER_CONFIG_KEY] : known)
  }

  /** Everything was told. What is gone since the last time. */
  endSnapshot(revision: number): Iterable<string> {
    const gone = this.#untold ?? []
    this.#untold = undefined
    this.told = revision
    return gone
  }

  /** An object of the mailbox was told of. */
  tell(key: string, isThere: boolean): void {
    this.#untold?.delete(key)
    if (key === SYNCER_CONFIG_KEY) this.#hasConfig = isThere
  }

  /** Whether a snapshot is under way. */
  get isBeingTold(): boolean {
    return this.told === Number.POSITIVE_INFINITY
  }

  /** A write of ours begins. */
  begin(key: string): void {
    if (!this.#writing.has(key)) this.#writing.set(key, undefined)
  }

  /** Whether a change waits until a write of ours is through, and with it what is known to be ours. */
  awaits(key: string, event: StreamEvent): boolean {
    if (!this.#writing.has(key)) return false
    this.#writing.set(key, event)
    return true
  }

  /** Whether the stream has told just what a write of ours made: then there is nothing more to be told of it. */
  hasTold(key: string, resourceVersion: string): boolean {
    const heard = this.#writing.get(key)
    if (heard === undefined || String(heard.revision) !== resourceVersion) return false
    this.#writing.set(key, undefined)
    return true
  }

  /** The write is over: what was told meanwhile that was not ours. */
  end(key: string): StreamEvent | undefined {
    const heard = this.#writing.get(key)
    this.#writing.delete(key)
    return heard
  }

  /** The same, before a later change of the object is looked at. */
  overtake(key: string): StreamEvent | undefined {
    const heard = this.#writing.get(key)
    if (heard !== undefined) this.#writing.set(key, undefined)
    return heard
  }

  /** Forgets a copy that was found gone, unless the stream has told of a newer one meanwhile. */
  forget(key: string, known: CopyFact | undefined): void {
    if (known && this.copies.get(key) === known) this.copies.delete(key)
  }
}

interface Running {
  readonly mailbox: Mailbox
  readonly stop: AbortController
  readonly done: Promise<void>
}

export class Mailboxes {
  readonly #deps: MailboxesDeps
  readonly #listener: MailboxListener
  readonly #running = new Map<string, Running>()
  readonly #ending = new Set<Promise<void>>()
  readonly #likenesses = new Likenesses()
  readonly #names = new CopyNames()

  constructor(deps: MailboxesDeps, listener: MailboxListener) {
    this.#deps = deps
    this.#listener = listener
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

  /** Takes in one event of the Workspaces that are children of the mailbox parent. */
  workspaceChanged(event: StreamEvent): void {
    if (!MAILBOX_NAME.test(event.name)) return
    const { spec, status, metadata } = event.object
    const cluster = isRecord(spec) && typeof spec.cluster === 'string' ? spec.cluster : ''
    const ready =
      event.type !== 'DELETED' &&
      metadata.deletionTimestamp === undefined &&
      cluster !== '' &&
      isRecord(status) &&
      status.phase === 'Ready'
    if (ready && this.#running.get(event.name)?.mailbox.space === cluster) return
    this.close(event.name)
    if (ready) this.#open(event.name, cluster, metadata.annotations?.[SYNC_TARGET_NAME_ANNOTATION] ?? '')
  }

  close(name: string): void {
    const running = this.#running.get(name)
    if (!running) return
    this.#running.delete(name)
    running.stop.abort()
    this.#ending.add(running.done)
    void running.done.finally(() => this.#ending.delete(running.done))
  }

  /** A write of ours into the mailbox is over: what was told of the object meanwhile is looked at now, unless it is that. */
  written(mailbox: Mailbox, key: string): void {
    const heard = mailbox.end(key)
    if (heard) this.#look(mailbox, key, heard)
  }

  /** What a write of ours made, of which the stream has told before it was answered: what follows from that beside its content. */
  toldEarly(mailbox: Mailbox, key: string, object: KubeObject): void {
    mailbox.others.delete(key)
    mailbox.carried.delete(key)
    this.#noteState(mailbox, key, object)
  }

  /** What mailboxes have told was looked at: what of it was kept for that is forgotten, unless one is telling. */
  looked(): void {
    for (const mailbox of this.all()) if (mailbox.isBeingTold) return
    this.#likenesses.clear()
  }

  /** Resolves when every stream has ended. */
  async stop(): Promise<void> {
    for (const name of [...this.#running.keys()]) this.close(name)
    await Promise.all(this.#ending)
  }

  #open(name: string, space: string, targetName: string): void {
    const { client, guard, logger, turns, clock, random, signal } = this.#deps
    const { stages } = this.#deps
    const mailbox = new Mailbox(name, space, targetName, {
      left: key => this.#listener.processed(name, key),
      now: () => (clock ?? systemClock).now(),
      ...(stages && { timings: new CopyTimings(clock ?? systemClock, stages) }),
    })
    const stop = new AbortController()
    const source = new StreamSource({
      client,
      space,
      guard,
      logger,
      turns,
      owner: TURNS,
      ...(clock && { clock }),
      ...(random && { random }),
      handler: {
        begin: () => mailbox.beginSnapshot(),
        change: event => this.#change(mailbox, event),
        synced: revision => {
          for (const key of mailbox.endSnapshot(revision)) {
            mailbox.overtake(key)
            this.#gone(mailbox, key)
          }
          mailbox.synced = true
          this.#listener.synced(name)
        },
      },
    })
    const done = source.run(AbortSignal.any([signal, stop.signal]))
    this.#running.set(name, { mailbox, stop, done })
  }

  #change(mailbox: Mailbox, event: StreamEvent): void {
    const { resource, namespace, name, type, revision } = event
    if (revision > mailbox.told) mailbox.told = revision
    const id = resourceKey(resource)
    const key = objectKey(resource, namespace, name)
    mailbox.tell(key, type !== 'DELETED')
    const before = mailbox.overtake(key)
    if (before) this.#look(mailbox, key, before)
    if (type === 'DELETED') {
      this.#gone(mailbox, key)
      return
    }
    const isPlain = id !== NAMESPACES_ID && id !== CRDS_ID
    if (isPlain && mailbox.awaits(key, event)) return
    const likened = isPlain && mailbox.isBeingTold ? this.#likenesses.of(event) : undefined
    if (likened && !mailbox.carried.has(key)) this.#take(mailbox, key, event, likened)
    else this.#look(mailbox, key, event)
  }

  /** Takes in what a snapshot tells of a copy, by what it is like: all of it is looked at when the snapshot is complete. */
  #take(mailbox: Mailbox, key: string, event: StreamEvent, { likeness, uid, hasStatus }: Likened): void {
    const { revision } = event
    mailbox.others.delete(key)
    const known = mailbox.copies.get(key)
    const resourceVersion = String(revision)
    const owner = known?.owner || mailbox.bereft.get(key) || likeness.owner
    if (!known || known.uid !== uid) mailbox.desired.changed(key, revision)
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
    this.#listener.reported(mailbox.name, key)
    if (mailbox.health.forget(key)) this.#listener.healthChanged(mailbox.name, key)
  }

  /** Takes in a version of an object of the mailbox. */
  #look(mailbox: Mailbox, key: string, event: StreamEvent): void {
    const { resource, namespace, name, revision } = event
    const id = resourceKey(resource)
    if (key === SYNCER_CONFIG_KEY) {
      this.#listener.configChanged(mailbox.name)
      this.#noteRefused(mailbox, event)
    }
    if (id === NAMESPACES_ID) {
      if (event.object.metadata.deletionTimestamp === undefined) mailbox.namespaces.add(name)
      else mailbox.namespaces.delete(name)
    }
    if (id === CRDS_ID) {
      for (const gr of definedBy(resource, event.object)) this.#listener.served(mailbox.name, resourceKey(gr))
    }
    if (event.mentions(PROJECTED_LABEL) || event.mentions(UPSYNCED)) mailbox.others.delete(key)
    else if (namespace !== '' && !isServersOwn(id, name)) mailbox.others.set(key, true)
    if (event.mentions(UPSYNCED) || mailbox.carried.has(key)) this.#noteCarried(mailbox, key, event)
    const known = mailbox.copies.get(key)
    if (!known && !event.mentions(PROJECTED_LABEL)) return
    const { object } = event
    const { uid = '', resourceVersion = '', deletionTimestamp } = object.metadata
    if (isProjected(object)) {
      // once known, the owner is told by our own writes alone: no hand in the mailbox gives an object away
      const owner = known?.owner || mailbox.bereft.get(key) || ownerOf(object)
      if (!known || known.uid !== uid) mailbox.desired.changed(key, revision)
      const settled = known?.resourceVersion === resourceVersion && known.settled
      const terminating = deletionTimestamp !== undefined
      const fact = { resource: this.#names.kind(resource), uid, resourceVersion, terminating, owner, settled }
      mailbox.copies.set(known ? key : this.#names.key(key), fact)
      this.#deps.cache.set(mailbox.space, key, object)
      if (object.status !== undefined && known && !settled) mailbox.timings?.returned(key)
      this.#noteState(mailbox, key, object)
      // all that a snapshot tells is looked at when it is complete
      if (settled || mailbox.isBeingTold) return
    } else {
      if (!known) return
      mailbox.health.forget(key)
      mailbox.bereft.set(key, known.owner)
      mailbox.copies.delete(key)
    }
    this.#listener.changed(mailbox.name, key)
  }

  /** Whoever looks at the state of copies is told of this one's. */
  #noteState(mailbox: Mailbox, key: string, object: KubeObject): void {
    this.#listener.reported(mailbox.name, key)
    if (mailbox.health.note(key, parseObjectKey(key), object)) this.#listener.healthChanged(mailbox.name, key)
  }

  #noteRefused(mailbox: Mailbox, event: StreamEvent): void {
    const refused = event.mentions('"refused"') ? refusedIn(event.object) : NOTHING_REFUSED
    if (sameRefused(mailbox.clusterRefuses, refused)) return
    mailbox.clusterRefuses = refused
    this.#listener.clusterRefuses(mailbox.name)
  }

  #noteCarried(mailbox: Mailbox, key: string, { object, resource }: StreamEvent): void {
    const { uid = '', annotations = {} } = object.metadata
    if (annotations[UPSYNCED] === undefined || isProjected(object)) {
      mailbox.carried.delete(key)
      return
    }
    const before = mailbox.carried.get(key)
    const askedBy = annotations[UPSYNCED_FOR] ?? ''
    if (before?.uid === uid && before.askedBy === askedBy) return
    mailbox.carried.set(key, { resource, uid, askedBy })
    this.#listener.carriedUp(mailbox.name, key)
  }

  #gone(mailbox: Mailbox, key: string): void {
    const { namespace, name } = parseObjectKey(key)
    this.#deps.cache.delete(mailbox.space, key)
    mailbox.meanings.delete(key)
    mailbox.carried.delete(key)
    mailbox.others.delete(key)
    mailbox.desired.gone(key)
    mailbox.health.forget(key)
    if (key === SYNCER_CONFIG_KEY) this.#listener.configChanged(mailbox.name)
    if (key === namespaceKey(name)) {
      mailbox.namespaces.delete(name)
      this.#listener.namespaceGone(mailbox.name, name)
    }
    const known = mailbox.copies.get(key)
    if (known) {
      mailbox.bereft.set(key, known.owner)
      mailbox.copies.delete(key)
      this.#listener.changed(mailbox.name, key)
    }
    const around = namespaceKey(namespace)
    if (namespace !== '' && mailbox.copies.get(around)?.owner === '' && isEmptyIn(mailbox, namespace))
      this.#listener.changed(mailbox.name, around)
  }
}

/** Whether nothing is in a Namespace of the mailbox but what the server puts into each. */
export function isEmptyIn({ copies, carried, others }: Mailbox, namespace: string): boolean {
  return !copies.hasIn(namespace) && !carried.hasIn(namespace) && !others.hasIn(namespace)
}

function isServersOwn(resource: string, name: string): boolean {
  if (resource === '|serviceaccounts') return name === 'default'
  if (resource === '|configmaps') return name === 'kube-root-ca.crt'
  return resource === '|events' || resource === 'events.k8s.io|events'
}

const NAMESPACES_ID = resourceKey(NAMESPACES)
const CRDS_ID = resourceKey(CRDS)
const SYNCER_CONFIG_KEY = objectKey(SYNCER_CONFIGS, '', SYNCER_CONFIG_NAME)
