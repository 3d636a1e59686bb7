/**
 * Downsync latency, all processes real. It runs from the write of a ConfigMap into a workload space to its arrival in a stand-in cluster,
 * through translator, mailbox and syncer. There is nothing like it in the peer, so it stands without a ratio.
 */
import { Observer } from '../demo/observer.ts'
import { EDGE_PLACEMENTS } from '../src/placement/words/placement.ts'
import { CONFIG_MAPS, edgeObject, WORKLOAD } from './ground.ts'
import { type Site, withSite } from './site.ts'

const OBJECTS = 50

/** Median of some objects, one after the other, in milliseconds; a text says why it was not measured. */
export async function measureDownsync(): Promise<number | string> {
  try {
    return await withSite(measure)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

async function measure({ processes, center, cluster, mailbox, closers, connect }: Site): Promise<number> {
  processes.launch('syncer', ['syncer', '--from-kubeconfig', mailbox, '--to-kubeconfig', cluster])
  const arrivals = new Observer(await connect(cluster), '')
  closers.push(() => arrivals.stop())
  await arrivals.synced
  const workload = (await connect(center)).in(WORKLOAD)
  const spec = {
    locationSelectors: [{ matchLabels: { env: 'bench' } }],
    downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['default'] }],
  }
  await workload.create(EDGE_PLACEMENTS, edgeObject('EdgePlacement', 'bench', { spec }))
  const latencies: number[] = []
  for (let i = 0; i <= OBJECTS; i++) {
    const begun = performance.now()
    await workload.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'default', name: `bench-${i}` },
      data: { key: 'value' },
    })
    const key = `configmaps default/bench-${i}`
    await arrivals.until('the cluster', () => (arrivals.get(key) ? undefined : `${key} did not arrive`), 60_000)
    latencies.push(performance.now() - begun)
  }
  // The first one also waits for the syncer to start.
  return latencies.slice(1).sort((a, b) => a - b)[Math.floor(OBJECTS / 2)]!
}
