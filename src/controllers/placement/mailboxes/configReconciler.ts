/** Converges the SyncerConfig `the-one` of one mailbox. It is made once a placement leads there, later emptied, never deleted. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import type { Client } from '../../../client/client.ts'
import {
  createdSyncerConfig,
  syncerConfigSpec,
  UPSYNC_KEY,
  updatedSyncerConfig,
} from '../../../placement/desks/syncerConfig.ts'
import { MAX_SPACE_UPSYNC, type UpsyncShare } from '../../../placement/select/upsyncShare.ts'
import { FIELD_MANAGER } from '../../../placement/words/names.ts'
import { SYNCER_CONFIG_NAME, SYNCER_CONFIGS } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Mailbox } from './mailbox.ts'
import type { UpsyncRecords } from './upsyncRecords.ts'

export interface ConfigReconcilerDeps {
  client: Client
  join: PlacementJoin
  records: UpsyncRecords
  reports: {
    /** Keeps why something of a placement is not carried up from the mailbox; `undefined`: nothing keeps it. */
    report(space: string, placement: string, key: string, mailbox: string, told: Reason | undefined): void
  }
}

export async function reconcileConfig(deps: ConfigReconcilerDeps, mailbox: Mailbox): Promise<void> {
  const { client, join } = deps
  // what it names is carried up; all is looked at again once it is known
  if (join.isUncertain(mailbox.name)) return
  const api = client.in(mailbox.space)
  const options = { fieldManager: FIELD_MANAGER }
  const share = join.upsyncOf(mailbox.name)
  reportCrowded(deps, mailbox.name, share)
  const spec = syncerConfigSpec(share.sets)
  try {
    const body = updatedSyncerConfig(spec, await api.get(SYNCER_CONFIGS, { name: SYNCER_CONFIG_NAME }))
    if (body) await api.update(SYNCER_CONFIGS, body, options)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    if (join.isChosen(mailbox.name)) await api.create(SYNCER_CONFIGS, createdSyncerConfig(spec), options)
  }
  deps.records.setShare(mailbox, share)
}

function reportCrowded({ join, reports }: ConfigReconcilerDeps, mailbox: string, { crowded }: UpsyncShare): void {
  for (const { space, name } of join.placementsOf(mailbox)) {
    const left = crowded.find(other => other.space === space && other.name === name)?.left
    const told = left === undefined ? undefined : { reason: 'TooMuchUpsync', message: crowdedMessage(left) }
    reports.report(space, name, UPSYNC_KEY, mailbox, told)
  }
}

function crowdedMessage(left: number): string {
  return `${left} of its sets are not carried up: those of all placements of a space have ${MAX_SPACE_UPSYNC} bytes in a cluster's SyncerConfig; name fewer objects, or use "*"`
}
