/**
 * gzip for large answers to clients that take it. Compression runs on the thread pool; documents that are kept (those with
 * an ETag) are compressed once.
 */
import { promisify } from 'node:util'
import { createGzip, type Gzip, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** As upstream: below it, compressing costs more time than sending. */
export const GZIP_FROM_BYTES = 128 * 1024
/** The fastest level: on JSON the others save little more and cost several times as much. */
const OPTIONS = { level: 1 } as const
const compress = promisify(gzip)

export function acceptsGzip(request: Pick<FastifyRequest, 'headers'>): boolean {
  const accepted = request.headers['accept-encoding']
  if (accepted === undefined || !accepted.includes('gzip')) return false
  return accepted.split(',').some(entry => {
    const [coding = '', ...parameters] = entry.split(';').map(part => part.trim())
    return coding === 'gzip' && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** For answers that are written piece by piece. */
export function gzipStream(): Gzip {
  return createGzip(OPTIONS)
}

export class Compression {
  readonly #kept = new WeakMap<Buffer, Promise<Buffer>>()

  /** Whether `body` should leave compressed. */
  wants(request: Pick<FastifyRequest, 'headers'>, body: unknown): body is Buffer {
    return Buffer.isBuffer(body) && body.length > GZIP_FROM_BYTES && acceptsGzip(request)
  }

  /** The compressed body; sets the headers that tell. */
  async apply(reply: FastifyReply, body: Buffer): Promise<Buffer> {
    const keeps = reply.hasHeader('etag')
    let compressed = keeps ? this.#kept.get(body) : undefined
    if (compressed === undefined) {
      compressed = compress(body, OPTIONS)
      if (keeps) this.#kept.set(body, compressed)
    }
    const vary = reply.getHeader('vary')
    const result = await compressed
    reply.header('Content-Encoding', 'gzip').header('Vary', vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding')
    reply.removeHeader('Content-Length')
    return result
  }
}
