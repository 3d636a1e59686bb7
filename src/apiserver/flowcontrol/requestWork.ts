/** Work of a request, estimated from present state: the objects that a list looks at, the watchers of a change. */

import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { Range, Store } from '../../storage/store.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { rangeOf } from '../registry/keys.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import { ONE_SEAT, type Work } from './seats.ts'
import type { WatchCounts } from './watchBudget.ts'
import { changeWork, listWork } from './workEstimates.ts'

/** Objects whose size is taken for that of all. */
const SAMPLE = 8
/** How long a size is believed. */
const SIZE_MS = 5000
const SIZES_KEPT = 4096
/** In such forms the answer is made piece by piece; others are made whole. */
const STREAMED = /^(?!.*(as=|yaml)).*$/

/** Objects that are made for the request: their number is not known before. */
const MADE = { objects: undefined, bytes: 0, limit: undefined, selects: false, streamed: false }

interface Size {
  objects: number
  /** Average size of one of them. */
  bytes: number
  atMs: number
}

interface RequestWorkDeps {
  store: Pick<Store, 'count' | 'list'>
  types: TypeRegistry
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
}

export class RequestWork {
  readonly #deps: RequestWorkDeps
  /** Recent findings, by range. */
  readonly #sizes = new BoundedCache<string, Size>(SIZES_KEPT)

  constructor(deps: RequestWorkDeps) {
    this.#deps = deps
  }

  /** `accept`: the requested form. At once, where no look is necessary. */
  of({ info, space }: AuthorizedRequest, accept: string, watches: WatchCounts, widest: number): Work | Promise<Work> {
    const { resource, verb, query } = info
    if (resource === undefined) return ONE_SEAT
    switch (verb) {
      case 'create':
      case 'update':
      case 'patch':
      case 'delete': {
        // Tokens are answered and not stored: they have no watchers.
        if (resource.subresource === 'token') return ONE_SEAT
        return changeWork(watches.of(space, resource.resource, resource.namespace), widest)
      }
      case 'list':
      case 'deletecollection':
        return this.#ofList(info, space, accept, widest)
      case 'watch': {
        const version = query.get('resourceVersion') ?? ''
        const sendsInitial = query.get('sendInitialEvents')
        const reads = sendsInitial === null ? version === '0' : sendsInitial === 'true'
        return reads && (version === '' || version === '0') ? this.#ofList(info, space, accept, widest) : ONE_SEAT
      }
      default:
        return ONE_SEAT
    }
  }

  #ofList(
    { resource, query, reported }: AuthorizedRequest['info'],
    space: string,
    accept: string,
    widest: number,
  ): Work | Promise<Work> {
    const { group, version, resource: name, namespace, name: one } = resource!
    const fields = query.get('fieldSelector') ?? ''
    if (widest === 1 || one !== '' || /(^|,)metadata\.name==?[^,]/.test(fields)) return ONE_SEAT
    const workOf = ({ objects, bytes }: Size): Work =>
      listWork(
        {
          objects,
          bytes,
          limit: Number(query.get('limit') ?? '') || undefined,
          selects: fields !== '' || query.has('labelSelector'),
          streamed: STREAMED.test(accept),
        },
        widest,
      )
    if (reported) return listWork(MADE, widest)
    const key = `${space}\0${group}\0${name}\0${namespace}`
    const known = this.#sizes.get(key)
    if (known !== undefined && this.#deps.clock() - known.atMs < SIZE_MS) return workOf(known)
    const type = this.#deps.types.in(space).find(group, version, name)
    if (type === undefined) return ONE_SEAT
    if (type.answered) return listWork(MADE, widest)
    return this.#sizeOf(rangeOf(type, { space, namespace: namespace === '' ? undefined : namespace })).then(size => {
      // a name that no namespace can have is not worth the memory
      if (namespace.length <= 63) this.#sizes.set(key, size)
      return workOf(size)
    })
  }

  async #sizeOf(range: Range): Promise<Size> {
    const { store, clock } = this.#deps
    const [objects, sample] = await Promise.all([
      store.count(range),
      store.list(range, { limit: SAMPLE, uncounted: true }),
    ])
    const sampled = sample.items.reduce((sum, { bytes }) => sum + bytes.length, 0)
    return { objects, bytes: sample.items.length === 0 ? 0 : sampled / sample.items.length, atMs: clock() }
  }
}
