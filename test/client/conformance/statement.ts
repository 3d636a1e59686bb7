/** A statement of the `Client` contract, the world in which it is checked, and the parts of the contract that a fake may refuse. */
import type { Test } from 'tap'
import type { StatusReason } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Client, SpaceClient, WatchEvent } from '../../../src/client/client.ts'

export const MAPS = { group: '', version: 'v1', resource: 'configmaps' }
export const NAMESPACES = { group: '', version: 'v1', resource: 'namespaces' }
/** A kind with a spec, a generation, and a status of its own. */
export const SETS = { group: 'apps', version: 'v1', resource: 'replicasets' }

/** Each is offered as the statements say, or refused with the error `NotOffered`. */
export type Feature =
  | 'list'
  | 'watch'
  | 'selectors'
  | 'fields'
  | 'json'
  | 'strategic'
  | 'apply'
  | 'dryRun'
  | 'resume'
  | 'withStatus'
  | 'finalize'

export interface World {
  readonly client: Client
  readonly api: SpaceClient
  readonly space: string
  /** Exists, and holds nothing but objects of this statement. */
  readonly namespace: string
  /** The server forgets its history up to now: versions and cursors of before are expired. */
  forget(): Promise<void>
}

export interface Statement {
  readonly says: string
  readonly needs?: readonly Feature[]
  run(t: Test, world: World): Promise<void>
}

export const map = (world: World, name: string, data: Record<string, string> = {}, metadata: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: world.namespace, ...metadata },
    data,
  }) as KubeObject

export function set(world: World, name: string, replicas = 1, metadata: object = {}): KubeObject {
  const containers = [{ name: 'c', image: 'i' }]
  const spec = {
    replicas,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers } },
  }
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: world.namespace, ...metadata },
    spec,
  }
}

/** Names an object in the world's Namespace. */
export const at = ({ namespace }: World, name: string) => ({ namespace, name })

export const refused = (reason: StatusReason, more: object = {}) => ({ name: 'StatusError', reason, ...more })

/** An object without what the server says of it alone. */
export const said = ({ metadata, ...rest }: KubeObject) => ({ ...rest, metadata: { name: metadata.name } })

/** The first events of a watch, which ends then. Bookmarks are left out. */
export async function take(
  watch: (signal: AbortSignal) => AsyncIterable<readonly WatchEvent[]>,
  count: number,
): Promise<Exclude<WatchEvent, { type: 'BOOKMARK' }>[]> {
  const end = new AbortController()
  const seen: Exclude<WatchEvent, { type: 'BOOKMARK' }>[] = []
  for await (const events of watch(end.signal)) {
    for (const event of events) if (event.type !== 'BOOKMARK') seen.push(event)
    if (seen.length >= count) end.abort()
  }
  return seen
}
