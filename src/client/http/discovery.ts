/**
 * Asks a server what it serves: aggregated discovery where it is offered (two requests), the classic documents elsewhere.
 * @see https://kubernetes.io/docs/concepts/overview/kubernetes-api/#discovery-api
 */
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import { objects, str, strings } from '../../apimachinery/fields.ts'
import { isRecord, parseApiVersion } from '../../apimachinery/object.ts'
import type { DiscoveredResource } from '../client.ts'
import { DiscoveryError, type DiscoveryFailure } from '../discoveryError.ts'

/** Newest first; a server answers in the first form that it knows, the last being the classic document. */
const ACCEPT = ['v2', 'v2beta1']
  .map(version => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`)
  .concat('application/json')
  .join(',')

/** GET of a path with an Accept header. */
type GetJson = (path: string, accept: string) => Promise<unknown>

interface GroupVersionContent {
  group: string
  version: string
  resources: DiscoveredResource[]
}

/**
 * One entry per resource, at the first version of its group, in the group's order of preference, that has it.
 * @throws DiscoveryError when some groups failed, holding what the others serve; StatusError when nothing could be learnt
 */
export async function discover(get: GetJson): Promise<DiscoveredResource[]> {
  const failed: DiscoveryFailure[] = []
  const [core, groups] = await Promise.all([legacyRoot(get), get('/apis', ACCEPT)])
  const contents: GroupVersionContent[] = []
  for (const document of [core, groups]) {
    if (!isRecord(document)) throw new StatusError('InternalError', 'discovery: the answer is not an object')
    const read =
      document.kind === 'APIGroupDiscoveryList' ? aggregated(document, failed) : await classic(get, document, failed)
    contents.push(...read)
  }
  const resources = preferred(contents)
  if (failed.length > 0) throw new DiscoveryError(resources, failed)
  return resources
}

/** A server without the core group answers 404, which is knowledge, not failure. */
async function legacyRoot(get: GetJson): Promise<unknown> {
  try {
    return await get('/api', ACCEPT)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return { kind: 'APIVersions', versions: [] }
    throw error
  }
}

function aggregated(document: Record<string, unknown>, failed: DiscoveryFailure[]): GroupVersionContent[] {
  const contents: GroupVersionContent[] = []
  for (const item of objects(document.items)) {
    const group = isRecord(item.metadata) ? str(item.metadata.name) : ''
    for (const entry of objects(item.versions)) {
      const version = str(entry.version)
      if (entry.freshness === 'Stale') {
        const error = new StatusError('ServiceUnavailable', 'the server behind this group does not answer')
        failed.push({ group, version, error })
        continue
      }
      const resources = objects(entry.resources).map(r => ({
        group,
        version,
        resource: str(r.resource),
        kind: isRecord(r.responseKind) ? str(r.responseKind.kind) : '',
        ...calledAlso(str(r.singularResource), strings(r.shortNames)),
        namespaced: r.scope === 'Namespaced',
        verbs: strings(r.verbs),
        subresources: objects(r.subresources).map(sub => str(sub.subresource)),
      }))
      contents.push({ group, version, resources })
    }
  }
  return contents
}

async function classic(
  get: GetJson,
  document: Record<string, unknown>,
  failed: DiscoveryFailure[],
): Promise<GroupVersionContent[]> {
  const wanted =
    document.kind === 'APIVersions'
      ? strings(document.versions).map(version => ({ group: '', version, path: `/api/${version}` }))
      : objects(document.groups).flatMap(group => groupVersions(group))
  const answers = await Promise.allSettled(wanted.map(w => get(w.path, 'application/json')))
  const contents: GroupVersionContent[] = []
  for (const [index, { group, version }] of wanted.entries()) {
    const answer = answers[index]!
    if (answer.status === 'rejected') failed.push({ group, version, error: answer.reason })
    else if (isRecord(answer.value))
      contents.push({ group, version, resources: resourceList(group, version, answer.value) })
  }
  return contents
}

/** The versions of one APIGroup, the preferred one first. */
function groupVersions(group: Record<string, unknown>): { group: string; version: string; path: string }[] {
  const first = isRecord(group.preferredVersion) ? str(group.preferredVersion.groupVersion) : ''
  const all = objects(group.versions).map(version => str(version.groupVersion))
  const ordered = [...new Set(first && all.includes(first) ? [first, ...all] : all)]
  return ordered.flatMap(groupVersion => {
    const parsed = parseApiVersion(groupVersion)
    return parsed ? [{ ...parsed, path: `/apis/${groupVersion}` }] : []
  })
}

function resourceList(group: string, version: string, list: Record<string, unknown>): DiscoveredResource[] {
  const entries = objects(list.resources)
  const names = entries.map(entry => str(entry.name))
  return entries
    .filter(entry => !str(entry.name).includes('/'))
    .map(entry => {
      const resource = str(entry.name)
      const prefix = `${resource}/`
      const subresources = names.filter(name => name.startsWith(prefix)).map(name => name.slice(prefix.length))
      return {
        group,
        version,
        resource,
        kind: str(entry.kind),
        ...calledAlso(str(entry.singularName), strings(entry.shortNames)),
        namespaced: entry.namespaced === true,
        verbs: strings(entry.verbs),
        subresources,
      }
    })
}

function calledAlso(singular: string, shortNames: string[]): Pick<DiscoveredResource, 'singular' | 'shortNames'> {
  return { ...(singular !== '' && { singular }), ...(shortNames.length > 0 && { shortNames }) }
}

function preferred(contents: readonly GroupVersionContent[]): DiscoveredResource[] {
  const byName = new Map<string, DiscoveredResource & { versions: string[] }>()
  for (const { version, resources } of contents) {
    for (const resource of resources) {
      const name = `${resource.group}/${resource.resource}`
      const known = byName.get(name)
      if (known) known.versions.push(version)
      else byName.set(name, { ...resource, versions: [version] })
    }
  }
  return [...byName.values()]
}
