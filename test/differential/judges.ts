/** Judges of the answer to a step: the peers that got it and answer alike. Where there is none, the script says why. */
import type { Verdict } from './compare.ts'
import type { Peer, Script, Step } from './script.ts'

/** Verdict of one peer on each step of a script; `undefined` for those that it did not get. */
export interface Opinion {
  /** As recordings name it: `kube-apiserver v1.20.2`. */
  judge: string
  verdicts: readonly (Verdict | undefined)[]
}

/** @param version as the server tells it: `v1.20.2` */
export function judgeName(peer: Peer, version: string): string {
  return `${peer === 'apiextensions' ? 'apiextensions-apiserver' : peer} ${version}`
}

/** Without its version. */
export const withoutVersion = (judge: string): string => judge.split(' ')[0]!

/** Beginnings of paths that leave nothing to judge: everything, and the code. */
const WHOLE = ['', 'code']

/** Whether a peer that got the step answers the same, at least in part. */
export function agrees({ unexplained, explained }: Verdict): boolean {
  return unexplained.length === 0 && !explained.some(start => WHOLE.includes(start))
}

/** Why the peers of a script do not judge a step, as the script tells it; `undefined` where it tells nothing. */
export function reasonOf({ peers = ['kube-apiserver'] }: Script, step: Step): string | undefined {
  const whole = (unlike: Step['unlike120'] = {}): string | undefined =>
    WHOLE.map(start => unlike[start] ?? unlike[`?${start}`]).find(text => text !== undefined)
  const reasons = peers
    .map(peer => (peer === 'kube-apiserver' ? (step.since ?? whole(step.unlike120)) : whole(step.unlikeToday)))
    .filter(text => text !== undefined)
  return reasons.length === 0 ? undefined : [...new Set(reasons)].join('; ')
}
