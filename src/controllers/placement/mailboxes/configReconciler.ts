/** Converges the SyncerConfig `the-one` of one mailbox. It is made once a placement leads there, later emptied, never deleted. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Client } from '../../../client/client.ts'
import { createdSyncerConfig, syncerConfigSpec, updatedSyncerConfig } from '../../../placement/desks/syncerConfig.ts'
import { FIELD_MANAGER } from '../../../placement/words/names.ts'
import { SYNCER_CONFIG_NAME, SYNCER_CONFIGS } from '../../../placement/words/placement.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Tasks } from '../join/tasks.ts'
import type { Mailbox } from './mailbox.ts'
import type { UpsyncRecords } from './upsyncRecords.ts'

export interface ConfigReconcilerDeps {
  client: Client
  join: PlacementJoin
  records: UpsyncRecords
  tasks: Pick<Tasks, 'reportAll'>
}

export async function reconcileConfig(deps: ConfigReconcilerDeps, mailbox: Mailbox): Promise<void> {
  const { client, join } = deps
  // what it names is carried up; all is looked at again once it is known
  if (join.isUncertain(mailbox.name)) return
  const api = client.in(mailbox.space)
  const options = { fieldManager: FIELD_MANAGER }
  const share = join.upsyncOf(mailbox.name)
  const spec = syncerConfigSpec(share.sets)
  try {
    const body = updatedSyncerConfig(spec, await api.get(SYNCER_CONFIGS, { name: SYNCER_CONFIG_NAME }))
    if (body) await api.update(SYNCER_CONFIGS, body, options)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    if (join.isChosen(mailbox.name)) await api.create(SYNCER_CONFIGS, createdSyncerConfig(spec), options)
  }
  const known = mailbox.share
  const before = known?.crowded ?? []
  deps.records.setShare(mailbox, share)
  // definitions count for those that ask for the kind
  if (known?.digest !== share.digest && mailbox.definitions.size > 0)
    deps.tasks.reportAll(join.placementsOf(mailbox.name))
  if (equalJson(before, share.crowded)) return
  // their upsync sets find room now, or no longer
  deps.tasks.reportAll([...before, ...share.crowded])
}
