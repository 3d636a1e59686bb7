/**
 * An object that no update can bring to its desired content. An immutable field has another value, or a definition lacks the version in
 * which the cluster stores. It is recreated where another space comes to own it and the former owner claims it no more. Copies that the
 * brake and pauses release are deleted first, and so are objects that hold data. A definition waits until nothing of its kind is left in
 * the mailbox. For an owner that goes on claiming it nothing is deleted: the last good copy stays.
 */
import { CRDS } from '../../../apimachinery/resources.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { parseObjectKey, resourceKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { Brake } from '../retention/brake.ts'
import type { CopyWriter } from './copyWriter.ts'

interface SuccessionDeps {
  join: Pick<PlacementJoin, 'sourcesOf'>
  brake: Pick<Brake, 'isPreserved'>
  writer: Pick<CopyWriter, 'remove'>
}

interface Succession extends ReconcileResult {
  /** Action that ends the wait, where people can take one. */
  readonly remedy?: string
}

/** The rest is going, and its end arrives as an event. */
const SOON_MS = 1000
const LATER_MS = 300_000
const DEFINITIONS = `${resourceKey(CRDS)}|`
const DATA = ['persistentvolumes', 'persistentvolumeclaims'].map(resource => `${resourceKey({ group: '', resource })}|`)

/** Whether an object stands for data of its owner, which pass to no other space unless the owner hands them over. */
export function holdsData(key: string): boolean {
  return DATA.some(kind => key.startsWith(kind))
}

/**
 * To be called when a mailbox has refused an update. `undefined`: the object stays, and another edit has to mend it.
 */
export async function succeed(deps: SuccessionDeps, mailbox: Mailbox, key: string): Promise<Succession | undefined> {
  const { join, brake, writer } = deps
  const copy = mailbox.copies.get(key)
  const owner = mailbox.ownerOf(key)
  const claims = join.sourcesOf(mailbox.name, key)
  if (!copy || copy.terminating || owner === undefined || claims.length === 0) return undefined
  const own = claims.find(({ space }) => space === owner)
  if (own) {
    if (claims.length === 1) return undefined
    return { requeueAfterMs: LATER_MS, remedy: claimedRemedy(own.space) }
  }
  const wait = key.startsWith(DEFINITIONS) ? waitForKind(join, mailbox, parseObjectKey(key).name) : undefined
  if (wait) return wait
  await writer.remove(mailbox, key, copy, brake.isPreserved(mailbox.name, key))
  return {} // made when it is known to be gone
}

/** Why a definition cannot be made anew yet. */
function waitForKind(join: SuccessionDeps['join'], mailbox: Mailbox, definition: string): Succession | undefined {
  const dot = definition.indexOf('.')
  const kind = `${resourceKey({ group: definition.slice(dot + 1), resource: definition.slice(0, dot) })}|`
  const isOfKind = (key: string) => key.startsWith(kind)
  // what was carried up goes when its cluster has no more of it
  if ([...mailbox.carried.keys()].some(isOfKind)) return { requeueAfterMs: LATER_MS, remedy: DEFINITION_REMEDY }
  const left = [...mailbox.copies.keys()].filter(isOfKind)
  if (left.length === 0) return undefined
  const isGoing = left.every(key => join.sourcesOf(mailbox.name, key).length === 0)
  return isGoing ? { requeueAfterMs: SOON_MS } : { requeueAfterMs: LATER_MS, remedy: DEFINITION_REMEDY }
}

const DEFINITION_REMEDY =
  'the cluster stores objects of this kind in a version of the former owner. Keep that version in spec.versions ("served: false" is enough). Or place no object of the kind there for a while, so that the definition is created anew'

/** By its id: the path is for those who may see the space. */
function claimedRemedy(owner: string): string {
  return `no update turns the object of space ${owner} into this one: it is created anew once that space no longer places it there. Another name helps, too`
}
