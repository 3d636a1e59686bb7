/** The objects that a request for a collection is about. */
import type { Exchange, Services } from '../exchange/exchange.ts'
import { type Selection, selectionFor } from '../registry/selection.ts'

export interface Collection {
  readonly space: string
  /** Absent: in all namespaces, or in none. */
  readonly namespace: string | undefined
  readonly selection: Selection
}

/** @throws StatusError BadRequest as {@link selectionFor} */
export function collectionOf(
  { deps }: Pick<Services, 'deps'>,
  { type, space, resource, info: { query } }: Pick<Exchange, 'type' | 'space' | 'resource' | 'info'>,
): Collection {
  // a watch may be one of a single object
  const fields = [query.get('fieldSelector'), resource.name && `metadata.name=${resource.name}`].filter(Boolean)
  const selection = selectionFor(type, deps.strategyFor(type), {
    labelSelector: query.get('labelSelector') ?? undefined,
    fieldSelector: fields.join(','),
  })
  return { space, namespace: resource.namespace || undefined, selection }
}
