/**
 * Requests that an API thread answers: GETs, lists and watches of stored objects, of kinds that depend on the store alone, and documents
 * about kinds. Custom resources are among them, and unserved kinds, unless a webhook converts them somewhere: one thread calls it.
 */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { isOfKinds } from '../discovery/kindDocuments.ts'
import { parseRequest } from '../request/requestInfo.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'

/** The main thread alone knows where it is reached, and whether the store takes writes. */
const OF_MAIN = new Set(['componentstatuses', 'services', 'endpoints', 'discovery.k8s.io/endpointslices'])

const VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export class OwnReads {
  /** Built-in kinds, and whether they are read here. */
  readonly #builtin = new Map<string, boolean>()
  readonly #types: Pick<TypeRegistry, 'areConverted'>

  /** `builtin`: also those that this server leaves out. `types`: what spaces define. */
  constructor(
    builtin: readonly Pick<ResourceType, 'group' | 'resource' | 'answered' | 'verbs'>[],
    types: Pick<TypeRegistry, 'areConverted'>,
  ) {
    this.#types = types
    for (const { group, resource, answered, verbs } of builtin) {
      const id = idOf(group, resource)
      this.#builtin.set(id, !answered && verbs.includes('list') && !OF_MAIN.has(id))
    }
  }

  has(method: string | undefined, url: string | undefined): boolean {
    if (method !== 'GET' || url === undefined) return false
    try {
      const { verb, resource, path, reported } = parseRequest(method, url)
      // who knows of locations runs beside the main thread
      if (reported) return false
      if (resource === undefined) return isOfKinds(path)
      if (resource.subresource !== '' || !VERBS.has(verb)) return false
      return (
        this.#builtin.get(idOf(resource.group, resource.resource)) ??
        !this.#types.areConverted(resource.group, resource.resource)
      )
    } catch {
      // the main thread says what is wrong with it
      return false
    }
  }
}

function idOf(group: string, resource: string): string {
  return group === '' ? resource : `${group}/${resource}`
}
