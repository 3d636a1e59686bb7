/**
 * Custom resources between the store and the version of a request.
 *
 * Built-in kinds are handled in the version that the store holds. Custom resources are handled in the version of the request, as each
 * version has a schema of its own. A read from the store prunes and defaults by the schema of the stored version, converts, and prunes by
 * the schema of the requested one. A write to the store converts to the storage version. Without a webhook only the apiVersion is
 * exchanged.
 * @see https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/
 */
import { apiVersionOf, type KubeObject, parseApiVersion } from '../../apimachinery/object.ts'
import type { CustomVersions, ResourceType } from '../../apimachinery/resourceType.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { applyDefaults } from '../../apimachinery/structural/defaults.ts'
import { pruneUnknown } from '../../apimachinery/structural/prune.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { sizeOf } from '../../storage/sharedStored.ts'
import type { Stored } from '../../storage/store.ts'
import { decodeObject } from './codec.ts'
import { convertTo, storageApiVersion } from './convert.ts'
import { ConvertedViews, type Views } from './convertedViews.ts'
import { decodeInSteps } from './decodeInSteps.ts'
import { fillEmpty } from './emptyFields.ts'
import { BARE } from './provenance.ts'

/** Views of stored objects, and their bytes found good. Both follow from the object and the type alone. */
interface Memory {
  readonly converted: Views
  /** Where that is counted. */
  readonly kept: ConvertedViews
  readonly good: WeakSet<Stored>
}
// Lives as long as the type does: a CRD that changes has new types.
const memories = new WeakMap<ResourceType, Memory>()

/** The version that the registry handles objects of `type` in. */
export function workingApiVersion(type: ResourceType): string {
  return type.custom ? apiVersionOf(type) : storageApiVersion(type)
}

/** Objects that are converted in one request, and their bytes: what is made of them takes some ten milliseconds of the loop. */
export const CONVERTED_TOGETHER = 200
export const CONVERTED_BYTES = 512 * 1024

/**
 * Prepares views of objects that a webhook has to convert, as many in one request as the loop can spare the time for. `undefined` when
 * there is nothing to wait for. Rejects with the StatusError of the conversion.
 */
export function prepareViews(items: readonly Stored[], type: ResourceType): Promise<void> | undefined {
  const { custom } = type
  if (custom?.convert === undefined) return undefined
  const version = apiVersionOf(type)
  const memory = memoryOf(type)
  const { converted } = memory
  const missing = items.filter(stored => !startsWithVersion(stored.bytes, version) && !converted.has(stored))
  return missing.length === 0 ? undefined : convertMissing(missing, type, custom, memory)
}

/**
 * To be called before many objects are read one after the other; its result is to be called once that is done. The prepared views stay
 * until then.
 */
export function holdViews({ custom }: ResourceType): () => void {
  return custom?.convert && custom.views ? custom.views.hold() : noop
}

const noop = (): void => {}

async function convertMissing(
  missing: readonly Stored[],
  type: ResourceType,
  custom: CustomVersions,
  { converted, kept }: Memory,
): Promise<void> {
  for (const some of requestsFor(missing)) {
    const objects = some.map(stored => asStored(decodeObject(stored), custom, stored.note === BARE))
    const results = await custom.convert!(objects, apiVersionOf(type))
    for (const [i, object] of results.entries()) {
      pruneUnknown(object, type.schema)
      kept.add(converted, some[i]!, Buffer.from(JSON.stringify(object)))
    }
  }
}

function* requestsFor(missing: readonly Stored[]): Generator<readonly Stored[]> {
  let from = 0
  let bytes = 0
  for (const [i, stored] of missing.entries()) {
    const size = sizeOf(stored)
    if (i > from && (i - from === CONVERTED_TOGETHER || bytes + size > CONVERTED_BYTES)) {
      yield missing.slice(from, i)
      from = i
      bytes = 0
    }
    bytes += size
  }
  yield missing.slice(from)
}

/**
 * A private copy of the object as the registry handles it for `type`.
 * @throws Error when a webhook has to convert it and `prepareViews` was not awaited
 */
export function objectFor(stored: Stored, type: ResourceType): KubeObject {
  return type.custom ? (JSON.parse(viewBytes(stored, type).toString()) as KubeObject) : decodeObject(stored)
}

