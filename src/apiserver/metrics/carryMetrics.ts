/**
 * How controllers and what is placed get on, as metrics. Only the clusters furthest behind are shown, by names that the center makes. No
 * client can invent series, and those of a cluster end with it.
 */
import {
  type CarryFigures,
  type FigureDesk,
  type NoticeFigures,
  STAGE_TEXTS,
  STAGES,
  type SummaryFigures,
} from '../../placement/desks/carryFigures.ts'
import { ROLLOUT_STATES } from '../../placement/rollout/rolloutStates.ts'
import type { Metric, Samples } from './metric.ts'

export const CLUSTERS_SHOWN = 20

export class CarryBoard implements FigureDesk {
  readonly writtenAtMs: FigureDesk['writtenAtMs']
  #figures: CarryFigures | undefined
  #notices: NoticeFigures | undefined
  #depths: (() => Readonly<Record<string, number>>) | undefined

  constructor(writtenAtMs: FigureDesk['writtenAtMs'] = () => undefined) {
    this.writtenAtMs = writtenAtMs
  }

  show(figures: CarryFigures | undefined): void {
    this.#figures = figures
  }

  showQueues(depths: (() => Readonly<Record<string, number>>) | undefined): void {
    this.#depths = depths
  }

  showNotices(figures: NoticeFigures | undefined): void {
    this.#notices = figures
  }

  metrics(): Metric[] {
    const ofClusters = (name: string, help: string, what: 'objects' | 'seconds'): Metric => ({
      name,
      help: `${help} The ${CLUSTERS_SHOWN} clusters that are most behind are shown, by mailbox.`,
      type: 'gauge',
      labels: { mailbox: [] },
      samples: () => (this.#figures?.lagging(CLUSTERS_SHOWN) ?? []).map(lag => [{ mailbox: lag.mailbox }, lag[what]]),
    })
    return [
      {
        name: 'orrery_controller_queue',
        help: 'Pieces of work that wait or run, by controller. A wait for a timer, such as a retry, does not count.',
        type: 'gauge',
        labels: { controller: [] },
        samples: () => Object.entries(this.#depths?.() ?? {}).map(([controller, depth]) => [{ controller }, depth]),
      },
      {
        name: 'orrery_summary_readings',
        help: 'Parts of clusters and carried objects in CombinedStatuses that are kept.',
        type: 'gauge',
        labels: {},
        samples: () => ofSummaries(this.#figures, 'readings'),
      },
      {
        name: 'orrery_summary_evaluations_total',
        help: 'Evaluations of StatusCollectors for one cluster or object.',
        type: 'counter',
        labels: {},
        samples: () => ofSummaries(this.#figures, 'evaluations'),
      },
      {
        name: 'orrery_rollouts',
        help: 'EdgePlacements with staged revisions, by the state of their newest rollout.',
        type: 'gauge',
        labels: { state: ROLLOUT_STATES },
        samples: () => Object.entries(this.#figures?.rollouts() ?? {}).map(([state, count]) => [{ state }, count]),
      },
      {
        name: 'orrery_notices_total',
        help: 'Notices to NoticeSinks: delivered, attempts that failed, and notices that were given up.',
        type: 'counter',
        labels: { outcome: ['delivered', 'failed', 'dropped'] },
        samples: () => Object.entries(this.#notices ?? {}).map(([outcome, count]) => [{ outcome }, count]),
      },
      ofClusters('orrery_cluster_lag_objects', 'Changes that the syncer has not looked at.', 'objects'),
      ofClusters('orrery_cluster_lag_seconds', 'Since when the cluster is behind.', 'seconds'),
      {
        name: 'orrery_placement_stage_duration_seconds',
        help: `Time that copies take for a stage. ${Object.entries(STAGE_TEXTS)
          .map(([stage, what]) => `Stage ${stage}: ${what}.`)
          .join(' ')}`,
        type: 'histogram',
        labels: { stage: STAGES },
        samples: () => {
          const stages = this.#figures?.stageTimes
          return stages === undefined ? [] : STAGES.map(stage => [{ stage }, stages[stage]])
        },
      },
    ]
  }
}

function ofSummaries(figures: CarryFigures | undefined, what: keyof SummaryFigures): Samples {
  return figures ? [[{}, figures.summaries()[what]]] : []
}
