/**
 * OpenAPI documents as bytes, made when first asked for. They are kept by content, so spaces that serve the same kinds share
 * them, and only the latest few are: the document of a whole space is megabytes.
 */

import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { OpenApiV2Builder } from './openApiV2Builder.ts'
import { JsonForm } from './openApiV2Form.ts'
import { openApiHash, openApiV3, openApiV3Index, typeHash } from './openApiV3.ts'
import { ProtobufForm } from './protobuf.ts'
import { TimeSlices } from './timeSlices.ts'

export interface PreparedDocument {
  body: Buffer
  /** Upper-case hexadecimal; changes with the content. */
  hash: string
}

export interface WholeDocument {
  hash: string
  body(): Promise<Buffer>
}

/** Group versions of v3 are some hundred kilobytes each; a browsing user reads a dozen. */
const KEPT_GROUP_VERSIONS = 32
/** Per form of v2: the built-in kinds alone, and the spaces that are being worked with. */
const KEPT_WHOLE = 4

export class OpenApiDocuments {
  readonly #catalog: Catalog
  readonly #groupVersions = new BoundedCache<string, Buffer>(KEPT_GROUP_VERSIONS)
  readonly #whole: Record<'json' | 'protobuf', OpenApiV2Builder>
  /** The types of a space are another list after each change. */
  readonly #hashes = new WeakMap<readonly ResourceType[], string>()

  constructor(catalog: Catalog) {
    this.#catalog = catalog
    this.#whole = {
      json: new OpenApiV2Builder(catalog, new JsonForm(), KEPT_WHOLE),
      protobuf: new OpenApiV2Builder(catalog, new ProtobufForm(), KEPT_WHOLE),
    }
  }

  async index(types: readonly ResourceType[]): Promise<PreparedDocument> {
    const hash = await this.#hashOf(types)
    return { body: Buffer.from(JSON.stringify(openApiV3Index(types, this.#catalog))), hash }
  }

  /** `undefined` when no type is of that group version. */
  groupVersion(types: readonly ResourceType[], group: string, version: string): PreparedDocument | undefined {
    const served = types.filter(type => type.group === group && type.version === version)
    if (served.length === 0) return undefined
    const hash = openApiHash(served, this.#catalog)
    let body = this.#groupVersions.get(hash)
    if (body === undefined) {
      const options = { group, version, catalog: this.#catalog, descriptions: this.#catalog.loadDescriptions() }
      body = Buffer.from(JSON.stringify(openApiV3(served, options)))
      this.#groupVersions.set(hash, body)
    }
    return { body, hash }
  }

  /** The document is not made before its body is asked for. */
  async whole(types: readonly ResourceType[], form: 'json' | 'protobuf'): Promise<WholeDocument> {
    const hash = await this.#hashOf(types)
    return { hash, body: () => this.#whole[form].get(types, hash) }
  }

  async #hashOf(types: readonly ResourceType[]): Promise<string> {
    let hash = this.#hashes.get(types)
    if (hash === undefined) {
      // Each is remembered, so what is left to do at once is little.
      const slices = new TimeSlices()
      for (const type of types) {
        typeHash(type, this.#catalog)
        await slices.step()
      }
      hash = openApiHash(types, this.#catalog)
      this.#hashes.set(types, hash)
    }
    return hash
  }
}
