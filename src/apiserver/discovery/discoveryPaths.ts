/** Paths of discovery: `/`, `/api`, `/apis` and what lies below them. */

import type { Answer } from '../http/answer.ts'
import { CONTENT_TYPES, negotiateFormat, wantsPretty } from '../http/negotiate.ts'
import type { PathEntry } from '../http/paths.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { aggregatedContentType, aggregatedWanted } from './aggregated.ts'
import { apiGroupList } from './discovery.ts'
import { hasVersion, type KindDocument, type KindDocuments } from './kindDocuments.ts'

interface DiscoveryPathsDeps {
  types: Pick<TypeRegistry, 'in'>
  documents: KindDocuments
}

export function discoveryPaths({ types, documents }: DiscoveryPathsDeps): PathEntry[] {
  const handle: PathEntry['handle'] = async (request, answer, { info, space }, path) => {
    const { accept, 'user-agent': agent } = request.headers
    const aggregated = path === '/api' || path === '/apis' ? aggregatedWanted(accept) : undefined
    if (aggregated !== undefined) {
      const document = await documents.get(space, { path, form: aggregated })
      return document !== undefined && (await send(answer, document, aggregatedContentType(aggregated)))
    }
    const format = negotiateFormat(accept, path !== '/')
    const indent = wantsPretty(info.query, agent) ? 2 : undefined
    const document = await documents.get(space, { path, form: { format, indent } })
    return document !== undefined && (await send(answer, document, CONTENT_TYPES[format]))
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

async function send(answer: Answer, document: KindDocument, contentType: string): Promise<true> {
  const isKnown = hasVersion(answer, document)
  answer.header('vary', 'Accept').header('cache-control', 'public')
  if (isKnown) answer.code(304).send()
  else answer.type(contentType).send(await document.body())
  return true
}
