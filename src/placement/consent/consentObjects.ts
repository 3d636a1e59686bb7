/** The objects by which a workload space and an inventory consent: an InventoryBinding here, a PlacementGrant there. */

import { createHash } from 'node:crypto'
import { str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { EDGE_API_VERSION } from '../words/placement.ts'

const MAX_LABEL = 63
const MAX_NAME = 253
const HASH = 10

export function inventoryBinding(name: string, path: string): KubeObject {
  return { apiVersion: EDGE_API_VERSION, kind: 'InventoryBinding', metadata: { name }, spec: { path } }
}

/** `spec` without `spaces`. */
export function placementGrant(
  name: string,
  space: { path?: string; cluster?: string },
  spec: Record<string, unknown>,
): KubeObject {
  return {
    apiVersion: EDGE_API_VERSION,
    kind: 'PlacementGrant',
    metadata: { name },
    spec: { spaces: [space], ...spec },
  }
}

/** All that a grant can allow; Secrets are carried up only where they are named. */
export const EVERYTHING = {
  clusterScoped: true,
  grantingKinds: true,
  upsync: [{ apiGroup: '*', resources: ['*'] }],
  associated: ['*'],
}

/** `spec.path` of an InventoryBinding; `''` where it says none. */
export function boundPath({ spec }: KubeObject): string {
  return str(spec, 'path')
}

/** Id of the inventory that an InventoryBinding is pinned to; `undefined` until one has granted. */
export function pinnedTo({ status }: KubeObject): string | undefined {
  return str(status, 'cluster') || undefined
}

/** Default name of an inventory's InventoryBinding: `root:a:imw` is `a-imw`. */
export function bindingName(path: string): string {
  return shortName(belowRoot(path).replaceAll(':', '-'), MAX_LABEL)
}

/** Default name of the PlacementGrant for a space: `root:a:wmw` is `a.wmw`. */
export function grantName(path: string): string {
  return shortName(belowRoot(path).replaceAll(':', '.'), MAX_NAME)
}

function belowRoot(path: string): string {
  return path.startsWith('root:') ? path.slice('root:'.length) : path
}

/** The text itself where it is short enough, else its begin and a hash of all of it. */
export function shortName(text: string, limit: number): string {
  if (text.length <= limit) return text
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH)
  return `${text.slice(0, limit - HASH - 1).replace(/[^a-z0-9]+$/, '')}-${hash}`
}
