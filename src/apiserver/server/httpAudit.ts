/** Between the HTTP server and the audit log: a trail for each request, its long-running answers, its bodies when it has ended. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Auditor } from '../audit/auditor.ts'
import type { AuditTrail } from '../audit/auditTrail.ts'
import type { Services } from '../endpoints/exchange.ts'
import { decodedBody } from './httpBodies.ts'

interface Answer {
  body: unknown
  contentType: unknown
}

export class HttpAudit {
  readonly #auditor: Auditor
  readonly #services: Services
  readonly #answers = new WeakMap<FastifyRequest, Answer>()

  constructor(auditor: Auditor, services: Services) {
    this.#auditor = auditor
    this.#services = services
  }

  begin(request: FastifyRequest, reply: FastifyReply): AuditTrail {
    const { headers, raw } = request
    const trail = this.#auditor.begin({ url: raw.url ?? '/', headers, remoteAddress: raw.socket.remoteAddress })
    request.audit = trail
    // Straight onto the response: watches and long lists are written past Fastify.
    reply.raw.setHeader('Audit-Id', trail.auditId)
    const { writeHead } = reply.raw
    reply.raw.writeHead = (...given: unknown[]) => {
      const { info } = request.authorized ?? {}
      if (info?.verb === 'watch' || info?.stream) trail.started(Number(given[0]))
      return writeHead.apply(reply.raw, given as Parameters<typeof writeHead>)
    }
    return trail
  }

  /** Keeps an answer that the log may want until the request has ended. */
  answered(request: FastifyRequest, reply: FastifyReply, body: unknown): void {
    const deletes = request.method === 'DELETE'
    if (!request.audit?.wantsResponseBody && !deletes) return
    this.#answers.set(request, { body, contentType: reply.getHeader('content-type') })
  }

  end(request: FastifyRequest, reply: FastifyReply): void {
    const services = this.#services
    const answer = this.#answers.get(request)
    request.audit?.ended(reply.raw.statusCode, {
      request: () => decodedBody(services, request.body, request.headers['content-type']),
      response: () => answer && decodedBody(services, answer.body, answer.contentType),
    })
  }
}
