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
