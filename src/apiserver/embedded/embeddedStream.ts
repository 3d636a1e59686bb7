/** A space stream inside the server's own process: a snapshot in pages of one revision, then the store's log from there. */

import type { StreamBatch, StreamEvent, StreamOptions } from '../../client/client.ts'
import type { Store, Stored, StoreEvent } from '../../storage/store.ts'
import { watchError } from '../registry/readVersions.ts'
import { SharedEvent, type StreamedServices } from './sharedEvent.ts'

export interface InProcessStreamDeps {
  services: StreamedServices
  store: Store
}

const SNAPSHOT_PAGE = 500

/** `space` is a logical-cluster id or `*`. @throws StatusError `Expired` when `after` is older than the kept history */
export async function* inProcessStream(deps: InProcessStreamDeps, options: StreamOptions): AsyncGenerator<StreamBatch> {
  const { store } = deps
  const only = options.resources?.length === 1 ? options.resources[0] : undefined
  const range = {
    ...(options.space !== '*' && { space: options.space }),
    // One resource: the store has an index for it, and writes of others wake nobody here.
    ...(only && { group: only.group, resource: only.resource }),
  }
  const wanted = options.resources && new Set(options.resources.map(r => `${r.group}/${r.resource}`))
  const wants = (stored: Stored): boolean =>
    wanted === undefined || wanted.has(`${stored.key.group}/${stored.key.resource}`)
  let { after } = options
  if (after === undefined) {
    let at: number | undefined
    let from: Stored['key'] | undefined
    for (;;) {
      const page = await store.list(range, {
        limit: SNAPSHOT_PAGE,
        uncounted: true,
        ...(at !== undefined && { at }),
        ...(from && { after: from }),
      })
      if (options.signal.aborted) return
      at = page.revision
      from = page.items.at(-1)?.key
      const items = page.items.filter(wants)
      await deps.services.forms.prepare(options.space, items)
      const events = items.map(stored => new SharedEvent(deps.services, options.space, 'ADDED', stored))
      const synced = !page.more || from === undefined
      if (events.length > 0 || synced) yield { events, revision: at, synced }
      if (synced) break
    }
    after = at
  }
  try {
    for await (const batch of store.watch(range, { after, signal: options.signal })) {
      const wanted = batch.filter(event => wants(event.stored))
      await deps.services.forms.prepare(
        options.space,
        wanted.map(event => event.stored),
      )
      const events = wanted.map(event => new SharedEvent(deps.services, options.space, kindOf(event), event.stored))
      yield { events, revision: batch.at(-1)!.revision, synced: false }
    }
  } catch (error) {
    throw watchError(error, after, store.compactedRevision)
  }
}

function kindOf(event: StoreEvent): StreamEvent['type'] {
  return event.type === 'delete' ? 'DELETED' : event.previous === undefined ? 'ADDED' : 'MODIFIED'
}
