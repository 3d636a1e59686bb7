/** Writes one object of one mailbox, and keeps what is known of the mailbox in step with what was written. */
import { isStatusError } from '../../apimachinery/errors.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { isProjected, PRESERVE_ANNOTATION } from '../../apimachinery/placement.ts'
import type { Client } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { CopyContent } from './copyContents.ts'
import type { CopyFact, Mailbox } from './mailbox.ts'
import { FIELD_MANAGER, namespaceKey, parseObjectKey } from './names.ts'
import type { ObjectCache } from './objectCache.ts'
import type { Source } from './placementProduct.ts'
import { ownerOf, updatedCopy } from './projection.ts'
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

/** A copy that is not there, and that nothing keeps from being made. */
export interface NewCopy {
  readonly mailbox: Mailbox
  readonly key: string
  readonly content: CopyContent
  readonly source: Source
}

export interface CopyWriterDeps {
  client: Client
  cache: ObjectCache
  /** A write is over, whatever became of it. */
  written: (mailbox: Mailbox, key: string) => void
  /** The mailbox's stream has told of a write before it was answered, and will not tell of it again. */
  told: (mailbox: Mailbox, key: string, object: KubeObject) => void
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

  /** Many that are not there, as one write; what is made, at its index. What is not has to be written by itself. */
  async makeTogether(copies: readonly NewCopy[]): Promise<readonly (KubeObject | undefined)[]> {
    const { client, written } = this.#deps
    if (!client.createShared) return copies.map(() => undefined)
    for (const { mailbox, key } of copies) {
      mailbox.begin(key)
      mailbox.desired.begin(key)
    }
    try {
      const made = await client.createShared(
        copies.map(({ mailbox: { space }, source, content }) => {
          return { space, resource: source.fact.resource, object: content.body, fieldManager: FIELD_MANAGER }
        }),
      )
      for (const [i, object] of made.entries()) {
        if (!object) continue
        const { mailbox, key, source } = copies[i]!
        mailbox.desired.changed(key, Number(object.metadata.resourceVersion))
        this.#settle(mailbox, key, source.fact.resource, object)
      }
      return made
    } finally {
      for (const { mailbox, key } of copies) {
        mailbox.desired.end(key)
        written(mailbox, key)
      }
    }
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
    const update = (changed: KubeObject) => this.#update(mailbox, key, { gvr, known, content }, changed)
    const right = body ? await mailbox.desired.write(key, () => update(body)) : copy
    this.#settle(mailbox, key, gvr, right)
    return { wrote: body !== undefined, copy: right }
  }

  async #make(
    mailbox: Mailbox,
    key: string,
    gvr: GroupVersionResource,
    { body, isShared }: CopyContent,
  ): Promise<KubeObject> {
    const { desired } = mailbox
    desired.begin(key)
    try {
      const copy = await this.#deps.client
        .in(mailbox.space)
        .create(gvr, body, { fieldManager: FIELD_MANAGER, shared: isShared })
      desired.changed(key, Number(copy.metadata.resourceVersion))
      this.#settle(mailbox, key, gvr, copy)
      return copy
    } catch (error) {
      // what is missing has no name: it is no Namespace, but the kind
      if (!isStatusError(error, 'NotFound') || error.details?.name) throw error
      throw new UnservedKindError(gvr, { cause: error })
    } finally {
      desired.end(key)
    }
  }

  async #update(
    mailbox: Mailbox,
    key: string,
    { gvr, known, content }: Present,
    body: KubeObject,
  ): Promise<KubeObject> {
    const options = { fieldManager: FIELD_MANAGER, ...(content.isShared && { sharedFrom: content.body }) }
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
    const { namespace, name } = parseObjectKey(key)
    return await unlessGone(this.#deps.client.in(mailbox.space).get(gvr, { ...(namespace && { namespace }), name }))
  }

  #settle(mailbox: Mailbox, key: string, resource: GroupVersionResource, object: KubeObject): void {
    const { uid = '', resourceVersion = '', deletionTimestamp } = object.metadata
    const owner = ownerOf(object)
    const told = mailbox.hasTold(key, resourceVersion)
    if (!told && !mailbox.isNews(object)) {
      const known = mailbox.copies.get(key)
      if (known?.uid !== uid) return
      const settled = known.settled || known.resourceVersion === resourceVersion
      if (settled !== known.settled || owner !== known.owner) mailbox.copies.set(key, { ...known, owner, settled })
      return
    }
    const terminating = deletionTimestamp !== undefined
    mailbox.copies.set(key, { resource, uid, resourceVersion, terminating, owner, settled: true })
    this.#deps.cache.set(mailbox.space, key, object)
    if (told) this.#deps.told(mailbox, key, object)
    if (key === namespaceKey(object.metadata.name ?? '')) mailbox.namespaces.add(object.metadata.name ?? '')
  }

  /** The cluster is to keep it; the version that says so. */
  async preserve(mailbox: Mailbox, key: string, { resource, uid, resourceVersion }: CopyFact): Promise<string> {
    const { namespace, name } = parseObjectKey(key)
    const ref = { ...(namespace && { namespace }), name }
    const body = { metadata: { uid, resourceVersion, annotations: { [PRESERVE_ANNOTATION]: 'true' } } }
    const api = this.#deps.client.in(mailbox.space)
    const { metadata } = await api.patch(resource, ref, 'merge', body, { fieldManager: FIELD_MANAGER })
    return metadata.resourceVersion ?? resourceVersion
  }

  /**
   * A copy was deleted by us, of which the mailbox's stream tells later: until then nobody is to rely on its being there, nor on
   * what was kept of it.
   */
  deleted(mailbox: Mailbox, key: string, copy: CopyFact): void {
    if (mailbox.copies.get(key) !== copy) return
    mailbox.copies.set(key, { ...copy, terminating: true, settled: false, likeness: undefined })
    this.#deps.cache.delete(mailbox.space, key)
  }

  /** After a lost race: what the copy is now, so that the retry does not repeat the same old precondition. */
  async reread(mailbox: Mailbox, key: string, copy: CopyFact): Promise<void> {
    const { namespace, name } = parseObjectKey(key)
    const ref = { ...(namespace && { namespace }), name }
    const object = await unlessGone(this.#deps.client.in(mailbox.space).get(copy.resource, ref))
    if (!object || !isProjected(object)) return mailbox.forget(key, copy)
    if (!mailbox.isNews(object)) return
    const { uid = '', resourceVersion = '', deletionTimestamp } = object.metadata
    const terminating = deletionTimestamp !== undefined
    mailbox.copies.set(key, { ...copy, uid, resourceVersion, terminating, settled: false, likeness: undefined })
  }
}
