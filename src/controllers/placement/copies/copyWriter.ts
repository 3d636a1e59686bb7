/** Writes one object of one mailbox, and keeps what is known of the mailbox in step with what was written. */

import { isStatusError } from '../../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import type { Client, CopyCreation, CopyMade, CopyUpdate, WriteOptions } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import { refOf } from '../../../client/refOf.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import { ownerOf, passedOn, passesOn, updatedCopy } from '../../../placement/content/projection.ts'
import { neverReturns } from '../../../placement/content/returnedStatus.ts'
import { FIELD_MANAGER, isNamespaceKey, parseObjectKey } from '../../../placement/words/names.ts'
import { isProjected, PRESERVE_ANNOTATION } from '../../../placement/words/placement.ts'
import type { ObjectCache } from '../join/objectCache.ts'
import type { Source } from '../join/placementProduct.ts'
import type { CopyFact, Mailbox } from '../mailboxes/mailbox.ts'
import type { CopyContent } from './copyContents.ts'
import { UnservedKindError } from './unservedKinds.ts'

export interface Written {
  /** Whether anything was. */
  readonly wrote: boolean
  /** The copy that is as it should be. */
  readonly copy: KubeObject | undefined
}

/** A copy that is there, or may be, and what it is to say. */
interface Present {
  readonly gvr: GroupVersionResource
  readonly known: CopyFact | undefined
  readonly content: CopyContent
}

/** A copy without a claim. */
export interface GoingCopy {
  readonly mailbox: Mailbox
  readonly key: string
  /** Absent where it has gone already. */
  readonly copy: CopyFact | undefined
}

/** A copy that nothing keeps from being made, or changed: one of many that say the same. */
export interface SharedCopy {
  readonly mailbox: Mailbox
  readonly key: string
  readonly content: CopyContent
  readonly source: Source
  /** That one alone. */
  readonly claims: readonly Source[]
  /** The present copy. Absent: none. */
  readonly copy: CopyFact | undefined
}

export interface CopyWriterDeps {
  client: Client
  cache: ObjectCache
  clock: Clock
  /** A write is over, whatever became of it. */
  written: (mailbox: Mailbox, key: string) => void
  /** Follows up on a write, or on a copy that was right: consequences beside its content. A repeated call has no effect. */
  wrote: (mailbox: Mailbox, key: string, object: Readonly<KubeObject>, claims?: readonly Source[]) => void
}

export class CopyWriter {
  readonly #deps: CopyWriterDeps

  constructor(deps: CopyWriterDeps) {
    this.#deps = deps
  }

  /** @throws UnservedKindError */
  async write(mailbox: Mailbox, key: string, gvr: GroupVersionResource, content: CopyContent): Promise<Written> {
    const known = mailbox.copies.get(key)
    mailbox.begin(key)
    try {
      if (!known) {
        try {
          return { wrote: true, copy: await this.#make(mailbox, key, gvr, content) }
        } catch (error) {
          if (!isStatusError(error, 'AlreadyExists')) throw error
        }
      }
      return await this.#write(mailbox, key, { gvr, known, content })
    } finally {
      this.#deps.written(mailbox, key)
    }
  }

  /** Many, as one write; what is made or changed, at its index. Other is to be written by itself. */
  async writeTogether(copies: readonly SharedCopy[]): Promise<readonly (CopyMade | undefined)[]> {
    const { written, wrote } = this.#deps
    for (const { mailbox, key } of copies) {
      mailbox.begin(key)
      mailbox.changes.begin(key)
    }
    try {
      const made = await this.#storeTogether(copies)
      for (let i = 0; i < copies.length; i++) {
        const one = made[i]
        if (typeof one !== 'object') continue
        const { mailbox, key, source, claims } = copies[i]!
        const { uid, resourceVersion, like } = one
        mailbox.changes.changed(key, Number(resourceVersion))
        if (!mailbox.hasReceived(key, resourceVersion) && Number(resourceVersion) <= mailbox.received) continue
        const { resource } = source.fact
        const owner = source.space
        mailbox.copies.set(key, { resource, uid, resourceVersion, terminating: false, owner, settled: true })
        wrote(mailbox, key, like, claims)
      }
      return made
    } finally {
      for (const { mailbox, key } of copies) {
        mailbox.changes.end(key)
        written(mailbox, key)
      }
    }
  }

  async #storeTogether(copies: readonly SharedCopy[]): Promise<readonly (CopyMade | undefined)[]> {
    const { client } = this.#deps
    const news = copies.filter(({ copy }) => !copy)
    const changes = copies.filter(({ copy }) => copy)
    const [made, changed] = await Promise.all([
      news.length > 0 ? client.createCopies?.(news.map(creationOf)) : undefined,
      changes.length > 0 ? client.updateCopies?.(changes.map(updateOf)) : undefined,
    ])
    if (changes.length === 0) return made ?? []
    const [ofNews, ofChanges] = [made?.values(), changed?.values()]
    return copies.map(({ copy }) => (copy ? ofChanges : ofNews)?.next().value)
  }

