/** Converges the SyncerConfig `the-one` of one mailbox. It is made once a placement leads there, later emptied, never deleted. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { SYNCER_CONFIG_NAME, SYNCER_CONFIGS } from '../../apimachinery/placement.ts'
import type { Client } from '../../client/client.ts'
import type { Mailbox } from './mailboxes.ts'
import { FIELD_MANAGER } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import { createdSyncerConfig, syncerConfigSpec, updatedSyncerConfig } from './syncerConfig.ts'

export async function reconcileConfig(client: Client, join: PlacementJoin, mailbox: Mailbox): Promise<void> {
  const api = client.in(mailbox.space)
  const options = { fieldManager: FIELD_MANAGER }
  const spec = syncerConfigSpec(join.contentOf(mailbox.name).values(), join.upsyncOf(mailbox.name))
  try {
    const body = updatedSyncerConfig(spec, await api.get(SYNCER_CONFIGS, { name: SYNCER_CONFIG_NAME }))
    if (body) await api.update(SYNCER_CONFIGS, body, options)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    if (join.isChosen(mailbox.name)) await api.create(SYNCER_CONFIGS, createdSyncerConfig(spec), options)
  }
}
