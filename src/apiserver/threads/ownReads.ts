/** Which requests an API thread answers: GETs, lists and watches of what is stored, of kinds that only the store has a say about. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { parseRequest } from '../request/requestInfo.ts'

/** What the main thread alone knows: where it is reached. */
const OF_MAIN = new Set(['services', 'endpoints', 'discovery.k8s.io/endpointslices'])

const VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export class OwnReads {
  readonly #kinds = new Set<string>()

  /** @param types built-in kinds */
  constructor(types: readonly Pick<ResourceType, 'group' | 'resource' | 'form' | 'answered' | 'verbs'>[]) {
    for (const { group, resource, form, answered, verbs } of types) {
      const id = idOf(group, resource)
      if (form !== 'own' && !answered && verbs.includes('list') && !OF_MAIN.has(id)) this.#kinds.add(id)
    }
  }

  has(method: string | undefined, url: string | undefined): boolean {
    if (method !== 'GET' || url === undefined) return false
    try {
      const { verb, resource } = parseRequest(method, url)
      if (resource === undefined || resource.subresource !== '' || !VERBS.has(verb)) return false
      return this.#kinds.has(idOf(resource.group, resource.resource))
    } catch {
      // the main thread says what is wrong with it
      return false
    }
  }
}

function idOf(group: string, resource: string): string {
  return group === '' ? resource : `${group}/${resource}`
}
