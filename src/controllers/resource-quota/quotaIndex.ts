/** Which quotas count what, from the stream: so that a change concerns a quota only when it can have freed something. */

import { at, record } from '../../apimachinery/fields.ts'
import { MapOfMaps } from '../../apimachinery/nestedMaps.ts'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { amountsOf } from '../../apimachinery/quota/resourceList.ts'
import { countedResources } from '../../apimachinery/quota/usage.ts'
import type { StreamEvent } from '../../client/client.ts'
import type { StreamHandler } from '../../client/streamSource.ts'
import type { Nature } from '../../placement/spaces/nature.ts'

/** Where quotas are to be measured: all of a namespace at once. */
export interface QuotaPlace {
  /** Logical-cluster id. */
  readonly space: string
  readonly namespace: string
}

export const QUOTAS = { group: '', version: 'v1', resource: 'resourcequotas' }

export class QuotaIndex implements StreamHandler {
  readonly #nature: Pick<Nature, 'acts'>
  readonly #stale: (place: QuotaPlace) => void
  /** By `space/namespace`, then by name of the quota: the resources that it counts. */
  readonly #counted = new MapOfMaps<ReadonlySet<string>>()

  /** Quotas that do not act where they are count nothing. */
  constructor(nature: Pick<Nature, 'acts'>, stale: (place: QuotaPlace) => void) {
    this.#nature = nature
    this.#stale = stale
  }

  begin(): void {
    this.#counted.clear()
  }

  change(event: StreamEvent): void {
    const { space, namespace, name, resource, type } = event
    if (namespace === '') return
    if (resource.group === '' && resource.resource === QUOTAS.resource) this.#note(event)
    const quotas = this.#counted.of(`${space}/${namespace}`)
    if (quotas.size === 0) return
    // what is added was charged before it was stored; what changes may have become less
    if (type === 'ADDED' || (type === 'MODIFIED' && !SHRINKING.has(groupResourceName(resource)))) return
    const counted = groupResourceName(resource)
    for (const [quota, resources] of quotas) {
      if (!resources.has(counted) || (quota === name && resource.resource === QUOTAS.resource)) continue
      this.#stale({ space, namespace })
      return
    }
  }

  #note({ space, namespace, name, type, object }: StreamEvent): void {
    const place = `${space}/${namespace}`
    if (type === 'DELETED' || !this.#nature.acts(space, QUOTAS, object)) this.#counted.delete(place, name)
    else {
      // what its status says may come from elsewhere as long as it did not act
      const begins = this.#counted.get(place, name) === undefined
      this.#counted.set(place, name, new Set(countedResources(hardOf(object).keys()).map(groupResourceName)))
      if (begins || !isMeasured(object)) this.#stale({ space, namespace })
    }
  }

  /** After a snapshot nobody knows what happened meanwhile. */
  synced(): void {
    for (const place of this.#counted.keys()) {
      const [space = '', namespace = ''] = place.split('/')
      this.#stale({ space, namespace })
    }
  }
}

/** Kinds of which an update can use less than before: pods end, services lose ports. */
const SHRINKING = new Set(['pods', 'services', 'persistentvolumeclaims'])

export function hardOf(quota: KubeObject): ReturnType<typeof amountsOf> {
  return amountsOf(at(quota.spec, 'hard'))
}

/** Whether the status speaks of the limits that the spec has now. */
function isMeasured(quota: KubeObject): boolean {
  const status = record(quota, 'status')
  const [known, used, hard] = [amountsOf(status.hard), amountsOf(status.used), hardOf(quota)]
  return (
    known.size === hard.size &&
    [...hard].every(([name, { nanos }]) => known.get(name)?.nanos === nanos && used.has(name))
  )
}
