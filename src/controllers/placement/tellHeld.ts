/** What ended the process while it was placed: it is not placed for now, and those whose object it is are told. */
import type { Hold } from '../../client/setAside/keyGuard.ts'
import type { PlacementJoin } from './join/placementJoin.ts'
import type { Task } from './join/task.ts'
import type { PlacementReports } from './status/placementReports.ts'

const SET_ASIDE = {
  reason: 'SetAside',
  message:
    'the server ended while it placed this; it is left as it is in the cluster for now, and tried again later; mend the object, or what customizes it, or delete it',
}

/** @param hold absent: it is held no more */
export function tellHeld(
  { join, reports }: { join: PlacementJoin; reports: PlacementReports },
  task: Task,
  hold: Hold | undefined,
): void {
  if (task.type !== 'copy' || hold?.deaths === 0) return
  const { mailbox, key } = task
  for (const source of join.sourcesOf(mailbox, key)) {
    if (hold) reports.reportCopy(source, SET_ASIDE)
    else for (const name of source.placements) reports.withdraw(source.space, name, key, mailbox, SET_ASIDE.reason)
  }
}
