/** Between the HTTP server and the audit log: a trail for each request, its long-running answers, its bodies when it has ended. */

import type { Auditor } from '../audit/auditor.ts'
import type { Answer } from './answer.ts'
import type { Request } from './request.ts'

/** A body as the log shows it: decoded, whatever it travelled in. */
type Decode = (body: unknown, contentType: unknown) => unknown

interface AnswerBody {
  body: unknown
  contentType: unknown
}

export class HttpAudit {
  readonly #auditor: Auditor
  readonly #decode: Decode
  readonly #answers = new WeakMap<Request, AnswerBody>()

  constructor(auditor: Auditor, decode: Decode) {
    this.#auditor = auditor
    this.#decode = decode
  }

  openTrail(request: Request, answer: Answer): void {
    const { headers, url, socket } = request
    request.audit = this.#auditor.openTrail({ url, headers, remoteAddress: socket.remoteAddress })
    answer.setHeader('Audit-Id', request.audit.auditId)
  }

  /** Keeps an answer that the log may want until the request has ended. */
  answered(request: Request, answer: Answer, body: unknown): void {
    const deletes = request.method === 'DELETE'
    if (!request.audit?.wantsResponseBody && !deletes) return
    this.#answers.set(request, { body, contentType: answer.getHeader('content-type') })
  }

  closeTrail(request: Request, answer: Answer): void {
    const decode = this.#decode
    const sent = this.#answers.get(request)
    request.audit?.ended(answer.statusCode, {
      request: () => decode(request.body, request.headers['content-type']),
      response: () => sent && decode(sent.body, sent.contentType),
    })
  }
}
