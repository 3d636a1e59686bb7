/** /openapi/v3, /openapi/v3/<group version> and /openapi/v2 of each space, made when first asked for and kept while the kinds stay. */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { acceptsGzip } from '../endpoints/compression.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { OpenApiDocuments, type PreparedDocument, type WholeDocument } from './documents.ts'
import { OPENAPI_V2_PROTOBUF } from './protobuf.ts'

const PIECE_BYTES = 256 * 1024
const YEAR_MS = 365 * 24 * 60 * 60 * 1000

export interface OpenApiRoutes {
  /** False when there is no such document. */
  handle(request: FastifyRequest, reply: FastifyReply, path: string, space: string): Promise<boolean>
}

export interface OpenApiDeps {
  catalog: Catalog
  types: TypeRegistry
  /** Documents are made in its slices. */
  work?: WorkTurns
}

export function openApiRoutes({ catalog, types, work }: OpenApiDeps): OpenApiRoutes {
  const documents = new OpenApiDocuments(catalog, work)
  return {
    handle: async (request, reply, path, space) => {
      const served = types.in(space).types
      if (path === '/openapi/v2') {
        const form = wantsProtobuf(request.headers.accept) ? 'protobuf' : 'json'
        reply.header('vary', 'Accept')
        const type = form === 'protobuf' ? OPENAPI_V2_PROTOBUF : 'application/json'
        return await sendWhole(request, reply, type, await documents.whole(served, form))
      }
      if (path === '/openapi/v3') return send(request, reply, 'application/json', await documents.index(served))
      const match = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/.exec(path)
      const document = match && (await documents.groupVersion(served, match[1] ?? '', match[2]!))
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

async function sendWhole(
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  document: WholeDocument,
): Promise<true> {
  if (unchanged(request, reply, document.hash)) return true
  sendBody(request, reply.type(type), await document.body())
  return true
}

function sendBody(request: FastifyRequest, reply: FastifyReply, body: Buffer): void {
  // A body that is compressed before it leaves is small by then. Others go piece by piece, as fast as the client reads:
  // encrypting all of it at once would hold up everybody else.
  if (body.length <= PIECE_BYTES || acceptsGzip(request)) reply.send(body)
  else reply.header('content-length', body.length).send(Readable.from(piecesOf(body), { objectMode: false }))
}

function send(request: FastifyRequest, reply: FastifyReply, type: string, { body, hash }: PreparedDocument): true {
  if (!unchanged(request, reply, hash)) sendBody(request, reply.type(type), body)
  return true
}

/** Whether the client has the document already; then the answer has been given. */
function unchanged(request: FastifyRequest, reply: FastifyReply, hash: string): boolean {
  const etag = `"${hash}"`
  reply.header('etag', etag)
  if (request.headers['if-none-match'] !== etag) return false
  reply.code(304).send()
  return true
}

function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let begin = 0; begin < body.length; begin += PIECE_BYTES) yield body.subarray(begin, begin + PIECE_BYTES)
}

/** Clients ask by several names, with and without the `@` of the first one. */
function wantsProtobuf(accept: string | undefined): boolean {
  const first = accept?.split(',')[0]?.trim() ?? ''
  return first.startsWith('application/com.github.') && first.includes('+protobuf')
}
