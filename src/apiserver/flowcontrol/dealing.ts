/**
 * Shuffle sharding: which few of many queues a flow may use. Flows that share a queue seldom share the others, so whoever
 * floods all of its own leaves almost everybody at least one.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#queuing
 */
import { createHash } from 'node:crypto'

/**
 * Identity of a flow. The space is always a part of it: equal names in two spaces are two flows. `who` is the value that the FlowSchema
 * distinguishes by, or empty.
 */
export function flowHash(schema: string, space: string, who: string): bigint {
  return createHash('sha256').update(`${schema}\0${space}\0${who}`).digest().readBigUInt64LE(0)
}

/** The `hand` queues of 0..`queues`-1 that a hash stands for, all different. */
export function dealHand(hash: bigint, queues: number, hand: number): number[] {
  const picks: number[] = []
  let rest = hash
  for (let dealt = 0; dealt < hand; dealt++) {
    const left = BigInt(queues - dealt)
    picks.push(Number(rest % left))
    rest /= left
  }
  // Each pick counts only the queues that were left: those dealt before it are stepped over, the last one first.
  return picks.map((pick, dealt) => {
    let card = pick
    for (let before = dealt - 1; before >= 0; before--) if (card >= picks[before]!) card++
    return card
  })
}
