/**
 * OpenAPI documents as bytes, made when first asked for. They are kept by content, so spaces that serve the same kinds share
 * them, and only the latest few are: the document of a whole space is megabytes.
 */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { openApiV2 } from './openApiV2.ts'
import { openApiHash, openApiV3, openApiV3Index } from './openApiV3.ts'
import { encodeOpenApiV2 } from './protobuf.ts'

export interface PreparedDocument {
  body: Buffer
  /** Upper-case hexadecimal; changes with the content. */
  hash: string
}

/** Group versions of v3 are some hundred kilobytes each; a browsing user reads a dozen. */
const KEPT_GROUP_VERSIONS = 32
/** Per form of v2: the built-in kinds alone, and the spaces that are being worked with. */
const KEPT_WHOLE = 4

export class OpenApiDocuments {
  readonly #catalog: Catalog
  readonly #groupVersions = new RecentlyUsed<Buffer>(KEPT_GROUP_VERSIONS)
  readonly #whole = { json: new RecentlyUsed<Buffer>(KEPT_WHOLE), protobuf: new RecentlyUsed<Buffer>(KEPT_WHOLE) }

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  index(types: readonly ResourceType[]): PreparedDocument {
    const body = Buffer.from(JSON.stringify(openApiV3Index(types, this.#catalog)))
    return { body, hash: openApiHash(types, this.#catalog) }
  }

  /** `undefined` when no type is of that group version. */
  groupVersion(types: readonly ResourceType[], group: string, version: string): PreparedDocument | undefined {
    const served = types.filter(type => type.group === group && type.version === version)
    if (served.length === 0) return undefined
    const hash = openApiHash(served, this.#catalog)
    const body = this.#groupVersions.get(hash, () => {
      const options = { group, version, catalog: this.#catalog, descriptions: this.#catalog.loadDescriptions() }
      return Buffer.from(JSON.stringify(openApiV3(served, options)))
    })
    return { body, hash }
  }

  whole(types: readonly ResourceType[], form: 'json' | 'protobuf'): PreparedDocument {
    const hash = openApiHash(types, this.#catalog)
    const body = this.#whole[form].get(hash, () => {
      const options = { catalog: this.#catalog, descriptions: this.#catalog.loadDescriptions() }
      const document = openApiV2(types, options)
      return form === 'protobuf' ? encodeOpenApiV2(document) : Buffer.from(JSON.stringify(document))
    })
    return { body, hash }
  }
}

/** Keeps the `limit` entries that were asked for last. */
class RecentlyUsed<T> {
  readonly #limit: number
  readonly #entries = new Map<string, T>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get(key: string, make: () => T): T {
    const value = this.#entries.get(key) ?? make()
    this.#entries.delete(key)
    this.#entries.set(key, value)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#limit) break
      this.#entries.delete(oldest)
    }
    return value
  }
}
