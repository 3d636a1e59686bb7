/**
 * Answer of a server: its body within bounds, its error, the time of a retry, its warnings. Whatever else goes wrong on the way becomes a
 * StatusError here, too.
 */
import type { Readable } from 'node:stream'
import { type Status, StatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord } from '../../apimachinery/object.ts'

/** The server may require more, but a caller with a backoff of its own should get the error. */
const RETRY_WAIT_LIMIT_MS = 10_000

/** Bytes behind it add nothing to the message. */
const REFUSAL_LIMIT_BYTES = 1024 * 1024

const IDEMPOTENT = new Set(['GET', 'PUT', 'DELETE'])

const RETRY = Symbol('retry')

/** Answer over either version of HTTP, when its headers are there. */
export interface Answer {
  readonly statusCode?: number | undefined
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: Readable
  /** Why the body is not whole, as far as its end does not tell. */
  failure?(error?: unknown): Error | undefined
}

/** No more than `limitBytes` of it, for an answer may have no end; then the rest is not waited for. */
export async function readText(
  { body, failure }: Answer,
  limitBytes: number,
): Promise<{ read: string; whole: boolean; bytes: number }> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      parts.push(part)
      bytes += part.length
      if (bytes > limitBytes) break
    }
    const whole = bytes <= limitBytes
    const broken = whole ? failure?.() : undefined
    if (broken) throw broken
    return { read: new TextDecoder().decode(parts.length === 1 ? parts[0] : Buffer.concat(parts)), whole, bytes }
  } catch (error) {
    throw asStatusError(failure?.(error) ?? error, 'the server')
  }
}

/** When to try again, and whether that is safe for every method or only for those that may be repeated. */
type Retriable = StatusError & { [RETRY]?: { waitMs: number; anyMethod: boolean } }

/** The error that an answer other than 2xx stands for. Plain text bodies become the message. */
export async function errorOf(response: Answer, code: number): Promise<StatusError> {
  const { read } = await readText(response, REFUSAL_LIMIT_BYTES)
  const error: Retriable = StatusError.fromStatus(statusOf(read, code), code)
  const waitMs = code === 429 || code === 503 ? retryAfterMs(response.headers['retry-after']) : undefined
  // a 429 was not worked on; a 503 may have been
  if (waitMs !== undefined) error[RETRY] = { waitMs, anyMethod: code === 429 }
  return error
}

/** Seconds, or a date. @see https://www.rfc-editor.org/rfc/rfc9110#name-retry-after */
export function retryAfterMs(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const atMs = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now())
}

function statusOf(body: string, code: number): Partial<Status> {
  try {
    const parsed: unknown = JSON.parse(body)
    if (isRecord(parsed) && parsed.kind === 'Status') return parsed as Partial<Status>
  } catch {
    // not JSON: a proxy or a plain handler speaks, and its words are the message
  }
  return { code, message: body.trim().slice(0, 1000) || `the server answered ${code}` }
}

export function retryWaitMs(error: unknown, method: string): number | undefined {
  const retry = error instanceof StatusError ? (error as Retriable)[RETRY] : undefined
  if (!retry || retry.waitMs > RETRY_WAIT_LIMIT_MS) return undefined
  return retry.anyMethod || IDEMPOTENT.has(method) ? retry.waitMs : undefined
}

/** How long a server that has too much to do wants to be left alone. */
export function busyMsOf(error: unknown): number | undefined {
  if (!(error instanceof StatusError) || error.code !== 429) return undefined
  return Math.min(RETRY_WAIT_LIMIT_MS, (error as Retriable)[RETRY]?.waitMs ?? 1000)
}

/** Nothing of it was worked on: whatever the method, it may be sent again at once. */
export function mayBeSentAgain(error: StatusError): StatusError {
  const again: Retriable = error
  again[RETRY] = { waitMs: 0, anyMethod: true }
  return again
}

/** `retry`: the failure is that of a kept connection which the server had closed; a new one may do. */
export function asStatusError(error: unknown, server: string, retry = false): StatusError {
  if (error instanceof StatusError) return error
  const message = messageOf(error)
  const wrapped: Retriable = new StatusError('ServiceUnavailable', `${server}: ${message}`, undefined, { cause: error })
  if (retry) wrapped[RETRY] = { waitMs: 0, anyMethod: false }
  return wrapped
}

/** Texts of the Warning headers (RFC 7234, section 5.5) as Kubernetes sends them: `299 - "text"`. */
export function warningsOf({ headers: { warning = [] } }: Answer): string[] {
  const texts = [warning].flat().flatMap(value => [...value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)])
  return texts.map(match => match[1]!.replace(/\\(.)/g, '$1'))
}
