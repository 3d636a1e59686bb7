/**
 * Downsync latency, all processes real. It runs from the write of a ConfigMap into a workload space to its arrival in a stand-in cluster,
 * through translator, mailbox and syncer. There is nothing like it in the peer, so it stands without a ratio.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Observer } from '../demo/observer.ts'
import { BIN, Processes, runCommand } from '../demo/processes.ts'
import { httpClient } from '../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../src/client/kubeconfig.ts'

const OBJECTS = 50
const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
const PLACEMENTS = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'edgeplacements' }
const INVENTORY = 'root:imw1'
const WORKLOAD = 'root:wmw1'

/** Median of some objects, one after the other, in milliseconds; a text says why it was not measured. */
export async function measureDownsync(): Promise<number | string> {
  const dir = await mkdtemp(join(tmpdir(), 'orrery-bench-'))
  const processes = new Processes(dir)
  const closers: (() => Promise<void> | void)[] = []
  try {
    const [server, cluster] = [join(dir, 'server'), join(dir, 'cluster')]
    await Promise.all([
      processes.start('server', ['start', '--data-dir', server, '--secure-port', '0']),
      processes.start('cluster', ['simulate-wec', '--name', 'bench', '--data-dir', cluster, '--secure-port', '0']),
    ])
    const kubeconfig = join(server, 'admin.kubeconfig')
    const syncerKubeconfig = join(dir, 'syncer.kubeconfig')
    const outputs = ['-o', join(dir, 'syncer.yaml'), '--kubeconfig-output', syncerKubeconfig]
    const prepared = await runCommand(
      join(BIN, 'kubectl-kubestellar'),
      ['prep-for-cluster', '--imw', INVENTORY, 'bench', 'env=bench', ...outputs],
      { KUBECONFIG: kubeconfig },
    )
    if (prepared.code !== 0) return `prep-for-cluster failed: ${prepared.output.trim()}`
    const clusterKubeconfig = join(cluster, 'admin.kubeconfig')
    processes.launch('syncer', ['syncer', '--from-kubeconfig', syncerKubeconfig, '--to-kubeconfig', clusterKubeconfig])
    const connect = async (path: string) => {
      const { options, base } = await loadKubeconfig(path)
      const client = httpClient({ ...options, server: base })
      closers.push(() => client.close())
      return client
    }
    const arrivals = new Observer(await connect(clusterKubeconfig), '')
    closers.push(() => arrivals.stop())
    await arrivals.synced
    const workload = (await connect(kubeconfig)).in(WORKLOAD)
    await workload.create(PLACEMENTS, {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'EdgePlacement',
      metadata: { name: 'bench' },
      spec: {
        locationSelectors: [{ matchLabels: { env: 'bench' } }],
        downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['default'] }],
      },
    })
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
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    for (const close of closers.reverse()) await close()
    await processes.stop()
    await rm(dir, { recursive: true, force: true })
  }
}
