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

/** `npm run pages` writes it into docs/reference/metrics.md. */
interface SyncerMetric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'counter'
  /** At most one, with its values. */
  readonly labels: Readonly<Record<string, readonly string[]>>
  /** In the order of the label's values; empty while it is not known. */
  values(status: SyncerStatus, process: ProcessFigures): readonly number[]
}

const flag = (isSo: boolean): number => (isSo ? 1 : 0)
const known = (value: number | undefined): readonly number[] => (value === undefined ? [] : [value])
const gauge = (
  name: string,
  help: string,
  values: SyncerMetric['values'],
  labels: SyncerMetric['labels'] = {},
): SyncerMetric => ({ name: `orrery_syncer_${name}`, help, type: 'gauge', labels, values })

export const SYNCER_METRICS: readonly SyncerMetric[] = [
  gauge('serving', 'Whether this syncer serves the cluster.', ({ state }) => [flag(state === 'serving')]),
  gauge(
    'connected',
    'Whether a side answers.',
    ({ center, cluster }) => [flag(center === 'up'), flag(cluster === 'up')],
    { side: ['center', 'cluster'] },
  ),
  gauge('complete', 'Whether all of the mailbox is known.', ({ complete }) => [flag(complete)]),
  gauge('objects', 'Objects of the mailbox.', ({ objects }) => [objects]),
  gauge('heard_revision', 'Revision of the center up to which the mailbox is known.', ({ heard }) => known(heard)),
  gauge(
    'waiting',
    'Keys that wait or are being worked on.',
    ({ waiting: { down, status, up } }) => [down, status, up],
    { queue: ['down', 'status', 'up'] },
  ),
  gauge(
    'exceptions',
    'Objects that are not in the cluster as they should be.',
    ({ exceptions }) => OUTCOME_STATES.map(state => exceptions[state] ?? 0),
    { state: OUTCOME_STATES },
  ),
  gauge('refused', 'Objects that the syncer or the cluster refuses.', ({ refused }) => [refused]),
  gauge('state_kept', 'Whether the state dir takes what the syncer knows.', ({ kept }) =>
    known(kept === undefined ? undefined : flag(kept)),
  ),
  {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    type: 'gauge',
    labels: {},
    values: (_, { residentBytes }) => [residentBytes],
  },
  {
    name: 'process_cpu_seconds_total',
    help: 'Processor time.',
    type: 'counter',
    labels: {},
    values: (_, { cpuSeconds }) => [cpuSeconds],
  },
]

/** In the text format of Prometheus. */
export function metricsOf(status: SyncerStatus, figures: ProcessFigures): string {
  const lines = SYNCER_METRICS.flatMap(({ name, help, type, labels, values }) => {
    const [label, names = []] = Object.entries(labels)[0] ?? []
    const numbers = values(status, figures)
    if (numbers.length === 0) return []
    return [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...numbers.map((value, i) => `${name}${label === undefined ? '' : `{${label}="${names[i]}"}`} ${value}`),
    ]
  })
  return `${lines.join('\n')}\n`
}
