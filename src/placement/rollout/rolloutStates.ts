/** States of a rollout, as `status.state` of its PlacementRollout has them. */
export const ROLLOUT_STATES = [
  'Running',
  'Waiting',
  'Paused',
  'Stuck',
  'Failed',
  'Done',
  'RolledBack',
  'Superseded',
] as const
export type RolloutState = (typeof ROLLOUT_STATES)[number]

/** How far the content of a placement is. */
export interface RolloutReport {
  readonly state: RolloutState
  readonly reason: string
  readonly message: string
  readonly revision: number
  /** Edits are in no revision yet; `unknown`: a start looks for such. */
  readonly isDirty: boolean | 'unknown'
  readonly pinned: number | undefined
}

/** The condition of an EdgePlacement. */
export const ROLLED_OUT = 'RolledOut'
/** A state, and reason of the condition. */
export const ROLLED_BACK = 'RolledBack'
/** Reason where nothing is staged any more: all clusters read the live content. */
export const NOT_STAGED = 'NotStaged'
