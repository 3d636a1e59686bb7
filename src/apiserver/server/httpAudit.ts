/** Between the HTTP server and the audit log: a trail for each request, its long-running answers, its bodies when it has ended. */

import type { Auditor } from '../audit/auditor.ts'
import type { Services } from '../endpoints/exchange.ts'
import type { Answer } from '../http/answer.ts'
import type { Request } from '../http/request.ts'
import { decodedBody } from './httpBodies.ts'

interface AnswerBody {
  body: unknown
  contentType: unknown
}

export class HttpAudit {
  readonly #auditor: Auditor
  readonly #services: Services
  readonly #answers = new WeakMap<Request, AnswerBody>()

  constructor(auditor: Auditor, services: Services) {
    this.#auditor = auditor
    this.#services = services
  }

  begin(request: Request, answer: Answer): void {
    const { headers, url, socket } = request
    request.audit = this.#auditor.begin({ url, headers, remoteAddress: socket.remoteAddress })
    answer.setHeader('Audit-Id', request.audit.auditId)
  }

  /** Keeps an answer that the log may want until the request has ended. */
  answered(request: Request, answer: Answer, body: unknown): void {
    const deletes = request.method === 'DELETE'
    if (!request.audit?.wantsResponseBody && !deletes) return
    this.#answers.set(request, { body, contentType: answer.getHeader('content-type') })
  }

  end(request: Request, answer: Answer): void {
    const services = this.#services
    const sent = this.#answers.get(request)
    request.audit?.ended(answer.statusCode, {
      request: () => decodedBody(services, request.body, request.headers['content-type']),
      response: () => sent && decodedBody(services, sent.body, sent.contentType),
    })
  }
}
