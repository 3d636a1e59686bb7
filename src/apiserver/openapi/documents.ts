/**
 * OpenAPI documents as bytes, made at first use. They are kept by content, so spaces that serve the same kinds share them. Only the latest
 * few are kept: the document of a whole space is megabytes.
 */

import type { DescriptionsFile } from '../../../openapi/catalogFormat.ts'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { KindDocument, KindDocuments } from '../discovery/kindDocuments.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { discoveryOperations } from './discoveryOperations.ts'
import { joined } from './joined.ts'
import { OpenApiV2Builder } from './openApiV2Builder.ts'
import { JsonForm } from './openApiV2Form.ts'
import {
  discoveryHash,
  type OpenApiV3Document,
  openApiHash,
  openApiV3,
  openApiV3Discovery,
  openApiV3Index,
  openApiV3Text,
  typeHash,
} from './openApiV3.ts'
import { ProtobufForm } from './protobuf.ts'

interface PreparedDocument {
  body: Buffer
  /** Upper-case hexadecimal; changes with the content. */
  hash: string
}

/** Documents of v3: group versions, some hundred kilobytes each, and small ones. A browsing user reads a dozen; those of a thousand kinds are larger. */
const KEPT_PAGES = 64
const KEPT_BYTES = 64 * 1024 * 1024
/** Documents are shared by all spaces with the same kinds, so they are made for nobody in particular. */
const OWNER = 'openapi'
/** Per form of v2: the built-in kinds alone, and the spaces that are being worked with. */
const KEPT_WHOLE = 4

type Make = (descriptions: DescriptionsFile) => Steps<OpenApiV3Document | undefined>

export class OpenApiDocuments {
  readonly #catalog: Catalog
  readonly #turns: WorkTurns
  readonly #pages = new BoundedCache<string, Buffer>({
    entries: KEPT_PAGES,
    weight: { limit: KEPT_BYTES, of: body => body.length },
  })
  /** By hash: those who ask for the same while it is made share it. */
  readonly #building = new Map<string, Promise<Buffer>>()
  readonly #whole: Record<'json' | 'protobuf', OpenApiV2Builder>
  /** The types of a space are another list after each change. */
  readonly #hashes = new WeakMap<readonly ResourceType[], string>()

  constructor(catalog: Catalog, turns: WorkTurns) {
    this.#catalog = catalog
    this.#turns = turns
    const begin = (): Work => this.#begin()
    this.#whole = {
      json: new OpenApiV2Builder({ catalog, form: new JsonForm(), keep: KEPT_WHOLE, begin }),
      protobuf: new OpenApiV2Builder({ catalog, form: new ProtobufForm(), keep: KEPT_WHOLE, begin }),
    }
  }

  async index(types: readonly ResourceType[]): Promise<PreparedDocument> {
    const hash = await this.#hashOf(types)
    return { body: Buffer.from(JSON.stringify(openApiV3Index(types, this.#catalog))), hash }
  }

  /** `undefined` when no type is of that group version. */
  async groupVersion(
    types: readonly ResourceType[],
    group: string,
    version: string,
  ): Promise<PreparedDocument | undefined> {
    const served = types.filter(type => type.group === group && type.version === version)
    if (served.length === 0) return undefined
    await this.#hashTypes(served)
    const hash = openApiHash(served, this.#catalog)
    return await this.#prepared(hash, descriptions =>
      openApiV3(served, { group, version, catalog: this.#catalog, descriptions }),
    )
  }

  /** The document of a path that is about no resource, by its name in the index; `undefined` when these types have none of it. */
  async discovery(types: readonly ResourceType[], path: string): Promise<PreparedDocument | undefined> {
    const group = path === 'api' ? '' : path.replace(/^apis\//, '')
    const operation = discoveryOperations(types.filter(type => type.group === group)).get(path)
    if (operation === undefined) return undefined
    const catalog = this.#catalog
    return await this.#prepared(discoveryHash(path, catalog), descriptions =>
      openApiV3Discovery([operation], { catalog, descriptions }),
    )
  }

  async #prepared(hash: string, make: Make): Promise<PreparedDocument> {
    const body = this.#pages.get(hash) ?? this.#building.get(hash) ?? this.#build(hash, make)
    return { body: await body, hash }
  }

  #build(hash: string, make: Make): Promise<Buffer> {
    const building = this.#written(make)
      .then(body => {
        this.#pages.set(hash, body)
        return body
      })
      .finally(() => this.#building.delete(hash))
    this.#building.set(hash, building)
    return building
  }

  async #written(make: Make): Promise<Buffer> {
    const work = this.#begin()
    const steps = make(this.#catalog.loadDescriptions())
    let step = steps.next()
    for (; !step.done; step = steps.next()) if (work.due) await work.rest()
    const pieces: Buffer[] = []
    for (const piece of openApiV3Text(step.value!)) {
      pieces.push(Buffer.from(piece))
      if (work.due) await work.rest()
    }
    return await joined(pieces, work)
  }

  #begin(): Work {
    return this.#turns.begin({ owner: OWNER })
  }

  /** The document is made at the first read of its body. */
  async whole(types: readonly ResourceType[], form: 'json' | 'protobuf'): Promise<KindDocument> {
    const hash = await this.#hashOf(types)
    return { hash, body: () => this.#whole[form].get(types, hash) }
  }

  async #hashOf(types: readonly ResourceType[]): Promise<string> {
    let hash = this.#hashes.get(types)
    if (hash === undefined) {
      await this.#hashTypes(types)
      hash = openApiHash(types, this.#catalog)
      this.#hashes.set(types, hash)
    }
    return hash
  }

  /** Each is remembered, so what is left to do at once is little. */
  async #hashTypes(types: readonly ResourceType[]): Promise<void> {
    const work = this.#begin()
    for (const type of types) {
      typeHash(type, this.#catalog)
      if (work.due) await work.rest()
    }
  }
}

const GROUP_VERSION = /^\/openapi\/v3\/(?:api|apis\/([^/]+))\/([^/]+)$/

/** Documents of spaces, by their paths. */
export function openApiOf(types: Pick<TypeRegistry, 'in'>, documents: OpenApiDocuments): KindDocuments {
  const ready = (document: PreparedDocument | undefined): KindDocument | undefined =>
    document && { hash: document.hash, body: () => document.body }
  return {
    async get(space, { path, form }) {
      const served = types.in(space).types
      if (path === '/openapi/v2') return await documents.whole(served, form.format === 'protobuf' ? 'protobuf' : 'json')
      if (path === '/openapi/v3') return ready(await documents.index(served))
      const match = GROUP_VERSION.exec(path)
      if (match) return ready(await documents.groupVersion(served, match[1] ?? '', match[2]!))
      return ready(await documents.discovery(served, path.slice('/openapi/v3/'.length)))
    },
  }
}
