/** Discovery and OpenAPI of some kinds: the documents, and the paths that send them. */
import { DiscoveryDocuments, type DiscoveryDocumentsDeps } from '../discovery/discoveryDocuments.ts'
import { discoveryPaths } from '../discovery/discoveryPaths.ts'
import { type KindDocuments, kindDocuments } from '../discovery/kindDocuments.ts'
import type { PathEntry } from '../http/paths.ts'
import { type OpenApiDocuments, openApiOf } from './documents.ts'
import { openApiPaths } from './routes.ts'

export interface DocumentsDeps extends DiscoveryDocumentsDeps {
  openApi: OpenApiDocuments
}

export function documentsOf({ openApi, ...deps }: DocumentsDeps): KindDocuments {
  return kindDocuments(new DiscoveryDocuments(deps), openApiOf(deps.types, openApi))
}

/** `documents`: default: those of the same kinds. */
export function documentPaths(deps: DocumentsDeps, documents: KindDocuments = documentsOf(deps)): PathEntry[] {
  const { types, work } = deps
  return [...discoveryPaths({ types, documents }), ...openApiPaths({ documents, work })]
}
