/** Paths of discovery: `/`, `/api`, `/apis` and what lies below them. */

import type { Answer } from '../http/answer.ts'
import { CONTENT_TYPES, negotiateFormat, wantsPretty } from '../http/negotiate.ts'
import type { PathEntry } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { aggregatedContentType, aggregatedWanted } from './aggregated.ts'
import { apiGroupList } from './discovery.ts'
import type { KindDocument, KindDocuments } from './kindDocuments.ts'

export interface DiscoveryPathsDeps {
  types: TypeRegistry
  documents: KindDocuments
}

export function discoveryPaths({ types, documents }: DiscoveryPathsDeps): PathEntry[] {
  const handle: PathEntry['handle'] = async (request, answer, { info, space }, path) => {
    const { accept, 'user-agent': agent } = request.headers
    const aggregated = path === '/api' || path === '/apis' ? aggregatedWanted(accept) : undefined
    if (aggregated !== undefined) {
      const document = await documents.get(space, { path, form: aggregated })
      return document !== undefined && (await send(request, answer, document, aggregatedContentType(aggregated)))
    }
    const format = negotiateFormat(accept, path !== '/')
    const indent = wantsPretty(info.query, agent) ? 2 : undefined
    const document = await documents.get(space, { path, form: { format, indent } })
    return document !== undefined && (await send(request, answer, document, CONTENT_TYPES[format]))
  }
  const groupsOf = (space: string): string[] =>
    apiGroupList(types.in(space).types).groups.flatMap(({ name, versions }) => [
      `/apis/${name}`,
      ...versions.map(({ groupVersion }) => `/apis/${groupVersion}`),
    ])
  return [
    { path: '/', isUnlisted: true, handle },
    { path: '/api', below: () => ['/api/v1'], handle },
    { path: '/apis', below: groupsOf, handle },
  ]
}

async function send(
  request: Request,
  answer: Answer,
  { hash, body }: KindDocument,
  contentType: string,
): Promise<true> {
  const etag = `"${hash}"`
  answer.header('etag', etag).header('vary', 'Accept').header('cache-control', 'public')
  if (request.headers['if-none-match'] === etag) answer.code(304).send()
  else
    answer
      .code(200)
      .header('content-type', contentType)
      .send(await body())
  return true
}
