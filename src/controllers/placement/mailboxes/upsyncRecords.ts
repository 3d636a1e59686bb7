/**
 * Records on each upsynced object of a mailbox which spaces request it. Only the center says that, as only it knows whose sets a
 * SyncerConfig is made of.
 */

import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import { CRDS } from '../../../apimachinery/resources.ts'
import type { Client } from '../../../client/client.ts'
import { refOf } from '../../../client/refOf.ts'
import { unlessChanged } from '../../../client/unlessGone.ts'
import { askFor } from '../../../placement/associated/associated.ts'
import type { UpsyncShare } from '../../../placement/select/upsyncShare.ts'
import { FIELD_MANAGER, parseObjectKey, resourceKey } from '../../../placement/words/names.ts'
import { UPSYNCED_FOR } from '../../../placement/words/placement.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Tasks } from '../join/tasks.ts'
import type { Mailbox } from './mailbox.ts'

export class UpsyncRecords {
  readonly #client: Client
  readonly #tasks: Pick<Tasks, 'add'>
  readonly #join: Pick<PlacementJoin, 'sourcesOf' | 'associatedOf'>

  constructor(client: Client, tasks: Pick<Tasks, 'add'>, join: Pick<PlacementJoin, 'sourcesOf' | 'associatedOf'>) {
    this.#client = client
    this.#tasks = tasks
    this.#join = join
  }

  /** From now on the mailbox's syncer gets this share. */
  setShare(mailbox: Mailbox, share: UpsyncShare): void {
    const before = mailbox.share
    mailbox.share = share
    if (before?.digest === share.digest) return
    for (const key of mailbox.carried.keys()) this.#tasks.add({ type: 'requesters', mailbox: mailbox.name, key })
  }

  async reconcile(mailbox: Mailbox, key: string): Promise<void> {
    const { share } = mailbox
    const carried = mailbox.carried.get(key)
    if (!share || !carried) return // all is asked again once it is known what the syncer is asked for
    const { namespace, name } = parseObjectKey(key)
    const { uid, resource, root } = carried
    const bySets =
      resourceKey(resource) === resourceKey(CRDS)
        ? share.requestedForKind(kindOf(name))
        : share.requestedBy({ resource, namespace, name })
    const owner = root === undefined ? undefined : this.#ownerOf(mailbox, root, resource)
    const requestedBy = [...new Set(owner === undefined ? bySets : [...bySets, owner])].sort().join(',')
    if (requestedBy === carried.requestedBy) return
    const body = { metadata: { uid, annotations: { [UPSYNCED_FOR]: requestedBy === '' ? null : requestedBy } } }
    const api = this.#client.in(mailbox.space)
    const ref = refOf({ namespace, name })
    // the event of another object of the name comes
    await unlessChanged(api.patch(resource, ref, 'merge', body, { fieldManager: FIELD_MANAGER }))
  }
  /** The space that owns a copy, where it asks for associated objects of a kind. */
  #ownerOf(mailbox: Mailbox, root: string, kind: GroupVersionResource): string | undefined {
    const owner = mailbox.copies.get(root)?.owner
    const claim = this.#join.sourcesOf(mailbox.name, root).find(({ space }) => space === owner)
    return claim && askFor(this.#join.associatedOf(claim), kind) ? owner : undefined
  }
}

/** Kind in a CRD's name: the CRD comes along with the objects that it defines. */
function kindOf(name: string): { group: string; resource: string } {
  const [resource = '', ...group] = name.split('.')
  return { group: group.join('.'), resource }
}
