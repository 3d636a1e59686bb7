/**
 * Reads a request's meaning from its method and URL: which space, which resource, which verb.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris
 */
import { StatusError } from '../../apimachinery/errors.ts'

export interface ResourceRequest {
  group: string
  version: string
  resource: string
  subresource: string
  /** `''` for cluster-scoped resources and for all namespaces. */
  namespace: string
  /** `''` for collections. */
  name: string
}

export interface RequestInfo {
  /** The path or id after `/clusters/`; `undefined` when the URL names no space. */
  space: string | undefined
  /** True for `/services/stream/…`. */
  stream: boolean
  /** For `/services/reported/clusters/<space>…`, reports of clusters for the space; with `/locations/<location>`: those of that one. */
  reported?: { readonly location: string | undefined }
  /** Path behind the space prefix, without the query. */
  path: string
  query: URLSearchParams
  /** get, list, watch, create, update, patch, delete, deletecollection; the lower-case method for non-resource paths. */
  verb: string
  resource: ResourceRequest | undefined
}

const SPACE_PATTERN =
  /^(\*|[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*|system:[a-z0-9-]+)$/
const REPORTED = '/services/reported'
const LOCATION_PATH = /^\/locations\/([^/]+)(\/.*)?$/
const NO_QUERY = new URLSearchParams()

/** @throws StatusError BadRequest for a malformed space or escape */
export function parseRequest(method: string, url: string): RequestInfo {
  const mark = url.indexOf('?')
  const query = mark < 0 ? NO_QUERY : new URLSearchParams(url.slice(mark + 1))
  let path = mark < 0 ? url : url.slice(0, mark)
  let space: string | undefined
  let stream = false
  // Without /clusters/ it is the space that the credential implies.
  if (path === '/services/stream' || path.startsWith('/services/stream/clusters/')) {
    stream = true
    path = path.slice('/services/stream'.length)
  }
  const isReported = path.startsWith(`${REPORTED}/clusters/`)
  if (isReported) path = path.slice(REPORTED.length)
  if (path.startsWith('/clusters/')) {
    const end = path.indexOf('/', 10)
    space = decode(end < 0 ? path.slice(10) : path.slice(10, end))
    path = end < 0 ? '/' : path.slice(end)
    if (!SPACE_PATTERN.test(space)) {
      throw new StatusError('BadRequest', `invalid cluster: ${JSON.stringify(space)} does not match the regex`)
    }
  }
  if (stream && path !== '' && path !== '/') {
    // Nothing lies below a stream: such a path is one that nobody serves, and never the resource that it would be elsewhere.
    stream = false
    path = `/services/stream${path}`
  }
  const location = isReported ? LOCATION_PATH.exec(path) : null
  if (location) path = location[2] ?? '/'
  const { resource, watch } = stream ? NO_RESOURCE : parseResourcePath(path)
  const verb = verbOf(method, resource, watch || requestedWatch(query))
  const info: RequestInfo = { space, stream, path, query, verb, resource }
  if (isReported) info.reported = { location: location ? decode(location[1]!) : undefined }
  return info
}

const NO_RESOURCE = { resource: undefined, watch: false }

/** `watch` tells that the path asks for one, as `/api/v1/watch/…` did before there was a query parameter for it. */
function parseResourcePath(path: string): { resource: ResourceRequest | undefined; watch: boolean } {
  const parts: string[] = []
  for (const part of path.split('/')) if (part !== '') parts.push(decode(part))
  let group: string
  /** Where what is not read yet begins. */
  let at: number
  if (parts[0] === 'api' && parts.length >= 3) {
    group = ''
    at = 1
  } else if (parts[0] === 'apis' && parts.length >= 4) {
    group = parts[1]!
    at = 2
  } else return NO_RESOURCE
  const version = parts[at++]!
  const watch = parts[at] === 'watch' && parts.length > at + 1
  if (watch) at++
  let namespace = ''
  // /namespaces/<name>[/status|/finalize] is the Namespace itself; anything else below it is in that namespace.
  if (
    parts[at] === 'namespaces' &&
    parts.length >= at + 3 &&
    !(group === '' && (parts[at + 2] === 'status' || parts[at + 2] === 'finalize'))
  ) {
    namespace = parts[at + 1]!
    at += 2
  }
  const name = parts[at + 1] ?? ''
  const further = at + 2
  // what comes after `proxy` is for whom it leads to
  const isProxy = parts[further] === 'proxy'
  const subresource = parts.length <= further ? '' : isProxy ? 'proxy' : parts.slice(further).join('/')
  return {
    resource: { group, version, resource: parts[at]!, name, subresource, namespace },
    watch,
  }
}

function requestedWatch(query: URLSearchParams): 'collections' | false {
  const value = query.get('watch')
  return value !== null && value !== 'false' && value !== '0' && 'collections'
}

/** The query parameter `watch` means nothing for a single object; the old path does. */
function verbOf(method: string, resource: ResourceRequest | undefined, watch: boolean | 'collections'): string {
  if (resource === undefined) return method.toLowerCase()
  switch (method) {
    case 'GET':
    case 'HEAD':
      if (watch === true || (watch === 'collections' && resource.name === '')) return 'watch'
      return resource.name === '' ? 'list' : 'get'
    case 'POST':
      return 'create'
    case 'PUT':
      return 'update'
    case 'PATCH':
      return 'patch'
    case 'DELETE':
      return resource.name === '' ? 'deletecollection' : 'delete'
    default:
      return method.toLowerCase()
  }
}

function decode(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    throw new StatusError('BadRequest', `malformed percent-encoding in the URL path: ${JSON.stringify(part)}`)
  }
}

/** A right to see one object implies its list or watch by name, as `kubectl get NAME --watch` does. */
export function nameAware(info: RequestInfo, resource: ResourceRequest): ResourceRequest {
  if (resource.name !== '' || (info.verb !== 'list' && info.verb !== 'watch')) return resource
  const term = info.query
    .get('fieldSelector')
    ?.split(',')
    .find(part => /^metadata\.name==?[^=]/.test(part))
  return term === undefined ? resource : { ...resource, name: term.slice(term.lastIndexOf('=') + 1) }
}
