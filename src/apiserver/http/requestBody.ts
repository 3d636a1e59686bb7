/** The body of a request, as bytes. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { Answer } from './answer.ts'
import type { Request } from './request.ts'

/** As upstream: what fits into one write of the store. */
export const BODY_LIMIT_BYTES = 3 * 1024 * 1024

const NONE = Buffer.alloc(0)
const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Whether its body means something. One of a GET is passed over. */
export function hasBody({ method, headers }: Request): boolean {
  const length = headers['content-length']
  if (length === undefined ? headers['transfer-encoding'] === undefined : length === '0') return false
  return !WITHOUT_BODY.has(method)
}

/** Resolves when it is whole. A client that waits for a `100` gets it now. @throws StatusError RequestEntityTooLarge; the error of a request that ends before its body */
export function gatherBody(request: Request, answer: Answer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > BODY_LIMIT_BYTES) return reject(tooLarge())
    if (request.awaitsContinue) answer.writeContinue()
    request.awaitsContinue = false
    const pieces: Buffer[] = []
    let bytes = 0
    const gather = (piece: Buffer): void => {
      bytes += piece.length
      if (bytes > BODY_LIMIT_BYTES) {
        request.off('data', gather).pause()
        // also where the rest has come by now: the answer does not depend on how it was cut
        answer.setHeader('connection', 'close')
        reject(tooLarge())
      } else pieces.push(piece)
    }
    request.on('data', gather)
    request.on('end', () =>
      resolve(pieces.length === 1 ? pieces[0]! : pieces.length === 0 ? NONE : Buffer.concat(pieces, bytes)),
    )
    request.on('error', reject)
  })
}

function tooLarge(): StatusError {
  return new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${BODY_LIMIT_BYTES}`)
}
