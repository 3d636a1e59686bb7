/**
 * How controllers and what is placed get on, as metrics. Of clusters only those are told that are most behind, by names that the center makes:
 * nobody can invent series, and those of a cluster end with it.
 */
import { Gauge, type Registry } from 'prom-client'
import { type CarryFigures, type FigureDesk, STAGES } from '../../apimachinery/carryFigures.ts'
import { histogramText } from '../flowcontrol/flowMetrics.ts'

/** Clusters that are told of. */
export const CLUSTERS_SHOWN = 20

export class CarryBoard implements FigureDesk {
  figures: CarryFigures | undefined
  readonly writtenAtMs: FigureDesk['writtenAtMs']
  #depths: (() => Readonly<Record<string, number>>) | undefined

  constructor(writtenAtMs: FigureDesk['writtenAtMs'] = () => undefined) {
    this.writtenAtMs = writtenAtMs
  }

  show(figures: CarryFigures | undefined): void {
    this.figures = figures
  }

  showQueues(depths: (() => Readonly<Record<string, number>>) | undefined): void {
    this.#depths = depths
  }

  /** Gauges. To be called once. */
  tell(registry: Registry): void {
    const registers = [registry]
    const current = () => this.figures
    const depths = () => this.#depths?.() ?? {}
    new Gauge({
      name: 'orrery_controller_queue',
      help: 'Pieces of work that wait or run, by controller.',
      labelNames: ['controller'],
      registers,
      collect() {
        this.reset()
        for (const [controller, depth] of Object.entries(depths())) this.set({ controller }, depth)
      },
    })
    const ofClusters = (name: string, help: string, what: 'objects' | 'seconds') =>
      new Gauge({
        name,
        help: `${help} Of the ${CLUSTERS_SHOWN} clusters that are most behind, by mailbox.`,
        labelNames: ['mailbox'],
        registers,
        collect() {
          this.reset()
          for (const { mailbox, ...lag } of current()?.lagging(CLUSTERS_SHOWN) ?? []) this.set({ mailbox }, lag[what])
        },
      })
    ofClusters('orrery_cluster_lag_objects', 'Changes that the syncer has not looked at.', 'objects')
    ofClusters('orrery_cluster_lag_seconds', 'Since when the cluster is behind.', 'seconds')
  }

  /** Histograms, in the text exposition format. */
  text(): string {
    const { figures } = this
    if (!figures) return ''
    const parts = STAGES.map(stage => [{ stage }, figures.stages[stage]] as const)
    return histogramText('orrery_placement_stage_duration_seconds', 'Time that copies take for a stage.', parts)
  }
}
