/** Documents about the kinds of a space, as bytes: discovery and OpenAPI. The maker and the sender may be in two threads. */
import type { Soon } from '../../apimachinery/soon.ts'
import type { Answer } from '../http/answer.ts'
import type { AggregatedForm } from './aggregated.ts'

/** Which document, of those of a space. */
export interface DocumentName {
  /** Without a slash at its end. */
  readonly path: string
  readonly form: AggregatedForm | { readonly format: 'json' | 'yaml' | 'protobuf'; readonly indent?: 2 | undefined }
}

export interface KindDocument {
  /** Upper-case hexadecimal; changes with the content. */
  readonly hash: string
  body(): Soon<Buffer>
}

export interface KindDocuments {
  /** As of the latest answer to any client. `undefined`: the space has none of that path. */
  get(space: string, name: DocumentName): Soon<KindDocument | undefined>
}

/** Names the version of an answer's document. True where its client has that one. */
export function hasVersion(answer: Answer, { hash }: KindDocument): boolean {
  const etag = `"${hash}"`
  answer.header('etag', etag)
  return answer.req.headers['if-none-match'] === etag
}

/** The same for the same document; `DocumentName` itself may cross to another thread. */
export function idOf({ path, form }: DocumentName): string {
  return `${path} ${JSON.stringify(form)}`
}

const OPENAPI = '/openapi/'

/** Whether these documents have such a path, were the kinds of a space so. */
export function isOfKinds(path: string): boolean {
  return /^\/apis?(\/|$)/.test(path) || path.startsWith(OPENAPI)
}

/** Those of discovery, and those of OpenAPI. */
export function kindDocuments(discovery: KindDocuments, openApi: KindDocuments): KindDocuments {
  return { get: (space, name) => (name.path.startsWith(OPENAPI) ? openApi : discovery).get(space, name) }
}
