/**
 * Discovery and OpenAPI in a thread. The main thread makes documents once, and each thread that sends them requests them once for each set
 * of kinds.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { type DocumentName, idOf, type KindDocument, type KindDocuments } from '../discovery/kindDocuments.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'

/** Request of a thread. */
export interface DocumentAsk {
  readonly id: number
  readonly space: string
  readonly name: DocumentName
}

/** Its answer. Without `document`: there is none of that path, or making it failed. */
export interface DocumentAnswer {
  readonly id: number
  readonly document?: { readonly hash: string; readonly body: Uint8Array<ArrayBuffer> }
  readonly failed?: string
}

interface ForwardedDocumentsDeps {
  types: Pick<TypeRegistry, 'in'>
  ask(ask: DocumentAsk): void
}

type Answer = KindDocument | undefined

/** Those of a whole space are megabytes; the main thread keeps as much. */
const KEPT_BYTES = 64 * 1024 * 1024
const KEPT = 256

export class ForwardedDocuments implements KindDocuments {
  readonly #deps: ForwardedDocumentsDeps
  /** By name: its hash, or the pending answer. A set of kinds is replaced when one of them changes. */
  readonly #known = new WeakMap<TypeSet, Map<string, string | Promise<Answer>>>()
  /** By hash and name. */
  readonly #bodies = new BoundedCache<string, Buffer>({
    entries: KEPT,
    weight: { limit: KEPT_BYTES, of: body => body.length },
  })
  readonly #waiting = new Map<number, PromiseWithResolvers<DocumentAnswer>>()
  #lastId = 0

  constructor(deps: ForwardedDocumentsDeps) {
    this.#deps = deps
  }

  get(space: string, name: DocumentName): Soon<Answer> {
    // what the main thread answers is of these kinds or newer ones: it had them first
    const set = this.#deps.types.in(space)
    const known = getOrInsert(this.#known, set, () => new Map())
    const id = idOf(name)
    const hash = known.get(id)
    if (hash instanceof Promise) return hash
    const body = hash === undefined ? undefined : this.#bodies.get(`${hash} ${id}`)
    if (body !== undefined) return { hash: hash!, body: () => body }
    const pending = this.#ask(space, name).then(
      document => {
        if (document === undefined) known.delete(id)
        else known.set(id, document.hash)
        return document
      },
      error => {
        known.delete(id)
        throw error
      },
    )
    known.set(id, pending)
    return pending
  }

  answered(answer: DocumentAnswer): void {
    this.#waiting.get(answer.id)?.resolve(answer)
    this.#waiting.delete(answer.id)
  }

  async #ask(space: string, name: DocumentName): Promise<Answer> {
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<DocumentAnswer>()
    this.#waiting.set(id, waiting)
    this.#deps.ask({ id, space, name })
    const { document, failed } = await waiting.promise
    if (failed !== undefined) throw new Error(failed)
    if (document === undefined) return undefined
    const { hash, body: bytes } = document
    const body = Buffer.from(bytes.buffer)
    this.#bodies.set(`${hash} ${idOf(name)}`, body)
    return { hash, body: () => body }
  }
}

/** The main thread's part. Its bytes may be transferred. */
export async function answerOf({ id, space, name }: DocumentAsk, documents: KindDocuments): Promise<DocumentAnswer> {
  try {
    const document = await documents.get(space, name)
    if (document === undefined) return { id }
    // in memory of its own: the whole of what a view is of would cross
    return { id, document: { hash: document.hash, body: new Uint8Array(await document.body()) } }
  } catch (error) {
    return { id, failed: messageOf(error) }
  }
}
