/**
 * Kinds that the CustomResourceDefinitions of all spaces define, as a projection: names are accepted, and kinds are served, before the
 * answer to the CRD's author. An event costs what its own CRD costs, whatever else the space has.
 */
import { conversionOf, NamesInUse, resourceTypesOf, shareSchemasOf } from '../../apimachinery/crd/crd.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Key, Store, Stored, StoreEvent } from '../../storage/store.ts'
import { apart } from '../../storage/texts.ts'
import { decodeObject } from '../registry/codec.ts'
import { ConvertedViews } from '../registry/convertedViews.ts'
import { decodeBesideSpec } from '../registry/decodeBesideSpec.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { type ConversionDeps, convertThroughWebhook } from './conversionWebhook.ts'
import { type DefinitionRecord, judge, type Verdict, workFor } from './definitionRecord.ts'

const RANGE = { group: CRDS.group, resource: CRDS.resource }
/** For one conversion, however many objects. */
export const CONVERSION_TIMEOUT_SECONDS = 30
/** For what `views.ts` has converted in one request; what is made of little is bounded by that, too. */
export const CONVERSION_LIMIT_BYTES = 16 * 1024 * 1024
export const CONVERSION_LIMIT_VALUES = 1_000_000
export const CONVERSION_TIMES_SENT = 4

/** Definitions that are kept as they were decoded, whoever needs the memory: some megabytes each, where they are large. */
const LATEST = 4

export interface ServedDefinitionsDeps extends ConversionDeps {
  store: Pick<Store, 'project'>
  types: TypeRegistry
  /** Whether conversion webhooks of a space are called; where not, their kinds are converted as without one. */
  callsConversions(space: string): boolean
  /** Something remains to be done for this CRD, see {@link workFor}. */
  wanting(key: Key): void
  /** This CRD could not be understood; what it had stays, until `retry` succeeds. */
  failed(key: Key, error: unknown): void
}

/** `revision`: of the version that is served. */
type Settled = DefinitionRecord & {
  readonly revision: number
  /** As it was decoded, as long as nobody needs the memory: it is looked at again soon, and never changed. */
  readonly definition: WeakRef<KubeObject>
}

interface SpaceDefinitions {
  readonly byName: Map<string, Settled>
  /** By group. */
  readonly names: Map<string, NamesInUse>
  readonly views: ConvertedViews
}

export class ServedDefinitions {
  readonly #deps: ServedDefinitionsDeps
  readonly #spaces = new Map<string, SpaceDefinitions>()
  /** CRDs that are about to be stored for the first time, by space and name. */
  readonly #coming = new Map<string, Readonly<KubeObject>>()
  /** Those that were looked at last, in that order: they are changed again within moments, and collections come between. */
  readonly #latest = new Map<string, KubeObject>()
  /** Those that could not be understood, by space and name. */
  readonly #unsettled = new Map<string, Stored>()

  constructor(deps: ServedDefinitionsDeps) {
    this.#deps = deps
    deps.store.project(RANGE, { reset: items => this.#reset([...items]), apply: event => this.#apply(event) })
  }

  /**
   * Until the answer is called, this is likely to be stored as it is; nobody changes it any more. Everybody waits for a commit: what
   * is known is not parsed then.
   */
  expect(space: string, definition: Readonly<KubeObject>): () => void {
    const id = idOf({ space, name: definition.metadata.name ?? '' })
    this.#coming.set(id, definition)
    // nobody waits for this
    shareSchemasOf(definition)
    return () => {
      if (this.#coming.get(id) === definition) this.#coming.delete(id)
    }
  }

  /** Tries again what failed. @throws what it fails with */
  retry(key: Key): void {
    const stored = this.#unsettled.get(idOf(key))
    if (stored === undefined) return
    this.#settle(stored)
    this.#unsettled.delete(idOf(key))
  }

  /**
   * Verdict on a CRD; `undefined` unless it is the very version that is served, so that no two get the same name. One that waits for a name
   * gets it here if it is free by now.
   */
  verdictOn(stored: Stored): { definition: KubeObject; verdict: Verdict } | undefined {
    const { space, name } = stored.key
    const record = this.#spaces.get(space)?.byName.get(name)
    if (record?.revision !== stored.revision) return undefined
    if (record.isWaiting) this.#settle(stored)
    const definition = record.definition.deref() ?? decodeObject(stored)
    return { definition, verdict: judge(definition, this.#namesOf(space, definition)) }
  }

  /** Whether it defines what is built in, which goes on being served. */
  isShadowed({ spec }: KubeObject): boolean {
    if (!isRecord(spec) || !isRecord(spec.names)) return false
    return this.#deps.types.isBuiltin(String(spec.group ?? ''), String(spec.names.plural ?? ''))
  }

  #reset(items: readonly Stored[]): void {
    const present = new Set(items.map(({ key }) => idOf(key)))
    for (const [space, { byName }] of [...this.#spaces])
      for (const name of [...byName.keys()]) {
        const key = keyOf(space, name)
        if (!present.has(idOf(key))) this.#forget(key)
      }
    this.#unsettled.clear()
    // names that were accepted before stay with whom they were given
    const readable = items.filter(stored =>
      this.#attempt(stored, () => {
        const definition = decodeObject(stored)
        this.#namesOf(stored.key.space, definition).hold(...acceptedOf(definition))
      }),
    )
    for (const stored of readable) this.#attempt(stored, () => this.#settle(stored))
  }

  #apply({ type, key, stored }: StoreEvent): void {
    this.#unsettled.delete(idOf(key))
    if (type === 'put') this.#attempt(stored, () => this.#settle(stored))
    else this.#forget(key)
  }

  /** A CRD that nobody foresaw harms no other. */
  #attempt(stored: Stored, act: () => void): boolean {
    try {
      act()
      return true
    } catch (error) {
      this.#unsettled.set(idOf(stored.key), apart(stored))
      this.#deps.failed(stored.key, error)
      return false
    }
  }

  #forget({ space, name }: Key): void {
    this.#latest.delete(idOf({ space, name }))
    const known = this.#spaces.get(space)
    const record = known?.byName.get(name)
    if (known === undefined || record === undefined) return
    this.#deps.types.define(space, name, [])
    known.byName.delete(name)
    known.names.get(record.group)?.release(name)
    if (known.byName.size === 0) this.#spaces.delete(space)
    this.#reconsider(space, record.group, name)
  }

  /** Brings the served kinds of one CRD up to date. */
  #settle(stored: Stored): void {
    const { key, revision } = stored
    const { space, name } = key
    const definition = this.#definitionOf(stored)
    const names = this.#namesOf(space, definition)
    const verdict = judge(definition, names)
    const { acceptedNames, isEstablished, isDeleting } = verdict
    const record = { ...verdict.record, revision, definition: new WeakRef(definition) }
    const { byName } = this.#spaces.get(space)!
    const before = byName.get(name)
    // what may throw comes first: a settling that failed is done again as a whole
    if (before?.signature !== record.signature) {
      const serves = isEstablished && !this.isShadowed(definition)
      const types = serves ? this.#typesOf(space, definition, acceptedNames) : []
      this.#deps.types.define(space, name, isDeleting ? types.map(withoutCreate) : types)
    }
    byName.set(name, record)
    // held from now on, before the status that says so is written: a CRD that comes meanwhile must not get the same
    names.hold(name, acceptedNames)
    if (before !== undefined && before.signature !== record.signature) this.#reconsider(space, record.group, name)
    if (workFor(definition, verdict)) this.#deps.wanting(key)
  }

