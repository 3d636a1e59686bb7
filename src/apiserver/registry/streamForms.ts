/**
 * Objects in the form of streams of all kinds: in the version that their kind is stored in today, whatever version they were stored in. That
 * version can be requested and is the object's own.
 */
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Likeness } from '../../client/client.ts'
import type { Body } from '../../storage/body.ts'
import { SharedStored } from '../../storage/sharedStored.ts'
import type { Stored } from '../../storage/store.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { StoredLikeness } from './likeness.ts'
import type { Provenance } from './provenance.ts'
import { prepareViews, viewBytes } from './views.ts'

interface StreamForm {
  /** Without the group. */
  version: string
  bytes: Buffer
}

export class StreamForms {
  readonly #types: TypeRegistry
  readonly #provenance: Provenance | undefined
  readonly #likeness = new StoredLikeness()
  readonly #versions = new WeakMap<Body, string>()
  /** Built-in kinds: they are sent as they are stored, whatever a space defines. */
  readonly #builtin = new WeakMap<Body, GroupVersionResource>()
  /** Their kinds, in the versions for requests. */
  readonly #served = new WeakMap<Body, GroupVersionResource>()

  constructor(types: TypeRegistry, provenance?: Provenance) {
    this.#types = types
    this.#provenance = provenance
  }

  /** Attaches to an object made of `stored` its unset fields. */
  withProvenance(stored: Stored, object: KubeObject): KubeObject {
    const type = this.#provenance && this.#typeOf(stored)
    if (type?.version === type?.storageVersion && type !== undefined) this.#provenance?.attach(type, stored, object)
    return object
  }

  /**
   * Has converted what only a webhook can convert; `undefined` when nothing waits. Objects that it cannot convert are sent as stored. So is
   * all of a stream of all spaces, `*`: there no space's webhook keeps the others waiting.
   */
  prepare(space: string, items: readonly { readonly stored: Stored }[]): Promise<void> | undefined {
    if (space === '*' || !this.#types.convertsAny) return undefined
    let byType: Map<ResourceType, Stored[]> | undefined
    for (const { stored } of items) {
      const type = this.#typeOf(stored)
      if (type?.custom?.convert === undefined) continue
      byType ??= new Map()
      const others = byType.get(type)
      if (others) others.push(stored)
      else byType.set(type, [stored])
    }
    if (byType === undefined) return undefined
    const waits = [...byType].flatMap(([type, ofType]) => prepareViews(ofType, type) ?? [])
    return waits.length === 0 ? undefined : Promise.allSettled(waits).then(() => {})
  }

  of(stored: Stored): StreamForm {
    const type = this.#typeOf(stored)
    if (type?.custom) {
      const bytes = converted(stored, type)
      if (bytes) return { version: type.version, bytes }
    }
    return { version: this.#storedVersion(stored), bytes: stored.bytes }
  }

  /** The version in which it is sent, and the holder of its text: a text that is kept once is not joined for that. */
  form(stored: Stored): { readonly version: string; readonly as: Pick<Stored, 'bytes'> } {
    const builtin = this.#builtinOf(stored)
    if (builtin) return { version: builtin.version, as: stored }
    if (!this.#typeOf(stored)?.custom) return { version: this.#storedVersion(stored), as: stored }
    const { version, bytes } = this.of(stored)
    return { version, as: { bytes } }
  }

  /** Its kind, in the version in which it is sent. */
  resource(stored: Stored): GroupVersionResource {
    const builtin = this.#builtinOf(stored)
    if (builtin) return builtin
    const { group, resource } = stored.key
    const type = this.#typeOf(stored)
    const isConverted = type?.custom && converted(stored, type)
    const form = { group, version: isConverted ? type.version : this.#storedVersion(stored), resource }
    if (stored instanceof SharedStored && type && !type.custom) this.#builtin.set(stored.body, form)
    return form
  }

  #builtinOf(stored: Stored): GroupVersionResource | undefined {
    return stored instanceof SharedStored ? this.#builtin.get(stored.body) : undefined
  }

  /** Whether it is sent as it is stored; the text of a built-in kind is not read for that. */
  isStored(stored: Stored): boolean {
    if (this.#builtinOf(stored)) return true
    const type = this.#typeOf(stored)
    return !type?.custom || (converted(stored, type) ?? stored.bytes) === stored.bytes
  }

  /** Its content beside its identity; `undefined` where only parsing would show it. */
  likeness(stored: Stored): Likeness | undefined {
    return this.isStored(stored) ? this.#likeness.of(stored) : undefined
  }

  /** Its kind, in the version for requests, whatever version it is sent in. */
  servedResource(stored: Stored): GroupVersionResource {
    const known = stored instanceof SharedStored ? this.#served.get(stored.body) : undefined
    if (known) return known
    const { group, resource } = stored.key
    const type = this.#typeOf(stored)
    const served = { group, version: type?.version ?? this.#storedVersion(stored), resource }
    if (stored instanceof SharedStored && type && !type.custom) this.#served.set(stored.body, served)
    return served
  }

  /** Version of texts that are kept once: without joining one. */
  #storedVersion(stored: Stored): string {
    if (!(stored instanceof SharedStored)) return storedVersion(stored.bytes)
    const known = this.#versions.get(stored.body)
    if (known !== undefined) return known
    const version = storedVersion(stored.bytes)
    this.#versions.set(stored.body, version)
    return version
  }

  /** The storage version where it is served, else another one; `undefined` for kinds that are no longer defined. */
  #typeOf({ key }: Stored): ResourceType | undefined {
    const versions = this.#types.in(key.space).versions(key.group, key.resource)
    if (versions.length < 2) return versions[0]
    return versions.find(type => type.version === type.storageVersion) ?? versions[0]
  }
}

/** `undefined` when a webhook would have to convert it and did not. */
function converted(stored: Stored, type: ResourceType): Buffer | undefined {
  try {
    return viewBytes(stored, type)
  } catch {
    return undefined
  }
}

/** Canonical bytes begin with it: `{"apiVersion":"group/version"`. */
function storedVersion(bytes: Buffer): string {
  const text = bytes.toString('latin1', APIVERSION_START, bytes.indexOf(0x22, APIVERSION_START))
  return text.slice(text.indexOf('/') + 1)
}

const APIVERSION_START = '{"apiVersion":"'.length
