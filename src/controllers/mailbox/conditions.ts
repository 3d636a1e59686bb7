/** Conditions of a SyncTarget. Pure. */
import { timestamp } from '../../apimachinery/timestamp.ts'

export interface Condition {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

type Stored = Readonly<Record<string, unknown>>

/** With these in place of those of the same types; the time of a transition stays where the status does. */
export function withConditions(before: readonly Stored[], now: readonly Condition[], nowMs: number): Stored[] {
  const types = new Set(now.map(({ type }) => type))
  return [
    ...before.filter(({ type }) => !types.has(String(type))),
    ...now.map(condition => {
      const old = before.find(({ type }) => type === condition.type)
      const stays = old?.status === condition.status
      return { ...condition, lastTransitionTime: stays ? old.lastTransitionTime : timestamp(new Date(nowMs)) }
    }),
  ]
}
