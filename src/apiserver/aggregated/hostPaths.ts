/** Where a request of the host leads here: to the documents, the list of spaces, the configured space, or the space that it names. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { HOST_SPACES } from '../../client/http/paths.ts'
import type { Forwarded } from '../access/forwarded.ts'
import { parseRequest, type RequestInfo } from '../request/requestInfo.ts'
import { HOST_GROUP_VERSIONS, SPACES } from './hostKinds.ts'

/** As the host writes it, which cleans paths. */
const PROXY = new RegExp(`^${HOST_SPACES.replaceAll('.', '[.]')}/([^/?]+)/proxy(?=[/?]|$)`)

export interface HostRequest extends Pick<Forwarded, 'requested' | 'target'> {
  /** As this server takes it. */
  readonly url: string
}

/** @param space path of the configured one */
export function hostRequest(method: string, url: string, space: string): HostRequest {
  const requested = parsed(method, url)
  // the road refuses the same URL, in the name of its user
  if (requested === undefined) return { requested: UNREADABLE, target: 'documents', url }
  const proxied = PROXY.exec(url)
  if (proxied !== null) {
    const rest = url.slice(proxied[0].length)
    return { requested, target: 'space', url: `/clusters/${proxied[1]}${rooted(rest)}` }
  }
  if (isOfDocuments(requested)) return { requested, target: 'documents', url }
  if (isOfSpaces(requested)) return { requested, target: 'spaces', url }
  if (isShown(requested)) return { requested, target: 'space', url: `/clusters/${space}${rooted(url)}` }
  // no host forwards it: a right to what the host has of its own is none in a space
  return hostRequest(method, `${HOST_SPACES}/${space}/proxy${rooted(url)}`, space)
}

function rooted(path: string): string {
  return path.startsWith('/') ? path : `/${path}`
}

const UNREADABLE: RequestInfo = {
  space: undefined,
  stream: false,
  path: '',
  query: new URLSearchParams(),
  verb: '',
  resource: undefined,
}

function parsed(method: string, url: string): RequestInfo | undefined {
  try {
    return parseRequest(method, url)
  } catch (error) {
    if (isStatusError(error)) return undefined
    throw error
  }
}

/** Paths that begin with `/clusters` name a space of their own, past the host's rules: they are nobody's documents. */
function isOfDocuments({ resource, space, stream }: RequestInfo): boolean {
  return resource === undefined && space === undefined && !stream
}

/** Whether the host shows the kind as one of its own. */
function isShown({ resource, space }: RequestInfo): boolean {
  const { group, version } = resource ?? {}
  return space === undefined && HOST_GROUP_VERSIONS.some(each => each.group === group && each.version === version)
}

function isOfSpaces({ resource, space }: RequestInfo): boolean {
  const { group, version, resource: name, subresource } = resource ?? {}
  return (
    space === undefined &&
    group === SPACES.group &&
    version === SPACES.version &&
    name === SPACES.resource &&
    subresource === ''
  )
}
