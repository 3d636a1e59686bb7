/**
 * Aggregated discovery: all groups, versions and resources in one document, which kubectl asks for since 1.26.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#aggregated-discovery
 */
import { PROTOBUF_MEDIA_TYPE } from '../../apimachinery/protobuf/protobufCodec.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { describeSubresource } from './discovery.ts'
import { type ServedGroup, type ServedVersion, servedGroups } from './groups.ts'

type AggregatedVersion = 'v2' | 'v2beta1'

interface ResponseKind {
  group: string
  version: string
  kind: string
}
export interface ApiResourceDiscovery {
  resource: string
  responseKind: ResponseKind
  scope: 'Namespaced' | 'Cluster'
  singularResource: string
  verbs: string[]
  shortNames?: string[]
  categories?: string[]
  subresources?: { subresource: string; responseKind: ResponseKind; verbs: string[] }[]
}
interface ApiGroupDiscovery {
  /** Without a name for the core group. */
  metadata: { name?: string }
  versions: { version: string; resources: ApiResourceDiscovery[]; freshness: 'Current' }[]
}
export interface ApiGroupDiscoveryList {
  kind: 'APIGroupDiscoveryList'
  apiVersion: `apidiscovery.k8s.io/${AggregatedVersion}`
  metadata: Record<string, never>
  items: ApiGroupDiscovery[]
}

export interface AggregatedForm {
  version: AggregatedVersion
  format: 'json' | 'protobuf'
}

const MEDIA_TYPES: Readonly<Record<string, AggregatedForm['format']>> = {
  'application/json': 'json',
  [PROTOBUF_MEDIA_TYPE]: 'protobuf',
}
const PLAIN_TYPES = new Set([...Object.keys(MEDIA_TYPES), 'application/yaml'])

/** The content type of the document. */
export function aggregatedContentType({ version, format }: AggregatedForm): string {
  const media = format === 'json' ? 'application/json' : PROTOBUF_MEDIA_TYPE
  return `${media};g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
}

/** The first form that an `Accept` header names, when it is an aggregated one. Unserved forms are skipped. */
export function aggregatedWanted(accept: string | undefined): AggregatedForm | undefined {
  for (const entry of accept?.split(',') ?? []) {
    const [media = '', ...parameters] = entry.split(';').map(part => part.trim())
    const given = new Map(parameters.map(parameter => parameter.split('=', 2) as [string, string]))
    if (!given.has('as')) {
      if (PLAIN_TYPES.has(media)) return undefined
      continue
    }
    const format = MEDIA_TYPES[media]
    const version = given.get('v')
    const isAggregated = given.get('as') === 'APIGroupDiscoveryList' && given.get('g') === 'apidiscovery.k8s.io'
    if (format && isAggregated && (version === 'v2' || version === 'v2beta1')) return { version, format }
  }
  return undefined
}

/** `/api` (the core group alone) or `/apis` (all others). */
export function aggregatedDiscovery(
  types: readonly ResourceType[],
  { root, version }: { root: 'api' | 'apis'; version: AggregatedVersion },
): ApiGroupDiscoveryList {
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: servedGroups(types)
      .filter(({ group }) => (group === '') === (root === 'api'))
      .map(groupDiscovery),
  }
}

function groupDiscovery({ group, versions }: ServedGroup): ApiGroupDiscovery {
  return { metadata: group === '' ? {} : { name: group }, versions: versions.map(versionDiscovery) }
}

function versionDiscovery({ version, types }: ServedVersion): ApiGroupDiscovery['versions'][number] {
  return { version, resources: types.map(resourceDiscovery), freshness: 'Current' }
}

function resourceDiscovery(type: ResourceType): ApiResourceDiscovery {
  const { group, version, kind } = type
  return {
    resource: type.resource,
    responseKind: { group, version, kind },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: [...type.verbs],
    ...(type.shortNames.length > 0 && { shortNames: [...type.shortNames] }),
    ...(type.categories.length > 0 && { categories: [...type.categories] }),
    ...(type.subresources.length > 0 && {
      subresources: type.subresources.map(name => {
        const { group, version, kind, verbs } = describeSubresource(type, name)
        return { subresource: name, responseKind: { group, version, kind }, verbs: [...verbs] }
      }),
    }),
  }
}
