/** Where a request of the host leads here: to the documents, the list of spaces, the configured space, or the space that it names. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { HOST_SPACES } from '../../client/http/paths.ts'
import type { Forwarded } from '../access/forwarded.ts'
import { parseRequest, type RequestInfo } from '../request/requestInfo.ts'
import { SPACES } from './hostKinds.ts'

/** As the host writes it, which cleans paths. Anything else leads to the configured space, which has no such kind. */
const PROXY = new RegExp(`^${HOST_SPACES.replaceAll('.', '[.]')}/([^/?]+)/proxy(?=[/?]|$)`)

export interface HostRequest extends Pick<Forwarded, 'asked' | 'target'> {
  /** As this server takes it. */
  readonly url: string
}

/** @param space path of the configured one */
export function hostRequest(method: string, url: string, space: string): HostRequest {
  const asked = parsed(method, url)
  // the road refuses the same URL, in the name of its user
  if (asked === undefined) return { asked: UNREADABLE, target: 'documents', url }
  const proxied = PROXY.exec(url)
  if (proxied !== null) {
    const rest = url.slice(proxied[0].length)
    return { asked, target: 'space', url: `/clusters/${proxied[1]}${rest.startsWith('/') ? rest : `/${rest}`}` }
  }
  if (isOfDocuments(asked)) return { asked, target: 'documents', url }
  if (isOfSpaces(asked)) return { asked, target: 'spaces', url }
  return { asked, target: 'space', url: `/clusters/${space}${url.startsWith('/') ? url : `/${url}`}` }
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