/** The same in steps. */
export function* objectInSteps(stored: Stored, type: ResourceType): Steps<KubeObject> {
  if (type.custom === undefined) return yield* decodeInSteps(stored)
  const bytes = viewBytes(stored, type)
  return bytes === stored.bytes ? yield* decodeInSteps(stored) : (JSON.parse(bytes.toString()) as KubeObject)
}

/** The object as `type` serves it, the stored bytes themselves where they are that. @throws Error as {@link objectFor} */
export function viewBytes(stored: Stored, type: ResourceType): Buffer {
  const version = apiVersionOf(type)
  const isServed = startsWithVersion(stored.bytes, version)
  if (type.custom === undefined) {
    if (isServed && storageApiVersion(type) === version) return stored.bytes
    const object = convertTo(decodeObject(stored), version, type)
    if (type.schema !== undefined) fillEmpty(object, type.schema)
    return Buffer.from(JSON.stringify(object))
  }
  if (isServed && !mayBeOld(type.custom)) return stored.bytes
  const { good, converted, kept } = memoryOf(type)
  if (good.has(stored)) return stored.bytes
  const known = converted.get(stored)
  if (known !== undefined) return known
  if (!isServed && type.custom.convert !== undefined) {
    throw new Error(`${type.kind} ${stored.key.name} was not converted to ${version} beforehand`)
  }
  const object = asStored(decodeObject(stored), type.custom, stored.note === BARE)
  if (!isServed) {
    object.apiVersion = version
    pruneUnknown(object, type.schema)
  }
  const bytes = Buffer.from(JSON.stringify(object))
  if (bytes.equals(stored.bytes)) {
    good.add(stored)
    return stored.bytes
  }
  // Objects that an older schema let in are few, or soon will be; those of another version may be all.
  if (isServed) kept.offer(converted, stored, bytes)
  return bytes
}

/**
 * `object`, in the working version of `type`, as the store holds it; the same object where that is no other version. A
 * promise only where a webhook converts.
 */
export function toStored(object: KubeObject, type: ResourceType): KubeObject | Promise<KubeObject> {
  const version = storageApiVersion(type)
  const { custom } = type
  if (custom === undefined || object.apiVersion === version) return object
  const schema = custom.schemas.get(type.storageVersion)
  const settle = (stored: KubeObject): KubeObject => {
    pruneUnknown(stored, schema)
    return stored
  }
  if (custom.convert !== undefined) return custom.convert([object], version).then(([stored]) => settle(stored!))
  return settle({ ...cloneJson(object), apiVersion: version })
}

/** {@link toStored} where no webhook converts. */
export function toStoredNow(object: KubeObject, type: ResourceType): KubeObject {
  const stored = toStored(object, type)
  if (stored instanceof Promise) throw new Error(`${type.kind} must be converted by its webhook before it is written`)
  return stored
}

/** Whether the store holds this object in the version that it would be written in today. */
export function hasStorageVersion(stored: Stored, type: ResourceType): boolean {
  return type.custom === undefined || startsWithVersion(stored.bytes, storageApiVersion(type))
}

/** Whether objects may have been written under other schemas. */
function mayBeOld({ generation }: CustomVersions): boolean {
  return generation > 1
}

/** Content that an older schema let into the store goes; fields that it did not know are filled in. */
function asStored(object: KubeObject, custom: CustomVersions, bare: boolean): KubeObject {
  const schema = custom.schemas.get(parseApiVersion(object.apiVersion)?.version ?? '')
  if (!mayBeOld(custom) || schema === undefined) return object
  pruneUnknown(object, schema)
  // additions beyond a request's bound are left out: the next write of the object reports it
  if (!bare) applyDefaults(object, schema)
  return object
}

function memoryOf(type: ResourceType): Memory {
  let memory = memories.get(type)
  if (memory === undefined) {
    memory = { converted: new WeakMap(), kept: keptFor(type), good: new WeakSet() }
    memories.set(type, memory)
  }
  return memory
}

function keptFor({ custom }: ResourceType): ConvertedViews {
  return custom?.views instanceof ConvertedViews ? custom.views : new ConvertedViews(() => performance.now())
}

/** Objects of a CRD keep the version that they were stored in when its storage version changes. */
function startsWithVersion(bytes: Buffer, version: string): boolean {
  // Called for every object in a list: no copies here.
  for (let i = 0; i < version.length; i++) if (bytes[15 + i] !== version.charCodeAt(i)) return false
  return bytes[15 + version.length] === 0x22
}
