/**
 * Large YAML is read by a thread: it takes about a millisecond for each kilobyte, and all spaces wait for the event loop. One
 * space's documents are read one after the other and nobody else's wait for them; what takes too long is refused.
 */
import { type StatusError, statusError } from '../../../apimachinery/errors.ts'
import type { RepeatedKey } from '../../../apimachinery/repeatedKeys.ts'
import { NESTING_LIMIT } from '../../../apimachinery/values.ts'
import type { Job, JobKind } from '../../../program/threadPool.ts'
import { BODY_LIMIT_BYTES } from '../../http/requestBody.ts'
import { jobRefused } from '../../request/jobRefused.ts'
import { badYaml, isYaml } from './body.ts'
import { beginsAsJson } from './bodyValues.ts'
import type { YamlLimits } from './yamlBody.ts'

/** Smaller ones are read on the spot, sooner than they could be handed over. */
export const BIG_BYTES = 4 * 1024
/** Several times what documents of people take: a megabyte of them takes half a second. */
export const LIMIT_MS = 2000

export interface YamlJob {
  text: string
  limits: YamlLimits
}
export type YamlResult = { json: string; repeated: RepeatedKey[] } | { error: string }

export const BIG_YAML: JobKind<YamlJob, YamlResult> = { name: 'bigYaml', limitMs: LIMIT_MS }

export class BigYaml {
  readonly #run: (job: Job<YamlJob>) => Promise<YamlResult>

  constructor(run: (job: Job<YamlJob>) => Promise<YamlResult>) {
    this.#run = run
  }

  /** Whether a body is better read here; JSON that is called YAML is not. */
  wants(contentType: string | undefined, body: Buffer): boolean {
    return isYaml(contentType) && (body.length > BIG_BYTES || mayGrow(body)) && !isJson(body)
  }

  /** The same value as JSON, and what JSON cannot tell. @throws StatusError BadRequest, TooManyRequests, ServiceUnavailable */
  async toJson(
    body: Buffer,
    { owner, signal }: { owner: string; signal: AbortSignal },
  ): Promise<{ json: Buffer; repeated: RepeatedKey[] }> {
    const text = body.toString('utf8')
    const input = { text, limits: { depth: NESTING_LIMIT, size: BODY_LIMIT_BYTES } }
    const result = await this.#run({ input, owner, signal }).catch((error: unknown) => {
      throw jobRefused(error, tooMuch)
    })
    if ('error' in result) throw badYaml(new Error(result.error), text)
    return { json: Buffer.from(result.json), repeated: result.repeated }
  }
}

function tooMuch(why: string): StatusError {
  return statusError.badRequest(
    `the YAML of the request takes too much to read (${why}); send it as JSON, which takes next to nothing, or in smaller parts`,
  )
}

/** Aliases let a short text stand for much. */
function mayGrow(body: Buffer): boolean {
  return body.includes('&') && body.includes('*')
}

/** Most clients' YAML is JSON. A body that only begins like it is YAML, however it ends. */
function isJson(body: Buffer): boolean {
  if (!beginsAsJson(body)) return false
  try {
    JSON.parse(body.toString('utf8'))
    return true
  } catch {
    return false
  }
}
