/** /openapi/v3, /openapi/v3/<group version> and /openapi/v2, made when first asked for and kept while the kinds stay. */
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface OpenApiRoutes {
  /** False when there is no such document. */
  handle(request: FastifyRequest, reply: FastifyReply, path: string, space: string): Promise<boolean>
}
