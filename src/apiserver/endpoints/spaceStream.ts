/**
 * GET /services/stream/clusters/<space>[?resourceVersion=N&resources=deployments.apps,configmaps]: every change of a space,
 * all kinds, one order, one cursor. Without a cursor it starts with a consistent snapshot that a `synced` bookmark ends.
 *
 * One JSON line an event: `{"type","space","group","version","resource","namespace","name","revision","object"}`; `BOOKMARK` lines carry the
 * cursor; an `ERROR` line carries a Status and is the last one. Over WebSocket each line is one text message.
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { GroupResource } from '../../apimachinery/object.ts'
import type { Key, Store, Stored } from '../../storage/store.ts'
import { parseResourceVersion, tooLarge, watchError } from '../registry/readVersions.ts'
import type { StreamForms } from '../registry/streamForms.ts'
import type { FrameSink } from './streamWriter.ts'

const BOOKMARK_INTERVAL_MS = 30_000
const SNAPSHOT_PAGE = 500
/** A stream ends after 30 to 60 minutes and is resumed by its client: so a revoked credential does not read for ever. */
const LIFETIME_MS = 1_800_000

export interface SpaceStreamDeps {
  store: Store
  forms: StreamForms
  draining: AbortSignal
  /** Aborts when the space is gone. */
  scope(space: string): AbortSignal
  random: () => number
}

export interface SpaceStreamPlan {
  space: string
  resources: readonly GroupResource[] | undefined
  after: number | undefined
}

/** @throws StatusError BadRequest, Timeout (cursor of the future) */
export function planStream(space: string, query: URLSearchParams, store: Store): SpaceStreamPlan {
  const names = query.get('resources')
  const rv = query.get('resourceVersion')
  const after = rv === null || rv === '' ? undefined : parseResourceVersion(rv)
  if (after !== undefined && after > store.revision) throw tooLarge(after, store.revision)
  const resources = names
    ?.split(',')
    .filter(name => name !== '')
    .map(parseResourceName)
  return { space, resources: resources && resources.length > 0 ? resources : undefined, after }
}

function parseResourceName(name: string): GroupResource {
  const dot = name.indexOf('.')
  return dot < 0 ? { group: '', resource: name } : { group: name.slice(dot + 1), resource: name.slice(0, dot) }
}

/** Runs until either side ends it. */
export async function runSpaceStream(
  deps: SpaceStreamDeps,
  plan: SpaceStreamPlan,
  sink: FrameSink,
  gone: AbortSignal,
): Promise<void> {
  const lived = new AbortController()
  const lifetime = setTimeout(() => lived.abort(), LIFETIME_MS * (1 + deps.random()))
  const signal = AbortSignal.any([gone, lived.signal, deps.draining, deps.scope(plan.space)])
  const range = plan.space === '*' ? {} : { space: plan.space }
  const wanted = plan.resources && new Set(plan.resources.map(r => `${r.group}/${r.resource}`))
  const wants = (key: Key): boolean => wanted === undefined || wanted.has(`${key.group}/${key.resource}`)
  let live = false
  const ticker = setInterval(() => {
    const { revision } = deps.store
    setImmediate(() => {
      if (live && !sink.busy && !signal.aborted) void sink.write([bookmarkLine(revision, false)])
    })
  }, BOOKMARK_INTERVAL_MS)
  let { after } = plan
  try {
    if (after === undefined) {
      after = await sendSnapshot(deps, range, wants, sink, signal)
      if (after === undefined || !(await sink.write([bookmarkLine(after, true)]))) return
    }
    for await (const batch of deps.store.watch(range, {
      after,
      signal,
      onLive: () => {
        live = true
      },
    })) {
      const wanted = batch.filter(event => wants(event.key))
      await deps.forms.prepare(
        plan.space,
        wanted.map(event => event.stored),
      )
      const lines = wanted.map(event => {
        const type = event.type === 'delete' ? 'DELETED' : event.previous === undefined ? 'ADDED' : 'MODIFIED'
        return eventLine(deps, type, event.stored)
      })
      if (lines.length > 0 && !(await sink.write(lines))) return
    }
  } catch (error) {
    const known = watchError(error, after ?? 0, deps.store.compactedRevision)
    const status = known instanceof StatusError ? known : statusError.internal(known)
    await sink.write([Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status.toStatus() })}\n`)])
  } finally {
    clearInterval(ticker)
    clearTimeout(lifetime)
    sink.end()
  }
}

/** Sends one consistent view, page by page; the revision of the view, or `undefined` when the other side left. */
async function sendSnapshot(
  deps: SpaceStreamDeps,
  range: { space?: string },
  wants: (key: Key) => boolean,
  sink: FrameSink,
  signal: AbortSignal,
): Promise<number | undefined> {
  let at: number | undefined
  let after: Key | undefined
  for (;;) {
    const page = await deps.store.list(range, {
      limit: SNAPSHOT_PAGE,
      uncounted: true,
      ...(at !== undefined && { at }),
      ...(after && { after }),
    })
    const wanted = page.items.filter(stored => wants(stored.key))
    await deps.forms.prepare(range.space ?? '*', wanted)
    const lines = wanted.map(stored => eventLine(deps, 'ADDED', stored))
    if (signal.aborted || (lines.length > 0 && !(await sink.write(lines)))) return undefined
    at = page.revision
    after = page.items.at(-1)?.key
    if (!page.more || after === undefined) return at
  }
}

const LINE_END = Buffer.from('}\n')

function eventLine(deps: SpaceStreamDeps, type: string, stored: Stored): Buffer {
  const { space, group, resource, namespace, name } = stored.key
  const { version, bytes } = deps.forms.of(stored)
  const head = { type, space, group, version, resource, namespace, name, revision: stored.revision }
  return Buffer.concat([Buffer.from(`${JSON.stringify(head).slice(0, -1)},"object":`), bytes, LINE_END])
}

function bookmarkLine(revision: number, synced: boolean): Buffer {
  return Buffer.from(`${JSON.stringify({ type: 'BOOKMARK', revision, ...(synced && { synced }) })}\n`)
}