  /** Everybody waits for a commit: what was parsed for the one before is not parsed again. */
  #definitionOf(stored: Stored): KubeObject {
    const { space, name } = stored.key
    const served = this.#spaces.get(space)?.byName.get(name)
    const before = served ? served.definition.deref() : this.#coming.get(idOf(stored.key))
    const definition = (before && decodeBesideSpec(stored, before)) ?? decodeObject(stored)
    const id = idOf(stored.key)
    this.#latest.delete(id)
    this.#latest.set(id, definition)
    if (this.#latest.size > LATEST) this.#latest.delete(this.#latest.keys().next().value!)
    return definition
  }

  /** Names of a group may have become free: those that wait for one get another look. */
  #reconsider(space: string, group: string, except: string): void {
    for (const [name, record] of this.#spaces.get(space)?.byName ?? []) {
      if (record.isWaiting && record.group === group && name !== except) this.#deps.wanting(keyOf(space, name))
    }
  }

  #namesOf(space: string, definition: KubeObject): NamesInUse {
    const known = getOrInsert(this.#spaces, space, () => ({
      byName: new Map(),
      names: new Map(),
      views: new ConvertedViews(() => performance.now()),
    }))
    const group = isRecord(definition.spec) ? String(definition.spec.group ?? '') : ''
    return getOrInsert(known.names, group, () => new NamesInUse())
  }

  #typesOf(space: string, definition: KubeObject, acceptedNames: object): ResourceType[] {
    const status = { ...(isRecord(definition.status) ? definition.status : {}), acceptedNames }
    const views = this.#spaces.get(space)?.views
    const types = resourceTypesOf({ ...definition, status }).map(type => ({
      ...type,
      custom: { ...type.custom!, ...(views && { views }) },
    }))
    const conversion = conversionOf(definition)
    if (conversion.strategy === 'None' || !this.#deps.callsConversions(space)) return types
    const { client, caPem, reviewVersions } = conversion
    const limits = {
      bytes: CONVERSION_LIMIT_BYTES,
      values: CONVERSION_LIMIT_VALUES,
      timesSent: CONVERSION_TIMES_SENT,
    }
    const timeoutSeconds = CONVERSION_TIMEOUT_SECONDS
    const target = { client, space, timeoutSeconds, limits, ...(caPem !== undefined && { caPem }) }
    return types.map(type => {
      const webhook = { target, reviewVersions, kind: { group: type.group, kind: type.kind } }
      const convert = (objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> =>
        this.#deps.callsConversions(space)
          ? convertThroughWebhook(this.#deps, webhook, objects, apiVersion)
          : Promise.resolve(objects.map(object => ({ ...object, apiVersion })))
      return { ...type, custom: { ...type.custom, convert } }
    })
  }
}

function idOf({ space, name }: Pick<Key, 'space' | 'name'>): string {
  return `${space}/${name}`
}

function acceptedOf({ metadata, status }: KubeObject): [name: string, acceptedNames: unknown] {
  return [metadata.name ?? '', isRecord(status) ? status.acceptedNames : undefined]
}

function keyOf(space: string, name: string): Key {
  return { space, ...RANGE, namespace: '', name }
}

function withoutCreate(type: ResourceType): ResourceType {
  return { ...type, verbs: type.verbs.filter(verb => verb !== 'create') }
}
