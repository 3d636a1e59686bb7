/**
 * Converges one object of one mailbox: makes it, brings it up to date, or deletes it when it carries the projected label
 * and nothing wants it any more. Decides only on complete knowledge; its caller sees to that. What cannot be customized as
 * its owner asks is held back: the copy stays as it was.
 */
import { hasCause, isStatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { BUDGET_EXCEEDED } from '../../apimachinery/spaceBudget.ts'
import type { Client } from '../../client/client.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { Told } from './allowance.ts'
import type { Brake } from './brake.ts'
import { type CopyContent, CopyContents, contentOf, type Manner } from './copyContents.ts'
import { CopyWriter, type NewCopy } from './copyWriter.ts'
import { makeWay } from './definitionSuccession.ts'
import { definitionKey, isNeededDefinition } from './definitions.ts'
import type { HeldBack } from './heldBack.ts'
import { leftThere } from './leftThere.ts'
import { type CopyFact, isEmptyIn, type Mailbox, ownersIn } from './mailbox.ts'
import { FIELD_MANAGER, namespaceKey, parseObjectKey } from './names.ts'
import type { ObjectCache } from './objectCache.ts'
import { byRight, type OwnershipRules } from './ownership.ts'
import type { Pauses } from './pauses.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Source } from './placementProduct.ts'
import { asksToSecure, UNSECURED, withoutPodSecurity } from './podSecurity.ts'
import { implicitNamespace, project, updatedCopy } from './projection.ts'
import type { SourceReader } from './sourceReader.ts'
import type { StayingCopies } from './stayingCopies.ts'
import { ownersThere } from './travellingOwners.ts'
import { UnservedKindError, unservedKind } from './unservedKinds.ts'
import type { ObjectFact } from './workload.ts'

export interface CopyReconcilerDeps {
  client: Client
  join: PlacementJoin
  cache: ObjectCache
  sources: SourceReader
  /** Whether the space is followed and the object is not in it, or the space is none that feeds others. */
  isGoneFrom: (space: string, key: string) => boolean
  /** The mailbox, when it is ready and all that it should hold is known. */
  mailbox: (name: string) => Mailbox | undefined
  rules: OwnershipRules
  /** Whether an object is not to come into a mailbox that does not hold it yet; it is looked at again when it is. */
  keepsOut: (mailbox: Mailbox, key: string, claims: readonly Source[]) => boolean
  /** Says whether what nobody wants any more may go. */
  brake: Pick<Brake, 'mayGo' | 'isPreserved' | 'settled'>
  /** Says what stays as it is for now. */
  pauses: Pick<Pauses, 'holdsClaim' | 'holdsCopy'>
  /** Something beside the copy's own work has written it: that work looks at it again, so that no old content stays. */
  again: (mailbox: string, key: string) => void
  /** Whether a source may say how Pods of its Namespace are secured there; `undefined`: nobody knows. */
  maySecure: (source: Source) => boolean | undefined
  /** What of a source does not reach a mailbox although the copy does; `undefined`: nothing. */
  withheld: (source: Source, told: Told | undefined) => void
  /** Why a source has no copy there although it may; `undefined`: nothing keeps it back any more. */
  unserved: (source: Source, told: Told | undefined) => void
  /** A write into a mailbox is over, whatever became of it. */
  written: (mailbox: Mailbox, key: string) => void
  /** The mailbox's stream has told of a write before it was answered, and will not tell of it again. */
  told: (mailbox: Mailbox, key: string, object: KubeObject) => void
  /** Is told what keeps copies from being right that is their authors' to mend. */
  heldBack: Pick<HeldBack, 'cannotCustomize' | 'notTaken' | 'settle'>
  /** Copies that would go if nothing were paused. */
  staying: Pick<StayingCopies, 'behindPause' | 'settled'>
  /** What those who claim an object are told may have changed: its owner, its content, whether the mailbox takes it. */
  verdictChanged: (mailbox: string, key: string) => void
  /** The state of a copy is about another generation of its owner's object than before. */
  meansOther: (space: string, key: string) => void
}

export interface CopyResult extends ReconcileResult {
  /** The copy is not as it should be, and news will say when it can be. */
  readonly behind?: boolean
  /** Of the object there, as they were looked at; absent where nobody claims it. */
  readonly claims?: readonly Source[]
}

/** What a copy is to say, and whose object it is. */
interface Made extends CopyContent {
  readonly source: Source
}

/** What a mailbox is called, and what others have there, is nobody's business. */
const MAILBOX_FULL =
  'all that is placed in that cluster is as much as it may be; place less there, or ask who runs the server for a larger budget of its mailbox'

/** How often a removal waits for the copy in the place that the object moves to, and how long at first. */
const MOVE_ATTEMPTS = 6
const MOVE_WAIT_MS = 20
/** Until a customized object that a mailbox refused is tried again without news. */
const MISFIT_RETRY_MS = 60_000

export class CopyReconciler {
  readonly #deps: CopyReconcilerDeps
  readonly #writer: CopyWriter
  readonly #contents = new CopyContents()
  /** Removals that waited in vain so far, by mailbox and key. */
  readonly #waited = new Map<string, number>()

  constructor(deps: CopyReconcilerDeps) {
    this.#deps = deps
    this.#writer = new CopyWriter(deps)
  }

  async reconcile(mailbox: Mailbox, key: string): Promise<CopyResult> {
    if (this.#mayBeAnothers(mailbox, key)) return { postponed: true } // all is looked at again once it is known
    try {
      const result = await this.#converge(mailbox, key)
      this.#noteRefusal(mailbox, key, undefined)
      if (!result.behind)
        this.#deps.heldBack.settle(mailbox.name, key, () => this.#deps.join.sourcesOf(mailbox.name, key))
      if (mailbox.unserved.delete(key)) this.#tellUnserved(mailbox, key, undefined)
      return result
    } catch (error) {
      if (error instanceof UnservedKindError) return this.#unserved(mailbox, key, error)
      if (isStatusError(error, 'Invalid', 'BadRequest')) {
        this.#noteRefusal(mailbox, key, error.message)
        const way = await makeWay(this.#deps, mailbox, key)
        if (way) return way
        this.#tellNotTaken(mailbox, key, error.message)
        // what customizes it is the author's to mend, which is told; the rest of the world seldom helps
        if (this.#deps.join.sourcesOf(mailbox.name, key).some(({ fact }) => fact.customized)) {
          return { requeueAfterMs: MISFIT_RETRY_MS }
        }
      }
      if (hasCause(error, BUDGET_EXCEEDED)) {
        this.#noteRefusal(mailbox, key, MAILBOX_FULL)
        this.#tellNotTaken(mailbox, key, MAILBOX_FULL)
      }
      throw error
    }
  }

  /**
   * A copy that is not there, of what is made already for other mailboxes, if nothing else is to be thought of; `undefined`: it is not
   * as simple, see {@link reconcile}.
   */
  toMake(mailbox: Mailbox, key: string): NewCopy | undefined {
    if (mailbox.copies.has(key) || mailbox.bereft.has(key)) return undefined
    if (mailbox.refused.has(key) || mailbox.unserved.has(key) || this.#mayBeAnothers(mailbox, key)) return undefined
    const claims = this.#deps.join.sourcesOf(mailbox.name, key)
    const [source] = claims
    if (!source || claims.length > 1) return undefined
    const content = this.#ready(source)
    if (!content?.isShared || this.#deps.pauses.holdsClaim(source)) return undefined
    const { namespace } = content.projection
    if (namespace !== '' && !mailbox.namespaces.has(namespace)) return undefined
    return this.#deps.keepsOut(mailbox, key, claims) ? undefined : { mailbox, key, content, source }
  }

  /** Makes many of them; whether each is as it should be. */
  async make(copies: readonly NewCopy[]): Promise<readonly boolean[]> {
    const made = await this.#writer.makeTogether(copies)
    return made.map((object, i) => {
      if (!object) return false
      const { mailbox, key, source, content } = copies[i]!
      this.#deps.brake.settled(mailbox.name, key)
      this.#deps.heldBack.settle(mailbox.name, key, () => this.#deps.join.sourcesOf(mailbox.name, key))
      this.#noteMeaning(mailbox, source, content.generation, object.metadata)
      return true
    })
  }

  /**
   * Whether a copy is there and says what it should, as far as that can be told by what it is like: then nothing is to be done about
   * it. What one copy was found to be counts for all that are like it, so that many are looked at without being read.
   */
  isRight(mailbox: Mailbox, key: string): boolean | Promise<boolean> {
    const copy = mailbox.copies.get(key)
    if (!copy?.likeness || copy.terminating || this.#mayBeAnothers(mailbox, key)) return false
    if (mailbox.refused.has(key) || mailbox.unserved.has(key) || mailbox.bereft.has(key)) return false
    const { join, pauses } = this.#deps
    const [source, ...rivals] = join.sourcesOf(mailbox.name, key)
    if (!source || rivals.length > 0 || copy.owner !== source.space || !isSameEverywhere(source.fact)) return false
    if (copy.resource.version !== source.fact.resource.version || pauses.holdsClaim(source)) return false
    const manner = this.#mannerOf(source)
    const known = copy.likeness.judged(source.fact, manner)
    if (known) return known.isRight && this.#noteRight(mailbox, source, copy, known.generation)
    return this.#judge(mailbox, source, copy, manner)
  }

  async #judge(mailbox: Mailbox, source: Source, copy: CopyFact, manner: Manner): Promise<boolean> {
    const { likeness } = copy
    const made = this.#ready(source) ?? (await this.#firstGood(mailbox, [source]))
    if (!likeness?.sample || !made?.isShared) return false
    const isRight = updatedCopy(made.projection, likeness.sample) === undefined
    const { generation } = made
    likeness.judge({ fact: source.fact, manner, isRight, generation })
    if (!isRight || mailbox.copies.get(source.fact.key) !== copy) return false
    return this.#noteRight(mailbox, source, copy, generation)
  }

  /** What else follows from a copy that is as it should be. */
  #noteRight(mailbox: Mailbox, source: Source, { uid, likeness }: CopyFact, generation: number | undefined): true {
    const { key } = source.fact
    this.#settled(mailbox, key)
    this.#deps.heldBack.settle(mailbox.name, key, () => this.#deps.join.sourcesOf(mailbox.name, key))
    this.#noteMeaning(mailbox, source, generation, { uid, generation: likeness?.sample?.metadata.generation })
    return true
  }

  /** The copy is wanted, or not there (any more). */
  #settled(mailbox: Mailbox, key: string): void {
    this.#deps.brake.settled(mailbox.name, key)
    this.#deps.staying.settled(mailbox.name, key)
  }

  /** Whose object it is or would be. */
  #tellNotTaken(mailbox: Mailbox, key: string, why: string): void {
    const { join, rules, heldBack } = this.#deps
    const claims = join.sourcesOf(mailbox.name, key)
    const [source] = byRight(claims, { mailbox: mailbox.name, recorded: mailbox.ownersOf(key), rules })
    if (source) heldBack.notTaken(mailbox.name, source, why)
  }

  /** Not thrown: nobody mends that by trying often, and a log full of it helps nobody. */
  #unserved(mailbox: Mailbox, key: string, error: UnservedKindError): ReconcileResult {
    const attempt = (mailbox.unserved.get(key) ?? 0) + 1
    mailbox.unserved.set(key, attempt)
    const spaces = this.#deps.join.sourcesOf(mailbox.name, key).map(({ space }) => space)
    const { retryMs, told } = unservedKind(error, { attempt, copies: mailbox.copies, spaces })
    this.#tellUnserved(mailbox, key, told)
    if (told) this.#noteRefusal(mailbox, key, told.message)
    return { requeueAfterMs: retryMs }
  }

  #tellUnserved(mailbox: Mailbox, key: string, told: Told | undefined): void {
    for (const source of this.#deps.join.sourcesOf(mailbox.name, key)) this.#deps.unserved(source, told)
  }

  /** Whether the copy may be owed to a claim of which nobody knows whether it is granted. */
  #mayBeAnothers(mailbox: Mailbox, key: string): boolean {
    const { join } = this.#deps
    const unsure = join.unsureOf(mailbox.name, key)
    if (unsure.size === 0) return false
    return mailbox.ownersOf(key).some(space => unsure.has(space)) || join.sourcesOf(mailbox.name, key).length === 0
  }

  #noteRefusal(mailbox: Mailbox, key: string, why: string | undefined): void {
    if (mailbox.refused.get(key) === why) return
    if (why === undefined) mailbox.refused.delete(key)
    else mailbox.refused.set(key, why)
    this.#deps.verdictChanged(mailbox.name, key)
  }

  /** Whether an object is there that has to go; `undefined`: nobody knows. */
  isUnwanted(mailbox: Mailbox, key: string): boolean | undefined {
    const copy = mailbox.copies.get(key)
    if (!copy || copy.terminating) return false
    if (this.#mayBeAnothers(mailbox, key)) return undefined
    if (this.#deps.join.sourcesOf(mailbox.name, key).length > 0) return false
    const { name } = parseObjectKey(key)
    if (key === namespaceKey(name) && !this.#namespaceMayGo(mailbox, copy, name)) return false
    return !isNeededDefinition(this.#deps.join, mailbox.name, key)
  }

  async #converge(mailbox: Mailbox, key: string): Promise<CopyResult> {
    const { join, rules } = this.#deps
    const claims = join.sourcesOf(mailbox.name, key)
    if (claims.length === 0) return await this.#remove(mailbox, key)
    if (this.#deps.keepsOut(mailbox, key, claims)) return {}
    this.#settled(mailbox, key)
    const recorded = mailbox.ownersOf(key)
    const ranked = byRight(claims, { mailbox: mailbox.name, recorded, rules })
    if (ranked[0] && this.#deps.pauses.holdsClaim(ranked[0])) return {} // looked at again when that is over
    const made =
      this.#ready(ranked[0]!) ?? (await this.#firstGood(mailbox, recorded.length > 0 ? ranked.slice(0, 1) : ranked))
    if (!made) return { behind: true }
    const { source, projection, generation } = made
    if (projection.namespace !== '' && !mailbox.namespaces.has(projection.namespace))
      await this.#ensureNamespace(mailbox, projection.namespace)
    const { wrote, copy } = await this.#writer.write(mailbox, key, source.fact.resource, made)
    mailbox.bereft.delete(key)
    this.#noteMeaning(mailbox, source, generation, copy?.metadata)
    const isNewOwner = recorded.length > 0 && recorded.join() !== source.space
    if (isNewOwner || (wrote && claims.length > 1)) {
      this.#deps.verdictChanged(mailbox.name, key)
    }
    return { claims }
  }

  /**
   * The first claim whose object is there and can be customized; nothing, when one has just gone, or it is not known what of it
   * may go: news of that come.
   */
  async #firstGood(mailbox: Mailbox, claims: readonly Source[]): Promise<Made | undefined> {
    for (const source of claims) {
      const ready = this.#ready(source)
      if (ready) return ready
      const { space, fact } = source
      const object = await this.#deps.sources.read(space, fact)
      if (!object) return undefined
      if (this.#deps.maySecure(source) === undefined && asksToSecure(source, object)) return undefined
      const customized = await this.#deps.sources.flawless(source, object)
      if (!customized) {
        this.#deps.heldBack.cannotCustomize(mailbox.name, source, await this.#deps.sources.faults(source, object))
        continue // the source is told, too
      }
      const manner = this.#mannerOf(source)
      const owners = ownersThere(this.#deps.join, mailbox.name, source, object)
      const projection = project(space, this.#secured(source, customized), { ...manner, owners })
      const isShared = isSameEverywhere(fact) && object.metadata.resourceVersion === String(fact.revision)
      const content = contentOf(projection, object.metadata.generation, isShared)
      if (isShared) this.#contents.keep(space, fact, manner, content)
      return { source, ...content }
    }
    return undefined
  }

  /** What is made already for another mailbox, and says the same here. */
  #ready(source: Source): Made | undefined {
    const { space, fact } = source
    const content = isSameEverywhere(fact) ? this.#contents.get(space, fact, this.#mannerOf(source)) : undefined
    return content && { source, ...content }
  }

  #mannerOf(source: Source): Manner {
    const { space, placements, implied = false } = source
    const { join } = this.#deps
    const preserve = placements.some(name => join.spec(space, name)?.preserves)
    return { implied, preserve, adopt: join.adopts(source), left: leftThere(join, source) }
  }

  /** For whom the state of the copy comes back: which of the source's generations it is about. */
  #noteMeaning(
    mailbox: Mailbox,
    { space, fact: { key } }: Source,
    source: number | undefined,
    copy: { readonly uid?: string; readonly generation?: number | undefined } | undefined,
  ): void {
    const { uid = '', generation } = copy ?? {}
    if (source === undefined || generation === undefined || !this.#deps.join.wantedState(space, key)) {
      mailbox.meanings.delete(key)
      return
    }
    const before = mailbox.meanings.get(key)
    const same = before?.owner === space && before.uid === uid
    if (same && before.source === source && before.generation === generation) return
    mailbox.meanings.set(key, { owner: space, uid, generation, source })
    this.#deps.meansOther(space, key)
  }

  #secured(source: Source, object: KubeObject): KubeObject {
    if (source.fact.key !== namespaceKey(source.fact.name)) return object
    const withheld = asksToSecure(source, object) && !this.#deps.maySecure(source)
    this.#deps.withheld(source, withheld ? UNSECURED : undefined)
    return withheld ? withoutPodSecurity(object) : object
  }

  async #remove(mailbox: Mailbox, key: string): Promise<ReconcileResult> {
    const copy = mailbox.copies.get(key)
    mailbox.bereft.delete(key)
    this.#lookAtDefinition(mailbox, key)
    this.#lookAtNamespace(mailbox, key)
    if (!copy || copy.terminating || this.isUnwanted(mailbox, key) === false) {
      this.#settled(mailbox, key)
      return {}
    }
    if (this.#deps.pauses.holdsCopy(mailbox.name, key, ownersIn(copy.owner)[0])) {
      this.#deps.staying.behindPause(mailbox, key)
      return {}
    }
    this.#deps.staying.settled(mailbox.name, key)
    if (!this.#deps.brake.mayGo(mailbox, key, copy)) return {} // looked at again when it may
    const { namespace, name } = parseObjectKey(key)
    const requeueAfterMs = await this.#moved(mailbox, key, copy)
    if (requeueAfterMs !== undefined) return { requeueAfterMs }
    const { uid } = copy
    try {
      // its cluster hears so even where the placement said it only just before it went
      const resourceVersion = this.#deps.brake.isPreserved(mailbox.name, key)
        ? await this.#writer.preserve(mailbox, key, copy)
        : copy.resourceVersion
      // what was reported below the copy goes with it, whatever kind it is
      const options = { propagationPolicy: 'Background', preconditions: { uid, resourceVersion } } as const
      await this.#deps.client
        .in(mailbox.space)
        .delete(copy.resource, { ...(namespace && { namespace }), name }, options)
      this.#writer.deleted(mailbox, key, copy)
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return {}
      if (isStatusError(error, 'Conflict')) await this.#writer.reread(mailbox, key, copy)
      throw error
    }
    return {}
  }

  /** Whoever brought the definition of what goes may be gone already. */
  #lookAtDefinition(mailbox: Mailbox, key: string): void {
    const definition = definitionKey(parseObjectKey(key))
    if (!mailbox.copies.has(definition)) return
    // or another space's is to take its place
    if (this.#deps.join.sourcesOf(mailbox.name, definition).length > 0 && !mailbox.refused.has(definition)) return
    this.#deps.again(mailbox.name, definition)
  }

  /** The Namespace of what goes waits for it. */
  #lookAtNamespace(mailbox: Mailbox, key: string): void {
    const { namespace } = parseObjectKey(key)
    if (namespace === '' || !mailbox.copies.get(namespaceKey(namespace))?.owner) return
    if (this.#deps.join.sourcesOf(mailbox.name, namespaceKey(namespace)).length > 0) return
    this.#deps.again(mailbox.name, namespaceKey(namespace))
  }

  /**
   * Where the object goes now it is made first, so that a move leaves no moment without it; how long to wait for that.
   * Patience ends: a place that cannot take the object does not keep it from leaving the old one.
   */
  async #moved(mailbox: Mailbox, key: string, copy: CopyFact): Promise<number | undefined> {
    const id = `${mailbox.name} ${key}`
    const waited = this.#waited.get(id) ?? 0
    this.#waited.delete(id)
    let failed = false
    for (const space of ownersIn(copy.owner)) {
      for (const name of this.#deps.join.destinationsOf(space, key).keys()) {
        const other = this.#deps.mailbox(name)
        if (!other || other.copies.get(key)?.terminating === false) continue
        try {
          await this.reconcile(other, key)
        } catch {
          failed = true // the other place's own work says why, and tries again
        }
        this.#deps.again(name, key)
      }
    }
    if (!failed || waited >= MOVE_ATTEMPTS) return undefined
    this.#waited.set(id, waited + 1)
    return MOVE_WAIT_MS * 2 ** waited
  }

  /**
   * A Namespace may hold things that are not ours. It goes when nothing needs it, and each of its sources is known to be gone:
   * also what is held there goes before it. One that was made because objects needed it goes when nothing is left in it.
   */
  #namespaceMayGo(mailbox: Mailbox, copy: CopyFact, name: string): boolean {
    const owners = ownersIn(copy.owner)
    if (this.#deps.join.needsNamespace(mailbox.name, name)) return false
    if (owners.length === 0) return isEmptyIn(mailbox, name)
    if (mailbox.copies.hasIn(name)) return false
    return owners.every(space => this.#deps.isGoneFrom(space, namespaceKey(name)))
  }

  async #ensureNamespace(mailbox: Mailbox, name: string): Promise<void> {
    if (mailbox.namespaces.has(name)) return
    const key = namespaceKey(name)
    if (this.#deps.join.sourcesOf(mailbox.name, key).length > 0) {
      try {
        await this.reconcile(mailbox, key)
      } finally {
        this.#deps.again(mailbox.name, key)
      }
      return
    }
    try {
      await this.#deps.client
        .in(mailbox.space)
        .create(NAMESPACES, implicitNamespace(name), { fieldManager: FIELD_MANAGER })
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }
}

/**
 * Whether it goes as it is to whatever mailbox it goes to. What a Namespace says depends on what its destination allows, and what is
 * said of owners on which of them go there.
 */
function isSameEverywhere({ customized, owners, key, name }: ObjectFact): boolean {
  return !customized && owners === undefined && key !== namespaceKey(name)
}
