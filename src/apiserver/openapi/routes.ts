/** /openapi/v3, /openapi/v3/<group version> and /openapi/v2 of each space. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Catalog } from '../catalog/catalog.ts'
import type { OpenApiRoutes } from '../server/openApiRoutes.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { OpenApiDocuments, type PreparedDocument } from './documents.ts'
import { OPENAPI_V2_PROTOBUF } from './protobuf.ts'

const YEAR_MS = 365 * 24 * 60 * 60 * 1000

export function openApiRoutes({ catalog, types }: { catalog: Catalog; types: TypeRegistry }): OpenApiRoutes {
  const documents = new OpenApiDocuments(catalog)
  return {
    handle: async (request, reply, path, space) => {
      const served = types.in(space).types
      if (path === '/openapi/v2') {
        const form = wantsProtobuf(request.headers.accept) ? 'protobuf' : 'json'
        reply.header('vary', 'Accept')
        const type = form === 'protobuf' ? OPENAPI_V2_PROTOBUF : 'application/json'
        return send(request, reply, type, documents.whole(served, form))
      }
      if (path === '/openapi/v3') return send(request, reply, 'application/json', documents.index(served))
      const match = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path)
      const document = match && documents.groupVersion(served, match[1] ?? '', match[2]!)
      if (!document) return false
      return sendGroupVersion(request, reply, document)
    },
  }
}

/** With the right hash the answer holds for good; with an old one the client is sent to the right one. */
function sendGroupVersion(request: FastifyRequest, reply: FastifyReply, document: PreparedDocument): boolean {
  const url = new URL(request.url, 'http://localhost')
  const asked = url.searchParams.get('hash')
  if (asked !== null && asked !== document.hash) {
    reply.redirect(`${url.pathname}?hash=${document.hash}`, 301)
    return true
  }
  if (asked !== null) {
    reply.header('cache-control', 'public, immutable')
    reply.header('expires', new Date(Date.now() + YEAR_MS).toUTCString())
  }
  return send(request, reply, 'application/json', document)
}

function send(request: FastifyRequest, reply: FastifyReply, type: string, { body, hash }: PreparedDocument): true {
  const etag = `"${hash}"`
  reply.header('etag', etag)
  if (request.headers['if-none-match'] === etag) reply.code(304).send()
  else reply.type(type).send(body)
  return true
}

/** Clients ask by several names, with and without the `@` of the first one. */
function wantsProtobuf(accept: string | undefined): boolean {
  const first = accept?.split(',')[0]?.trim() ?? ''
  return first.startsWith('application/com.github.') && first.includes('+protobuf')
}
