/** /openapi/v3, /openapi/v3/<group version> and /openapi/v2 of each space, made at first use and kept while the kinds stay. */

import type { Work, WorkTurns } from '../../program/workTurns.ts'
import { hasVersion, type KindDocument, type KindDocuments } from '../discovery/kindDocuments.ts'
import { acceptsGzip } from '../exchange/answers/compression.ts'
import type { Answer } from '../http/answer.ts'
import type { PathEntry } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import { OPENAPI_V2_PROTOBUF } from './protobuf.ts'

const PIECE_BYTES = 128 * 1024
const YEAR_MS = 365 * 24 * 60 * 60 * 1000

interface OpenApiDeps {
  documents: KindDocuments
  /** Documents are sent in its slices. */
  work: Pick<WorkTurns, 'begin'>
}

interface Sending {
  request: Request
  answer: Answer
  /** Begins the work of sending: each client's space takes its own turns. */
  begin(): Work
}

export function openApiPaths({ documents, work: turns }: OpenApiDeps): PathEntry[] {
  const handle: PathEntry['handle'] = async (request, answer, { space }, path) => {
    const sending: Sending = { request, answer, begin: () => turns.begin({ owner: space }) }
    const isWhole = path === '/openapi/v2'
    const format = isWhole && wantsProtobuf(request.headers.accept) ? 'protobuf' : 'json'
    if (isWhole) answer.header('vary', 'Accept')
    const document = await documents.get(space, { path, form: { format } })
    if (document === undefined) return false
    if (isWhole || path === '/openapi/v3')
      return await send(sending, format === 'json' ? 'application/json' : OPENAPI_V2_PROTOBUF, document)
    return await sendGroupVersion(sending, document)
  }
  return [
    { path: '/openapi/v2', handle },
    { path: '/openapi/v3', below: 'unlisted', handle },
  ]
}

/** With the right hash the answer holds for good; with an old one the client is sent to the right one. */
async function sendGroupVersion(sending: Sending, document: KindDocument): Promise<true> {
  const { request, answer } = sending
  const url = new URL(request.url, 'http://localhost')
  const requestedHash = url.searchParams.get('hash')
  // a front proxy follows no redirect, and its client would look for this path at the host
  const isStale = requestedHash !== null && requestedHash !== document.hash
  if (isStale && request.forwarded === undefined) {
    answer.redirect(`${url.pathname}?hash=${document.hash}`, 301)
    return true
  }
  if (requestedHash !== null && !isStale) {
    answer.header('cache-control', 'public, immutable')
    answer.header('expires', new Date(Date.now() + YEAR_MS).toUTCString())
  }
  return await send(sending, 'application/json', document)
}

async function send(sending: Sending, type: string, document: KindDocument): Promise<true> {
  const { request, answer, begin } = sending
  if (hasVersion(answer, document)) {
    answer.code(304).send()
    return true
  }
  const body = await document.body()
  answer.type(type)
  // A body that is compressed before it leaves is small by then. Others go piece by piece, as fast as the client reads, and in turns.
  // Encrypting all of it at once would hold up everybody else, and a fast client takes it all without a turn of the loop.
  if (body.length <= PIECE_BYTES || acceptsGzip(request)) answer.send(body)
  else await answer.sendHead(200, { 'content-length': body.length }).writeAll(piecesOf(body, begin()))
  return true
}

async function* piecesOf(body: Buffer, work: Work): AsyncGenerator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) {
    yield body.subarray(at, at + PIECE_BYTES)
    if (work.due) await work.rest()
  }
}

/** Clients ask by several names, with and without the `@` of the first one. */
function wantsProtobuf(accept: string | undefined): boolean {
  const first = accept?.split(',')[0]?.trim() ?? ''
  return first.startsWith('application/com.github.') && first.includes('+protobuf')
}