  /** Brings up to date what is there. */
  async #write(mailbox: Mailbox, key: string, { gvr, known, content }: Present): Promise<Written> {
    const copy = await this.#current(mailbox, key, gvr, known)
    if (!copy) {
      mailbox.forget(key, known)
      return { wrote: true, copy: await this.#make(mailbox, key, gvr, content) }
    }
    if (copy.metadata.deletionTimestamp !== undefined) return { wrote: false, copy: undefined } // made anew when it is gone
    const body = updatedCopy(content.projection, copy)
    const present = { gvr, known, content }
    const isPassedOn = !neverReturns(gvr) && passesOn(content.projection, copy)
    const update = (changed: KubeObject) =>
      isPassedOn ? this.#passOn(mailbox, key, present, changed) : this.#update(mailbox, key, present, changed)
    const right = body ? await mailbox.changes.write(key, () => update(body)) : copy
    this.#settle(mailbox, key, gvr, right)
    return { wrote: body !== undefined, copy: right }
  }

  async #make(
    mailbox: Mailbox,
    key: string,
    gvr: GroupVersionResource,
    { body, isShared }: CopyContent,
  ): Promise<KubeObject> {
    const { changes } = mailbox
    changes.begin(key)
    try {
      const copy = await this.#deps.client
        .in(mailbox.space)
        .create(gvr, body, { fieldManager: FIELD_MANAGER, shared: isShared })
      changes.changed(key, Number(copy.metadata.resourceVersion))
      this.#settle(mailbox, key, gvr, copy)
      return copy
    } catch (error) {
      // what is missing has no name: it is no Namespace, but the kind
      if (!isStatusError(error, 'NotFound') || error.details?.name) throw error
      throw new UnservedKindError(gvr, { cause: error })
    } finally {
      changes.end(key)
    }
  }

  /** The new owner and the end of earlier reports become known together. */
  async #passOn(mailbox: Mailbox, key: string, present: Present, body: KubeObject): Promise<KubeObject> {
    const now = timestamp(new Date(this.#deps.clock.now()))
    return await this.#update(mailbox, key, present, passedOn(body, now), { withStatus: true })
  }

  async #update(
    mailbox: Mailbox,
    key: string,
    { gvr, known, content }: Present,
    body: KubeObject,
    how: Pick<WriteOptions, 'shared' | 'withStatus'> = { shared: content.isShared },
  ): Promise<KubeObject> {
    const options = { fieldManager: FIELD_MANAGER, ...how }
    try {
      return await this.#deps.client.in(mailbox.space).update(gvr, body, options)
    } catch (error) {
      // what we remembered is old: the retry reads anew
      this.#deps.cache.delete(mailbox.space, key)
      if (isStatusError(error, 'NotFound')) mailbox.forget(key, known)
      throw error
    }
  }

  async #current(
    mailbox: Mailbox,
    key: string,
    gvr: GroupVersionResource,
    known: CopyFact | undefined,
  ): Promise<KubeObject | undefined> {
    const cached = known && this.#deps.cache.get(mailbox.space, key, known.resourceVersion)
    // a copy made at another version of its kind is read again at ours
    if (cached && known.resource.version === gvr.version) return cached
    return await unlessGone(this.#deps.client.in(mailbox.space).get(gvr, refOf(parseObjectKey(key))))
  }

  #settle(mailbox: Mailbox, key: string, resource: GroupVersionResource, object: KubeObject): void {
    const { uid = '', resourceVersion = '', deletionTimestamp } = object.metadata
    const owner = ownerOf(object)
    const isStreamed = mailbox.hasReceived(key, resourceVersion)
    if (!isStreamed && !mailbox.isNews(object)) {
      const known = mailbox.copies.get(key)
      if (known?.uid !== uid) return
      const settled = known.settled || known.resourceVersion === resourceVersion
      if (settled !== known.settled || owner !== known.owner) mailbox.copies.set(key, { ...known, owner, settled })
      return
    }
    const terminating = deletionTimestamp !== undefined
    mailbox.copies.set(key, { resource, uid, resourceVersion, terminating, owner, settled: true })
    this.#deps.cache.set(mailbox.space, key, object)
    this.#deps.wrote(mailbox, key, object)
    if (isNamespaceKey(key)) mailbox.namespaces.add(object.metadata.name ?? '')
  }

  /** Deletes a copy. `isPreserved`: its cluster is to keep what it has. */
  async remove(mailbox: Mailbox, key: string, copy: CopyFact, isPreserved: boolean): Promise<void> {
    const { uid, resource } = copy
    try {
      const resourceVersion = isPreserved ? await this.#preserve(mailbox, key, copy) : copy.resourceVersion
      // what was reported below the copy goes with it, whatever kind it is
      const options = { propagationPolicy: 'Background', preconditions: { uid, resourceVersion } } as const
      await this.#deps.client.in(mailbox.space).delete(resource, refOf(parseObjectKey(key)), options)
      this.#deleted(mailbox, key, copy)
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return
      if (isStatusError(error, 'Conflict')) await this.#reread(mailbox, key, copy)
      throw error
    }
  }

  /** Deletes many, as one write; whether each is gone. The rest has to be deleted one by one. */
  async removeTogether(copies: readonly GoingCopy[]): Promise<readonly boolean[]> {
    const there = copies.filter(({ copy }) => copy)
    const gone = await this.#deps.client.deleteCopies?.(
      there.map(({ mailbox: { space }, key, copy }) => {
        const { namespace, name } = parseObjectKey(key)
        const { uid, resource, resourceVersion } = copy!
        return { space, resource, namespace, name, uid, resourceVersion }
      }),
    )
    const isGone = gone?.values()
    return copies.map(({ mailbox, key, copy }) => {
      if (!copy) return true
      if (!isGone?.next().value) return false
      this.#deleted(mailbox, key, copy)
      return true
    })
  }

  /** The cluster is to keep it; the version that says so. */
  async #preserve(mailbox: Mailbox, key: string, { resource, uid, resourceVersion }: CopyFact): Promise<string> {
    const body = { metadata: { uid, resourceVersion, annotations: { [PRESERVE_ANNOTATION]: 'true' } } }
    const api = this.#deps.client.in(mailbox.space)
    const { metadata } = await api.patch(resource, refOf(parseObjectKey(key)), 'merge', body, {
      fieldManager: FIELD_MANAGER,
    })
    return metadata.resourceVersion ?? resourceVersion
  }

  /**
   * This process deleted a copy, which the mailbox's stream reports later: until then its presence and its facts prove nothing.
   */
  #deleted(mailbox: Mailbox, key: string, copy: CopyFact): void {
    if (mailbox.copies.get(key) !== copy) return
    mailbox.copies.set(key, { ...copy, terminating: true, settled: false, likeness: undefined })
    this.#deps.cache.delete(mailbox.space, key)
  }

  /** After a lost race: what the copy is now, so that the retry does not repeat the same old precondition. */
  async #reread(mailbox: Mailbox, key: string, copy: CopyFact): Promise<void> {
    const object = await unlessGone(this.#deps.client.in(mailbox.space).get(copy.resource, refOf(parseObjectKey(key))))
    if (!object || !isProjected(object)) return mailbox.forget(key, copy)
    if (!mailbox.isNews(object)) return
    const { uid = '', resourceVersion = '', deletionTimestamp } = object.metadata
    const terminating = deletionTimestamp !== undefined
    mailbox.copies.set(key, { ...copy, uid, resourceVersion, terminating, settled: false, likeness: undefined })
  }
}

function creationOf({ mailbox: { space }, source, content }: SharedCopy): CopyCreation {
  return { space, resource: source.fact.resource, object: content.body, fieldManager: FIELD_MANAGER }
}

function updateOf({ mailbox: { space }, source, content, copy }: SharedCopy): CopyUpdate {
  const { resource, namespace, name } = source.fact
  const { uid = '', resourceVersion = '' } = copy ?? {}
  const { body: desired, projection } = content
  const replace = (current: KubeObject) => updatedCopy(projection, current)
  return {
    space,
    resource,
    namespace,
    name,
    uid,
    resourceVersion,
    content: desired,
    replace,
    fieldManager: FIELD_MANAGER,
  }
}
