/**
 * Copies of what is made once for many mailboxes: those that are not there, and those that say what the object was before, are
 * written many at a time. Of what nobody has made, or changed so, before one copy goes ahead, and the others follow it.
 */
import { isOfKubernetes } from '../../apimachinery/kubernetesGroups.ts'
import type { SharedMade, Unshared } from '../../client/client.ts'
import type { CopyContent } from './copyContents.ts'
import { type CopyDeps, mayBeAnothers } from './copyDeps.ts'
import { type CopyMaking, isSameEverywhere } from './copyMaking.ts'
import type { CopyNotes } from './copyNotes.ts'
import type { CopyResult } from './copyReconciler.ts'
import type { CopyWriter, SharedCopy } from './copyWriter.ts'
import type { Mailbox } from './mailbox.ts'
import type { Source } from './placementProduct.ts'
import type { ObjectFact } from './workload.ts'

export interface SharedCopiesDeps extends Pick<CopyDeps, 'join' | 'pauses' | 'keepsOut'> {
  making: CopyMaking
  notes: CopyNotes
  writer: CopyWriter
  /** Has a copy made what it should be, by itself. */
  converge: (mailbox: Mailbox, key: string) => Promise<CopyResult>
}

/**
 * What copies say before they are changed may be of several sorts: written in other seconds, or reported of otherwise. For each one goes
 * ahead; those of further sorts are written by themselves.
 */
const MOST_SORTS = 3

/** One of which nobody has made yet what it is to say. */
export interface UnmadeCopy {
  readonly mailbox: Mailbox
  readonly key: string
  readonly source: Source
  readonly content?: undefined
}

export class SharedCopies {
  readonly #deps: SharedCopiesDeps
  /** What is being made, by what it is made of. */
  readonly #making = new Map<ObjectFact, Promise<unknown>>()
  /** Of contents of which the first copy is under way: whether it is as it should be then. */
  readonly #leading = new Map<CopyContent, Promise<boolean>>()

  constructor(deps: SharedCopiesDeps) {
    this.#deps = deps
  }

  /** One of them, if nothing else is to be thought of; `undefined`: it is not as simple. */
  toWrite(mailbox: Mailbox, key: string): SharedCopy | UnmadeCopy | undefined {
    const { join, making, pauses, keepsOut } = this.#deps
    const copy = mailbox.copies.get(key)
    if (copy?.terminating || mailbox.bereft.has(key)) return undefined
    if (mailbox.refused.has(key) || mailbox.unserved.has(key) || mayBeAnothers(join, mailbox, key)) return undefined
    const claims = join.sourcesOf(mailbox.name, key)
    const [source] = claims
    if (!source || claims.length > 1 || !isSameEverywhere(source.fact) || pauses.holdsClaim(source)) return undefined
    const { resource, namespace } = source.fact
    if (copy && (copy.owner !== source.space || copy.resource.version !== resource.version)) return undefined
    if (namespace !== '' && !mailbox.namespaces.has(namespace)) return undefined
    if (keepsOut(mailbox, key, claims)) return undefined
    const content = making.ready(source)
    if (content) return { mailbox, key, content, source, claims, copy }
    // to read what users define may take a webhook
    return isOfKubernetes(resource) ? { mailbox, key, source } : undefined
  }

  /** Writes many of them; whether each is as it should be. */
  async write(copies: readonly (SharedCopy | UnmadeCopy)[]): Promise<readonly boolean[]> {
    const ready = copies.every(isMade) ? copies : await this.#made(copies)
    const written = await this.#written(ready)
    const done = written.map(isDone)
    let first = indexesOf(written, isFirst)
    for (let round = 0; round < MOST_SORTS && first.length > 0; round++) {
      const led = await this.#lead(first.map(i => ready[i]!))
      const others: number[] = []
      for (const i of first) {
        const isRight = led.get(ready[i]!)
        if (isRight === undefined) others.push(i)
        else done[i] = isRight
      }
      const followed = await this.#written(others.map(i => ready[i]))
      for (const [j, i] of others.entries()) done[i] = isDone(followed[j])
      first = indexesOf(followed, isFirst).map(j => others[j]!)
      // where each says something of its own, none waits for others to go ahead of it
      if (first.length === others.length) break
    }
    return done
  }

  /** The same with what they are to say; absent is what has to be written by itself. */
  async #made(copies: readonly (SharedCopy | UnmadeCopy)[]): Promise<readonly (SharedCopy | undefined)[]> {
    await Promise.all(copies.map(one => (isMade(one) ? undefined : this.#make(one))))
    return copies.map(({ mailbox, key }) => {
      const now = this.toWrite(mailbox, key)
      return now && isMade(now) ? now : undefined
    })
  }

  #make({ mailbox, source }: UnmadeCopy): Promise<unknown> {
    const known = this.#making.get(source.fact)
    if (known) return known
    const over = (): unknown => this.#making.delete(source.fact)
    // what is wrong with it is said where it is written by itself
    const making = this.#deps.making.firstGood(mailbox, [source]).then(over, over)
    this.#making.set(source.fact, making)
    return making
  }

  /** One of each content of which none is under way goes by itself; whether each of those is as it should be. */
  async #lead(copies: readonly SharedCopy[]): Promise<ReadonlyMap<SharedCopy, boolean>> {
    const leaders = new Map<SharedCopy, Promise<boolean>>()
    const waits = new Set<Promise<boolean>>()
    for (const one of copies) {
      const { content } = one
      let leading = this.#leading.get(content)
      if (!leading) {
        leading = this.#goAhead(one).finally(() => this.#leading.delete(content))
        this.#leading.set(content, leading)
        leaders.set(one, leading)
      }
      waits.add(leading)
    }
    await Promise.all(waits)
    const led = new Map<SharedCopy, boolean>()
    for (const [one, leading] of leaders) led.set(one, await leading)
    return led
  }

  async #goAhead({ mailbox, key }: SharedCopy): Promise<boolean> {
    try {
      const { behind, postponed, requeueAfterMs } = await this.#deps.converge(mailbox, key)
      return !behind && !postponed && requeueAfterMs === undefined
    } catch {
      return false // it says why when it is tried again by itself
    }
  }

  async #written(copies: readonly (SharedCopy | undefined)[]): Promise<readonly (SharedMade | Unshared)[]> {
    const written = (await this.#deps.writer.writeTogether(copies.filter(one => one !== undefined))).values()
    return copies.map(copy => {
      const one = copy && written.next().value
      if (!copy || typeof one !== 'object') return one
      const { mailbox, source, content } = copy
      const { generation } = one.like.metadata
      this.#deps.notes.right(mailbox, source, content.generation, { uid: one.uid, generation })
      return one
    })
  }
}

const isFirst = (one: SharedMade | Unshared): boolean => one === 'first'

function indexesOf<T>(all: readonly T[], test: (one: T) => boolean): number[] {
  return all.flatMap((one, i) => (test(one) ? [i] : []))
}

function isMade(one: SharedCopy | UnmadeCopy): one is SharedCopy {
  return one.content !== undefined
}

function isDone(one: SharedMade | Unshared): boolean {
  return typeof one === 'object'
}
