/**
 * Reads the API classes of `@kubernetes/client-node`: which HTTP methods exist on which paths, and for which models.
 * From these follow the resources of a group version, their scope, verbs and sub-resources.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SubresourceOperations {
  name: string
  /** Sorted, of create, delete, get, patch, update. */
  verbs: string[]
  /** The model of its body, or of its answer; absent when it speaks no model (logs, tunnels). */
  model: string | undefined
}

export interface ResourceOperations {
  group: string
  version: string
  resource: string
  namespaced: boolean
  /** Sorted. */
  verbs: string[]
  model: string
  listModel: string | undefined
  /** The answer of a deletion. */
  deletedModel: string | undefined
  /** Sorted by name. */
  subresources: SubresourceOperations[]
}

interface Operation {
  path: string
  method: string
  body: string | undefined
  answer: string | undefined
  watchable: boolean
}

const ITEM_VERBS: Record<string, string> = {
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
  POST: 'create',
}
const COLLECTION_VERBS: Record<string, string> = { GET: 'list', POST: 'create', DELETE: 'deletecollection' }
const PATH =
  /^\/(?:api|apis\/([^/]+))\/([^/]+)\/(?:(namespaces\/\{namespace\}\/))?([a-z]+)(?:\/(\{name\})(?:\/([a-z]+))?)?$/

/** The resources of one API class, such as `AppsV1Api` in `folder`, sorted by name. */
export function readOperations(folder: string, apiClass: string): ResourceOperations[] {
  const operations = parseOperations(
    readFileSync(join(folder, `${apiClass}.js`), 'utf8'),
    readFileSync(join(folder, `${apiClass}.d.ts`), 'utf8'),
  )
  const drafts = new Map<string, Draft>()
  for (const operation of operations) {
    const match = PATH.exec(operation.path)
    if (match === null) continue
    const [, group = '', version, namespaces, resource, item, subresource] = match
    const draft = drafts.get(resource!) ?? newDraft(group, version!, resource!)
    drafts.set(resource!, draft)
    if (namespaces !== undefined) draft.namespaced = true
    if (subresource !== undefined) addToSubresource(draft, subresource, operation)
    else if (item !== undefined) addToItem(draft, operation)
    else addToCollection(draft, operation)
  }
  return [...drafts.values()].map(finish).sort((a, b) => (a.resource < b.resource ? -1 : 1))
}

interface Draft {
  group: string
  version: string
  resource: string
  namespaced: boolean
  verbs: Set<string>
  model: string | undefined
  listModel: string | undefined
  deletedModel: string | undefined
  subresources: Map<string, { verbs: Set<string>; model: string | undefined }>
}

function newDraft(group: string, version: string, resource: string): Draft {
  return {
    group,
    version,
    resource,
    namespaced: false,
    verbs: new Set(),
    model: undefined,
    listModel: undefined,
    deletedModel: undefined,
    subresources: new Map(),
  }
}

function addToItem(draft: Draft, operation: Operation): void {
  draft.verbs.add(ITEM_VERBS[operation.method]!)
  if (operation.method === 'GET' || operation.method === 'PUT') draft.model = operation.answer
  if (operation.method === 'DELETE') draft.deletedModel = operation.answer
}

function addToCollection(draft: Draft, operation: Operation): void {
  draft.verbs.add(COLLECTION_VERBS[operation.method]!)
  if (operation.method === 'POST') draft.model ??= operation.body
  if (operation.method !== 'GET') return
  draft.listModel = operation.answer
  // Every list call takes `watch`; only what can also be written is really watchable (componentstatuses is computed).
  if (operation.watchable) draft.verbs.add('watch')
}

function addToSubresource(draft: Draft, name: string, operation: Operation): void {
  const subresource = draft.subresources.get(name) ?? { verbs: new Set<string>(), model: undefined }
  draft.subresources.set(name, subresource)
  subresource.verbs.add(ITEM_VERBS[operation.method]!)
  if (operation.method !== 'DELETE') subresource.model ??= operation.body ?? operation.answer
}

function finish(draft: Draft): ResourceOperations {
  if (draft.model === undefined) throw new Error(`no model for ${draft.resource} in ${draft.group}/${draft.version}`)
  if (!draft.verbs.has('create')) draft.verbs.delete('watch')
  return {
    ...draft,
    model: draft.model,
    verbs: [...draft.verbs].sort(),
    subresources: [...draft.subresources]
      .map(([name, { verbs, model }]) => ({ name, verbs: [...verbs].sort(), model }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

function parseOperations(code: string, types: string): Operation[] {
  const answers = new Map<string, string>()
  for (const [, name, answer] of types.matchAll(
    /(\w+)WithHttpInfo\(response: ResponseContext\): Promise<HttpInfo<(.+?)>>;/g,
  )) {
    answers.set(name!, answer!)
  }
  const factory = code.slice(0, code.search(/export class \w+ResponseProcessor/))
  return factory
    .split(/\n {4}async /)
    .slice(1)
    .map(text => {
      const name = /^\w+/.exec(text)![0]
      const path = /localVarPath = '([^']*)'/.exec(text)?.[1]
      const method = /HttpMethod\.(\w+)/.exec(text)?.[1]
      if (path === undefined || method === undefined) throw new Error(`cannot read the request of ${name}`)
      const body = /serialize\(body, "([^"]+)"/.exec(text)?.[1]
      return {
        path,
        method,
        body: modelName(body),
        answer: modelName(answers.get(name)),
        watchable: text.includes('setQueryParam("watch"'),
      }
    })
}

function modelName(type: string | undefined): string | undefined {
  return type !== undefined && /^[A-Z]\w*$/.test(type) ? type : undefined
}
