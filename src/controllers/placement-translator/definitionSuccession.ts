/**
 * A definition that another space comes to own, and that has no version in common with the one before: no update makes one of
 * the other. It is made anew once nothing of the kind is left in the mailbox; until then it stays as it was.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import type { Client } from '../../client/client.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { Mailbox } from './mailbox.ts'
import { parseObjectKey, resourceKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'

export interface SuccessionDeps {
  client: Client
  join: PlacementJoin
}

/** What is left is going, and tells when it has gone. */
const SOON_MS = 1000
const LATER_MS = 300_000
const DEFINITIONS = `${resourceKey(CRDS)}|`

/** To be asked when a mailbox has refused an update. `undefined`: that has another cause. */
export async function makeWay(
  { client, join }: SuccessionDeps,
  mailbox: Mailbox,
  key: string,
): Promise<ReconcileResult | undefined> {
  const copy = mailbox.copies.get(key)
  if (!copy || copy.terminating || !key.startsWith(DEFINITIONS)) return undefined
  if (join.sourcesOf(mailbox.name, key).some(({ space }) => mailbox.ownersOf(key).includes(space))) return undefined
  const { name } = parseObjectKey(key)
  const dot = name.indexOf('.')
  const kind = `${resourceKey({ group: name.slice(dot + 1), resource: name.slice(0, dot) })}|`
  const isOfKind = (other: string) => other.startsWith(kind)
  const left = [...mailbox.copies.keys()].filter(isOfKind)
  // what was carried up goes when its cluster has no more of it
  if ([...mailbox.carried.keys()].some(isOfKind)) return { requeueAfterMs: LATER_MS }
  if (left.length > 0) {
    const isGoing = left.every(other => join.sourcesOf(mailbox.name, other).length === 0)
    return { requeueAfterMs: isGoing ? SOON_MS : LATER_MS }
  }
  const { uid, resourceVersion } = copy
  const options = { propagationPolicy: 'Background', preconditions: { uid, resourceVersion } } as const
  try {
    await client.in(mailbox.space).delete(CRDS, { name }, options)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
  return {} // made when it is known to be gone
}
