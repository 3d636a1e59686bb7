/** Kinds of a server from discovery, refreshed when its CRDs change or an expected kind is missing. */

import { conditionOf } from '../../apimachinery/conditions.ts'
import { record } from '../../apimachinery/fields.ts'
import { nearestVersion } from '../../apimachinery/nearestVersion.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import { pause } from '../../client/clock.ts'
import { DiscoveryError } from '../../client/discoveryError.ts'
import { retrying } from '../../client/retrying.ts'
import type { Runtime } from '../../client/runtime.ts'

interface ServedChange {
  /** `resource.group` of what came, went or changed. */
  readonly changed: ReadonlySet<string>
}

export class ServedResources {
  readonly #client: SpaceClient
  #byName: ReadonlyMap<string, DiscoveredResource> = new Map<string, DiscoveredResource>()
  #unknownGroups: ReadonlySet<string> = new Set<string>()
  #known = false
  #asking: Promise<void> | undefined
  #next: Promise<void> | undefined
  readonly #listeners = new Set<(change: ServedChange) => void>()

  constructor(client: SpaceClient) {
    this.#client = client
  }

  /** At the group's preferred version. */
  find(resource: GroupResource): DiscoveredResource | undefined {
    return this.#byName.get(groupResourceName(resource))
  }

  /** At `version` where that is served, else at the served version that is most like it. */
  at(resource: GroupResource, version: string | undefined): DiscoveredResource | undefined {
    const found = this.find(resource)
    if (found?.versions === undefined || version === undefined || version === '') return found
    return { ...found, version: nearestVersion(version, found.versions) ?? found.version }
  }

  /** The plural of a kind. */
  resourceOf(group: string, kind: string): string | undefined {
    for (const served of this.#byName.values())
      if (served.group === group && served.kind === kind) return served.resource
    return undefined
  }

  all(): Iterable<DiscoveredResource> {
    return this.#byName.values()
  }

  /** True only when discovery answered for the group and did not name the resource. */
  lacks(resource: GroupResource): boolean {
    return this.#known && !this.#unknownGroups.has(resource.group) && this.find(resource) === undefined
  }

  /** Calls back after each refresh that changed something. */
  onChange(listener: (change: ServedChange) => void): void {
    this.#listeners.add(listener)
  }

  /**
   * Answers with a state no older than the call: at most one question is under way and one waits.
   * @throws StatusError; what was known before stays
   */
  refresh(): Promise<void> {
    if (this.#asking === undefined) {
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined
      })
      return this.#asking
    }
    this.#next ??= this.#asking
      .catch(() => {}) // told to whoever asked that one
      .then(() => {
        this.#next = undefined
        return this.refresh()
      })
    return this.#next
  }

  async #ask(): Promise<void> {
    let resources: readonly DiscoveredResource[]
    const kept: DiscoveredResource[] = []
    let unknown = new Set<string>()
    try {
      resources = await this.#client.discover()
    } catch (error) {
      if (!(error instanceof DiscoveryError)) throw error
      // A group that does not answer (an aggregated API without its server) is unknown, not gone.
      resources = error.resources
      unknown = new Set(error.failed.map(failure => failure.group))
      for (const resource of this.#byName.values()) if (unknown.has(resource.group)) kept.push(resource)
    }
    const before = this.#byName
    this.#byName = new Map([...kept, ...resources].map(resource => [groupResourceName(resource), resource]))
    this.#unknownGroups = unknown
    this.#known = true
    const changed = new Set<string>()
    for (const [name, resource] of this.#byName) {
      const old = before.get(name)
      if (old === undefined || !isAsBefore(old, resource)) changed.add(name)
    }
    for (const name of before.keys()) if (!this.#byName.has(name)) changed.add(name)
    if (changed.size > 0) for (const listener of this.#listeners) listener({ changed })
  }
}

function isAsBefore(old: DiscoveredResource, now: DiscoveredResource): boolean {
  return (
    old.version === now.version &&
    old.subresources.length === now.subresources.length &&
    equalJson(old.versions, now.versions)
  )
}

/** Discovery of a server now. Groups that do not answer are unknown. */
export async function servedBy(client: SpaceClient): Promise<ServedResources> {
  const served = new ServedResources(client)
  await served.refresh()
  return served
}

/** An established CRD is served a moment later. */
const SERVED_SOON_MS = [100, 200, 500, 1000, 2000]

/** Refreshes after a CRD changed: now, and again for a while when the CRD is established and its kind still missing. */
export async function refreshAfter(
  served: ServedResources,
  definition: Readonly<KubeObject> | undefined,
  runtime: Runtime & { signal: AbortSignal },
): Promise<void> {
  const { clock, signal } = runtime
  const expected = definition && definedBy(definition)
  for (const waitMs of SERVED_SOON_MS) {
    await retrying({ ...runtime, what: 'discovery' }, () => served.refresh())
    if (expected === undefined || served.find(expected) !== undefined || signal.aborted) return
    await pause(clock, waitMs, signal)
  }
}

/** The resource of an established CRD. */
function definedBy({ spec, status }: Readonly<KubeObject>): GroupResource | undefined {
  const isEstablished = conditionOf({ status }, 'Established')?.status === 'True'
  const { group, names } = record(spec)
  const { plural } = record(names)
  return isEstablished && typeof group === 'string' && typeof plural === 'string'
    ? { group, resource: plural }
    : undefined
}
