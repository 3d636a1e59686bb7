/**
 * Bound on a syncer's request for a report: it is a status, and a holder of its credential can send any number. It is judged before any
 * read of the body; syncerWrites.ts bounds the result.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { OUTCOME_SUBRESOURCE } from '../../placement/outcome/outcome.ts'
import { isMailbox } from '../../placement/words/placement.ts'
import type { UserInfo } from '../auth/types.ts'
import { effectiveUser } from '../auth/users.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { SYNCER_USER } from './syncerReach.ts'

/** The status (at most 256 KiB: statusLimit.ts), and what a patch says around it. */
export const REPORT_LIMIT_BYTES = 272 * 1024

const REPORTS: ReadonlySet<string> = new Set(['status', OUTCOME_SUBRESOURCE])

/** Throws for a body of so many bytes that is too large for who sends it. @throws StatusError RequestEntityTooLarge */
export type BodyCheck = (
  request: { readonly info: RequestInfo; readonly user: UserInfo; readonly space: string },
  bytes: number,
) => void

export function reportLimit(tree: Pick<SpaceTree, 'pathOf'>): BodyCheck {
  return ({ info, user, space }, bytes) => {
    if (bytes <= REPORT_LIMIT_BYTES || !REPORTS.has(info.resource?.subresource ?? '')) return
    if (effectiveUser(user, space).name !== SYNCER_USER || !isMailbox(tree.pathOf(space) ?? '')) return
    throw new StatusError(
      'RequestEntityTooLarge',
      `Request entity too large: limit is ${REPORT_LIMIT_BYTES} for a status that a syncer reports. Send a patch of the status alone, and shorten its text in the cluster`,
    )
  }
}
