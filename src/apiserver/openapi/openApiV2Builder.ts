/**
 * Puts OpenAPI v2 documents together from encoded parts. A part is encoded when no document that is kept has it: after a change,
 * only what changed is. The work is done in slices, one document at a time, so the rest of the server goes on meanwhile.
 *
 * The parts of a kept document are views of its body, so a document costs its own size and nothing beside it.
 */
import type { DescriptionsFile } from '../../../openapi/catalogFormat.ts'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { GroupVersionKind } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Catalog } from '../catalog/catalog.ts'
import { servedGroups } from '../discovery/groups.ts'
import { discoveryOperations, resourceListOperation } from './discoveryOperations.ts'
import {
  type OpenApiV2Part,
  openApiV2DefinitionPart,
  openApiV2Frame,
  openApiV2PathsPart,
  openApiV2TypePart,
} from './openApiV2.ts'
import type { OpenApiV2Form } from './openApiV2Form.ts'
import { typeHash } from './openApiV3.ts'
import type { Operation } from './operation.ts'

interface Entry {
  readonly name: string
  bytes: Buffer
}

interface EncodedPart {
  /** All paths of the part, as one entry. */
  readonly paths: Entry
  readonly definitions: readonly Entry[]
  readonly references: OpenApiV2Part['references']
  readonly kinds: OpenApiV2Part['kinds']
}

type Parts = ReadonlyMap<string, EncodedPart>

interface Document {
  readonly body: Buffer
  /** By what they are made from. */
  readonly parts: Parts
}

export class OpenApiV2Builder {
  readonly #catalog: Catalog
  readonly #form: OpenApiV2Form
  readonly #kept: BoundedCache<string, Document>
  readonly #building = new Map<string, Promise<Buffer>>()
  /** Settles when the latest build has ended; never rejects. */
  #last: Promise<unknown> = Promise.resolve()

  readonly #begin: () => Work

  /** `keep`: how many documents. `begin` begins long work. */
  constructor(options: { catalog: Catalog; form: OpenApiV2Form; keep: number; begin: () => Work }) {
    this.#catalog = options.catalog
    this.#form = options.form
    this.#begin = options.begin
    this.#kept = new BoundedCache(options.keep)
  }

  /**
   * The document of some types. Those who ask for the same while it is made share one build.
   * @param hash tells apart types with different documents
   */
  async get(types: readonly ResourceType[], hash: string): Promise<Buffer> {
    const kept = this.#kept.get(hash)
    if (kept) return kept.body
    const building = this.#building.get(hash) ?? this.#enqueue(types, hash)
    return await building
  }

  #enqueue(types: readonly ResourceType[], hash: string): Promise<Buffer> {
    const building = this.#last.then(async () => {
      try {
        const document = await this.#build(types)
        this.#kept.set(hash, document)
        return document.body
      } finally {
        this.#building.delete(hash)
      }
    })
    this.#building.set(hash, building)
    // The caller gets a failure; the next build starts all the same.
    this.#last = building.catch(() => undefined)
    return building
  }

  async #build(types: readonly ResourceType[]): Promise<Document> {
    const work = this.#begin()
    const parts = await this.#collect(types, work)
    const paths = [...parts.values()].map(part => part.paths).filter(({ bytes }) => bytes.length > 0)
    const definitions = uniqueByName([...parts.values()].flatMap(part => part.definitions))
    const lengths = { paths: this.#length(paths), definitions: this.#length(definitions) }
    const { head, middle, tail } = this.#form.frame(openApiV2Frame(this.#catalog), lengths)
    const length = head.length + lengths.paths + middle.length + lengths.definitions + tail.length
    const writer = new BodyWriter(Buffer.allocUnsafeSlow(length), work)
    writer.put(head)
    await writer.putEntries(paths, this.#form.separator)
    writer.put(middle)
    await writer.putEntries(definitions, this.#form.separator)
    writer.put(tail)
    return { body: writer.body, parts }
  }

  /** The parts that are about no type, those of the types in their order, then those of all that they refer to. */
  async #collect(types: readonly ResourceType[], work: Work): Promise<Parts> {
    const parts = new Map<string, EncodedPart>()
    const kinds = new Map<string, GroupVersionKind>()
    const names = new Set<string>()
    const add = async (key: string, make: () => OpenApiV2Part): Promise<void> => {
      const part = this.#keptPart(key) ?? (await this.#encode(make(), work))
      parts.set(key, part)
      for (const [name, kind] of part.kinds) kinds.set(name, kind)
      for (const name of part.references) names.add(name)
    }
    const addPath = async (operation: Operation): Promise<void> => {
      await add(`GET ${operation.path}`, () => openApiV2PathsPart([operation], this.#catalog))
      if (work.due) await work.rest()
    }
    for (const operation of discoveryOperations(types).values()) await addPath(operation)
    for (const { group, versions } of servedGroups(types)) {
      for (const { version } of versions) await addPath(resourceListOperation(group, version))
    }
    for (const type of types) {
      await add(typeHash(type, this.#catalog).toString('latin1'), () => openApiV2TypePart(type, this.#catalog))
      if (work.due) await work.rest()
    }
    let descriptions: DescriptionsFile | undefined
    // A set that grows while it is walked is walked to its new end.
    for (const name of names) {
      const kind = kinds.get(name)
      await add(JSON.stringify([name, kind]), () => {
        descriptions ??= this.#catalog.loadDescriptions()
        return openApiV2DefinitionPart(name, kind, { catalog: this.#catalog, descriptions })
      })
      if (work.due) await work.rest()
    }
    return parts
  }

  /** A copy, since its bytes will be views of another body. */
  #keptPart(key: string): EncodedPart | undefined {
    for (const [, document] of this.#kept) {
      const part = document.parts.get(key)
      if (part) return { ...part, paths: { ...part.paths }, definitions: part.definitions.map(entry => ({ ...entry })) }
    }
    return undefined
  }

  async #encode({ paths, documents, references, kinds }: OpenApiV2Part, work: Work): Promise<EncodedPart> {
    const definitions: Entry[] = []
    for (const name in documents) {
      if (work.due) await work.rest()
      definitions.push({ name, bytes: this.#form.definition(name, documents[name]!) })
    }
    return { paths: { name: '', bytes: this.#form.paths(paths) }, definitions, references, kinds }
  }

  #length(entries: readonly Entry[]): number {
    const separators = Math.max(0, entries.length - 1) * this.#form.separator.length
    return entries.reduce((sum, { bytes }) => sum + bytes.length, separators)
  }
}

class BodyWriter {
  readonly body: Buffer
  readonly #work: Work
  #offset = 0

  constructor(body: Buffer, work: Work) {
    this.body = body
    this.#work = work
  }

  /** @returns where it is now */
  put(bytes: Buffer): Buffer {
    const begin = this.#offset
    this.#offset += bytes.copy(this.body, begin)
    return this.body.subarray(begin, this.#offset)
  }

  async putEntries(entries: readonly Entry[], separator: Buffer): Promise<void> {
    for (const [index, entry] of entries.entries()) {
      if (index > 0) this.put(separator)
      entry.bytes = this.put(entry.bytes)
      if (this.#work.due) await this.#work.rest()
    }
  }
}

/** By name, sorted; of two with one name the first. */
function uniqueByName(entries: readonly Entry[]): Entry[] {
  const unique = new Map<string, Entry>()
  for (const entry of entries) {
    if (!unique.has(entry.name)) unique.set(entry.name, entry)
    // Left out, it must not be what keeps an old body in memory.
    else entry.bytes = Buffer.from(entry.bytes)
  }
  return [...unique.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
