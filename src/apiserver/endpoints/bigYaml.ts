/**
 * Large YAML is read in a thread of its own: it takes about a millisecond for each kilobyte, and all spaces wait for the event
 * loop. The thread starts with the first such body and ends when none has come for a while.
 */
import type { Worker } from 'node:worker_threads'
import { statusError } from '../../apimachinery/errors.ts'
import type { RepeatedKey } from '../../apimachinery/repeatedKeys.ts'
import { startThread } from '../../program/startThread.ts'
import { BODY_LIMIT_BYTES, badYaml, isYaml, NESTING_LIMIT } from './body.ts'
import type { YamlLimits } from './yamlBody.ts'

/** Smaller ones are read on the spot, sooner than they could be handed over. */
const BIG_BYTES = 32 * 1024
/** Many times what the largest body takes. */
const TIME_LIMIT_MS = 30_000
const IDLE_MS = 30_000
const HEAP_LIMIT_MIB = 512

export interface YamlJob {
  text: string
  limits: YamlLimits
}
export type YamlResult = { json: string; repeated: RepeatedKey[] } | { error: string }

export class BigYaml {
  #worker: Worker | undefined
  #idle: NodeJS.Timeout | undefined
  /** One at a time; how many may wait is bounded by the requests in flight. */
  #turn: Promise<unknown> = Promise.resolve()

  /** Whether a body is better read here; JSON that is called YAML is not. */
  wants(contentType: string | undefined, body: Buffer): boolean {
    return body.length > BIG_BYTES && isYaml(contentType) && !isJson(body)
  }

  /** The same value as JSON, and what JSON cannot tell. @throws StatusError BadRequest */
  toJson(body: Buffer): Promise<{ json: Buffer; repeated: RepeatedKey[] }> {
    const done = this.#turn.then(() => this.#read(body.toString('utf8')))
    this.#turn = done.catch(() => undefined)
    return done
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#worker?.terminate()
  }

  async #read(text: string): Promise<{ json: Buffer; repeated: RepeatedKey[] }> {
    clearTimeout(this.#idle)
    const result = await this.#ask({ text, limits: { depth: NESTING_LIMIT, size: BODY_LIMIT_BYTES } })
    this.#idle = setTimeout(() => this.#drop(), IDLE_MS).unref()
    if ('error' in result) throw badYaml(new Error(result.error), text)
    return { json: Buffer.from(result.json), repeated: result.repeated }
  }

  #ask(job: YamlJob): Promise<YamlResult> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    const { promise, resolve, reject } = Promise.withResolvers<YamlResult>()
    const tooMuch = (): void => {
      this.#drop()
      reject(statusError.badRequest('the YAML of the request takes too much to read; send JSON, or less'))
    }
    // Whatever else ends the thread is a fault of ours, and told as one.
    const failed = (error: NodeJS.ErrnoException): void =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooMuch() : reject(error)
    const limit = setTimeout(tooMuch, TIME_LIMIT_MS)
    worker.once('message', resolve)
    worker.once('error', failed)
    worker.once('exit', tooMuch)
    worker.postMessage(job)
    return promise.finally(() => {
      clearTimeout(limit)
      worker.off('message', resolve)
      worker.off('error', failed)
      worker.off('exit', tooMuch)
    })
  }

  #start(): Worker {
    const worker = startThread('bigYaml', { resourceLimits: { maxOldGenerationSizeMb: HEAP_LIMIT_MIB } })
    // It is of no more use; whoever waits hears why.
    worker.on('error', () => this.#drop())
    worker.unref()
    return worker
  }

  #drop(): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
  }
}

/** What most clients send as YAML. What only begins like it is YAML, however it ends. */
function isJson(body: Buffer): boolean {
  if (body[0] !== 0x7b) return false
  try {
    JSON.parse(body.toString('utf8'))
    return true
  } catch {
    return false
  }
}
