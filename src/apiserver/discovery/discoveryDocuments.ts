/** Discovery documents as bytes, made at first use and kept as long as the kinds of their space stay. */
import { createHash } from 'node:crypto'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import type { ProtobufCodec } from '../../apimachinery/protobuf/protobufCodec.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { inSlices, type Steps } from '../../apimachinery/steps.ts'
import { yamlTextInSteps } from '../../apimachinery/yamlWriter.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { ROOT } from '../spaces/tree.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'
import { type AggregatedForm, aggregatedDiscovery } from './aggregated.ts'
import { aggregatedProtobuf } from './aggregatedProtobuf.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from './discovery.ts'
import { type DocumentName, idOf, type KindDocument, type KindDocuments } from './kindDocuments.ts'

export interface DiscoveryDocumentsDeps {
  types: Pick<TypeRegistry, 'in'>
  protobuf: ProtobufCodec
  /** `host:port` as clients reach it. */
  address: () => string
  /** Paths that `/` lists. */
  paths(space: string): readonly string[]
  /** In whose slices documents of many kinds are made. */
  work: Pick<WorkTurns, 'begin'>
}

/** A document, or the steps that make it. */
type Made = string | Buffer | Steps<string | Buffer>

export class DiscoveryDocuments implements KindDocuments {
  readonly #deps: DiscoveryDocumentsDeps
  /** The set is replaced when a CRD changes. */
  readonly #kept = new WeakMap<TypeSet, Map<string, Soon<KindDocument>>>()

  constructor(deps: DiscoveryDocumentsDeps) {
    this.#deps = deps
  }

  get(space: string, name: DocumentName): Soon<KindDocument | undefined> {
    const set = this.#deps.types.in(space)
    // Only paths of what exists are remembered, so clients cannot grow the memory.
    const id = `${name.path === '/' && space === ROOT ? ROOT : ''}${idOf(name)}`
    const known = this.#kept.get(set)?.get(id)
    if (known !== undefined) return known
    const made = this.#make(set.types, space, name)
    return made === undefined ? undefined : this.#keep(set, id, space, made)
  }

  #make(types: TypeSet['types'], space: string, { path, form }: DocumentName): Made | undefined {
    if ('version' in form) return aggregated(types, path, form)
    const document = this.#document(path, types, space)
    if (document === undefined) return undefined
    if (form.format === 'protobuf')
      return this.#deps.protobuf.encode({ apiVersion: '', ...(document as { kind: string }) })
    if (form.format === 'yaml') return yamlTextInSteps(document)
    return `${JSON.stringify(document, undefined, form.indent)}\n`
  }

  /** `undefined` when a space with these types has no such path. */
  #document(path: string, types: TypeSet['types'], space: string): unknown {
    if (path === '/') return { paths: this.#deps.paths(space) }
    if (path === '/api') return apiVersions(types, this.#deps.address())
    if (path === '/apis') return apiGroupList(types)
    const parts = path.split('/').slice(1)
    if (parts[0] === 'api' && parts.length === 2) return apiResourceList(types, '', parts[1]!)
    if (parts[0] === 'apis' && parts.length === 2) return apiGroup(types, parts[1]!)
    if (parts[0] === 'apis' && parts.length === 3) return apiResourceList(types, parts[1]!, parts[2]!)
    return undefined
  }

  /** Those who ask for a document while it is made share it. */
  #keep(set: TypeSet, id: string, space: string, made: Made): Soon<KindDocument> {
    const kept = getOrInsert(this.#kept, set, () => new Map())
    if (typeof made === 'string' || Buffer.isBuffer(made)) {
      const document = documentOf(made)
      kept.set(id, document)
      return document
    }
    const making = inSlices(made, this.#deps.work.begin({ owner: space })).then(body => {
      const document = documentOf(body)
      kept.set(id, document)
      return document
    })
    making.catch(() => kept.delete(id))
    kept.set(id, making)
    return making
  }
}

function aggregated(types: TypeSet['types'], path: string, { format, version }: AggregatedForm): Made {
  const document = aggregatedDiscovery(types, { root: path === '/api' ? 'api' : 'apis', version })
  return format === 'json' ? `${JSON.stringify(document)}\n` : aggregatedProtobuf(document)
}

function documentOf(made: string | Buffer): KindDocument {
  const body = typeof made === 'string' ? Buffer.from(made) : made
  return { hash: createHash('sha256').update(body).digest('hex').toUpperCase(), body: () => body }
}
