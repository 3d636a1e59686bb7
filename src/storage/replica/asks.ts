/** Requests of replicas to their writer, over a port, with the answers and errors. */
import type { MessagePort } from 'node:worker_threads'
import {
  type Key,
  type Mutation,
  type Range,
  type Refusal,
  type Revision,
  StorageError,
  type StorageErrorCode,
} from '../store.ts'

/** One write as it crosses. */
export interface SentWrite {
  readonly key: Key
  readonly mutation: Mutation
  readonly expect: Revision
}

/** Requests and answers by name. Versions are records. */
export interface Asks {
  /** A page of all objects, of one instant. */
  objects: { ask: { after: Key | undefined }; answer: ObjectsPage }
  history: {
    ask: { range: Range; after: Revision }
    answer: { versions: Uint8Array; replaced: boolean[]; through: Revision }
  }
  write: { ask: { writes: readonly SentWrite[] }; answer: readonly SentResult[] }
  compact: { ask: { revision: Revision | undefined }; answer: undefined }
}

export interface ObjectsPage {
  readonly versions: Uint8Array
  /** By their numbers, those in which their texts lie. */
  readonly slabs: readonly SharedArrayBuffer[]
  readonly revision: Revision
  readonly compactedRevision: Revision
  readonly more: boolean
}

/** `revision`: of what was stored as it was sent. `version`: a record of what else was stored, or of what stood in the way. */
export interface SentResult {
  readonly ok: boolean
  readonly revision?: Revision
  readonly version?: Uint8Array | undefined
  readonly refused?: Refusal
}

type AskName = keyof Asks
type AskHandlers = { readonly [N in AskName]: (ask: Asks[N]['ask']) => Promise<Asks[N]['answer']> }

interface Question {
  readonly id: number
  readonly name: AskName
  readonly ask: Asks[AskName]['ask']
}

type Answer = { readonly id: number } & (
  | { readonly answer: unknown }
  | { readonly error: { readonly message: string; readonly code?: StorageErrorCode; readonly isType: boolean } }
)

/** Answers what comes through a port; keeps no process alive. Answers of one moment go in one message. */
export function serveAsks(port: MessagePort, handlers: AskHandlers): void {
  let known: Answer[] = []
  const answerAll = (): void => {
    port.postMessage(known)
    known = []
  }
  const serve = async ({ id, name, ask }: Question): Promise<void> => {
    let answer: Answer
    try {
      answer = { id, answer: await (handlers[name] as (ask: unknown) => Promise<unknown>)(ask) }
    } catch (error) {
      answer = { id, error: sent(error) }
    }
    // behind all else that becomes known with it
    if (known.push(answer) === 1) process.nextTick(answerAll)
  }
  port.on('message', (questions: readonly Question[]) => {
    for (const question of questions) void serve(question)
  })
  port.unref()
}

/**
 * Asks through a port, and keeps its thread alive for as long as it waits for an answer. Requests of one turn of the loop go in one
 * message: each wakes the other side.
 */
export class Asker {
  readonly #port: MessagePort
  #unsent: Question[] = []
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0
  #ended: Error | undefined

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (answers: readonly Answer[]) => {
      for (const answer of answers) this.#settle(answer)
    })
    port.on('close', () => this.end(new StorageError('Closed', 'the store is closed')))
    port.unref()
  }

  async ask<N extends AskName>(name: N, ask: Asks[N]['ask']): Promise<Asks[N]['answer']> {
    if (this.#ended !== undefined) throw this.#ended
    const id = ++this.#lastId
    const answered = Promise.withResolvers<unknown>()
    if (this.#pending.size === 0) this.#port.ref()
    this.#pending.set(id, answered)
    if (this.#unsent.push({ id, name, ask }) === 1) setImmediate(this.#send)
    return (await answered.promise) as Asks[N]['answer']
  }

  /** Resolves when no request is open. */
  async idle(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled([...this.#pending.values()].map(({ promise }) => promise))
  }

  /** Nothing is answered any more. */
  end(why: Error): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    for (const { reject } of this.#pending.values()) reject(why)
    this.#pending.clear()
    this.#port.close()
  }

  readonly #send = (): void => {
    const questions = this.#unsent
    this.#unsent = []
    if (this.#ended === undefined) this.#port.postMessage(questions)
  }

  #settle(answer: Answer): void {
    const pending = this.#pending.get(answer.id)
    this.#pending.delete(answer.id)
    if (this.#pending.size === 0) this.#port.unref()
    if ('error' in answer) pending?.reject(received(answer.error))
    else pending?.resolve(answer.answer)
  }
}

type SentError = Extract<Answer, { error: unknown }>['error']

function sent(error: unknown): SentError {
  const message = error instanceof Error ? error.message : String(error)
  return { message, isType: error instanceof TypeError, ...(error instanceof StorageError && { code: error.code }) }
}

function received({ message, code, isType }: SentError): Error {
  if (code !== undefined) return new StorageError(code, message)
  return isType ? new TypeError(message) : new Error(message)
}
