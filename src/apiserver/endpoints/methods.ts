/**
 * Which HTTP methods a path of the resource API takes.
 * @see https://datatracker.ietf.org/doc/html/rfc9110#name-405-method-not-allowed
 */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { ResourceRequest } from '../request/requestInfo.ts'

const ON_OBJECTS = { get: 'GET', update: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const
const ON_COLLECTIONS = { list: 'GET', create: 'POST', deletecollection: 'DELETE' } as const
const ON_PARTS = { ...ON_OBJECTS, create: 'POST' } as const

const STREAMED = ['GET', 'POST']
const PROXIED = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']
const CONNECTIONS: Readonly<Record<string, readonly string[]>> = {
  'pods/log': ['GET'],
  'pods/exec': STREAMED,
  'pods/attach': STREAMED,
  'pods/portforward': STREAMED,
  'pods/proxy': PROXIED,
  'services/proxy': PROXIED,
  'nodes/proxy': PROXIED,
}

/** The methods of a sub-resource that leads to what runs; `undefined` for all others. */
export function connectionMethods({
  group,
  resource,
  subresource,
}: Pick<ResourceRequest, 'group' | 'resource' | 'subresource'>): readonly string[] | undefined {
  if (subresource === '' || group !== '') return undefined
  const name = `${resource}/${subresource}`
  return Object.hasOwn(CONNECTIONS, name) ? CONNECTIONS[name] : undefined
}

/** Value of the `Allow` header for a resource path; `''` when it takes none. */
export function allowedMethods({ type, resource, entry }: Pick<Exchange, 'type' | 'resource' | 'entry'>): string {
  const connected = connectionMethods(resource)
  if (connected !== undefined) return connected.join(', ')
  const isPart = resource.subresource !== ''
  const known: Record<string, string> = isPart ? ON_PARTS : resource.name === '' ? ON_COLLECTIONS : ON_OBJECTS
  const verbs = (isPart ? entry : type)?.verbs ?? []
  const methods = verbs.filter(verb => !acrossNamespaces(type, resource, verb)).map(verb => known[verb])
  return [...new Set(methods.filter(method => method !== undefined))].sort().join(', ')
}

/** Creating and deleting need a namespace for kinds that live in one. */
export function acrossNamespaces(type: ResourceType, resource: ResourceRequest, verb: string): boolean {
  return type.namespaced && resource.namespace === '' && (verb === 'create' || verb === 'deletecollection')
}
