/** How a syncer is, for people and for what watches over it. Numbers and fixed words only: nothing of what it carries. */
import { OUTCOME_STATES, type OutcomeState } from '../../placement/outcome/copyStates.ts'
import type { LinkState } from '../whose/link.ts'

export interface SyncerStatus {
  /** `standing by`: another syncer serves the cluster. */
  readonly state: 'starting' | 'standing by' | 'serving' | 'ended'
  /** The state of either link. */
  readonly center: LinkState
  readonly cluster: LinkState
  /** The protocol of the center; `undefined` before it is known. */
  readonly protocol: number | undefined
  /** Whether the content of the mailbox is known, from the center or from an earlier run. */
  readonly known: boolean
  /** Whether it is known to be all of it and nothing else. */
  readonly complete: boolean
  /** Objects of the mailbox. */
  readonly objects: number
  /** Position of the center's stream; `undefined` before that. */
  readonly heard: number | undefined
  /** Keys that wait, or are being worked on. */
  readonly waiting: { readonly down: number; readonly status: number; readonly up: number }
  /** Objects of the mailbox that are not in the cluster as they should be. */
  readonly exceptions: Readonly<Partial<Record<OutcomeState, number>>>
  readonly refused: number
  /** Whether what it knows is in its state dir, for the next start; `undefined` without one. */
  readonly kept: boolean | undefined
}

/** Reasons why it is not ready; none when it is. Standing by with a good credential is readiness. */
export function unready({ state, known, center }: SyncerStatus): string[] {
  if (state === 'standing by') return center === 'refused' ? ["the center refuses the syncer's credential"] : []
  return [...(state === 'serving' ? [] : [`it is ${state}`]), ...(known ? [] : ['the mailbox is not known yet'])]
}

export interface ProcessFigures {
  residentBytes: number
  cpuSeconds: number
}

/** In the text format of Prometheus. */
export function metricsOf(status: SyncerStatus, { residentBytes, cpuSeconds }: ProcessFigures): string {
  const lines: string[] = []
  const add = (name: string, help: string, values: Record<string, number> | number, type = 'gauge'): void => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    if (typeof values === 'number') lines.push(`${name} ${values}`)
    else for (const [labels, value] of Object.entries(values)) lines.push(`${name}{${labels}} ${value}`)
  }
  const { center, cluster, waiting, exceptions } = status
  const flag = (isSo: boolean): number => (isSo ? 1 : 0)
  add('orrery_syncer_serving', 'Whether this syncer serves the cluster.', flag(status.state === 'serving'))
  add('orrery_syncer_connected', 'Whether a side answers.', {
    'side="center"': flag(center === 'up'),
    'side="cluster"': flag(cluster === 'up'),
  })
  add('orrery_syncer_complete', 'Whether all of the mailbox is known.', flag(status.complete))
  add('orrery_syncer_objects', 'Objects of the mailbox.', status.objects)
  if (status.heard !== undefined)
    add('orrery_syncer_heard_revision', 'Revision of the center up to which the mailbox is known.', status.heard)
  add('orrery_syncer_waiting', 'Keys that wait or are being worked on.', {
    'queue="down"': waiting.down,
    'queue="status"': waiting.status,
    'queue="up"': waiting.up,
  })
  const states = OUTCOME_STATES.map(state => [`state="${state}"`, exceptions[state] ?? 0] as const)
  add('orrery_syncer_exceptions', 'Objects that are not in the cluster as they should be.', Object.fromEntries(states))
  add('orrery_syncer_refused', 'Objects that the syncer or the cluster refuses.', status.refused)
  if (status.kept !== undefined)
    add('orrery_syncer_state_kept', 'Whether the state dir takes what the syncer knows.', flag(status.kept))
  add('process_resident_memory_bytes', 'Resident memory.', residentBytes)
  add('process_cpu_seconds_total', 'Processor time.', cpuSeconds, 'counter')
  return `${lines.join('\n')}\n`
}
