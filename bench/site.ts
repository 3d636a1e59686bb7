/** One center, one stand-in cluster and what a syncer between them needs, all processes real. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BIN, Processes, runCommand } from '../demo/processes.ts'
import { type ClosableClient, httpClient } from '../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../src/client/kubeconfig.ts'
import { INVENTORY } from './ground.ts'

export interface Site {
  readonly dir: string
  readonly processes: Processes
  /** Kubeconfigs of the center, of the cluster, and of the syncer at the center. */
  readonly center: string
  readonly cluster: string
  readonly mailbox: string
  /** Called in reverse when the measure has ended. */
  readonly closers: (() => Promise<void> | void)[]
  connect(kubeconfig: string): Promise<ClosableClient>
}

/** `cluster`: kubeconfig of a cluster that is used in place of the stand-in. */
export async function withSite<T>(measure: (site: Site) => Promise<T>, cluster?: string): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'orrery-syncer-bench-'))
  const processes = new Processes(dir)
  const closers: Site['closers'] = []
  try {
    const [serverDir, clusterDir] = [join(dir, 'server'), join(dir, 'cluster')]
    const standIn = ['simulate-wec', '--name', 'bench', '--data-dir', clusterDir, '--secure-port', '0']
    await Promise.all([
      processes.start('server', ['start', '--data-dir', serverDir, '--secure-port', '0']),
      cluster === undefined && processes.start('cluster', standIn),
    ])
    const center = join(serverDir, 'admin.kubeconfig')
    const mailbox = join(dir, 'mailbox.kubeconfig')
    const outputs = ['-o', join(dir, 'syncer.yaml'), '--kubeconfig-output', mailbox]
    const prepared = await runCommand(
      join(BIN, 'kubectl-kubestellar'),
      ['prep-for-cluster', '--imw', INVENTORY, 'bench', 'env=bench', ...outputs],
      { KUBECONFIG: center },
    )
    if (prepared.code !== 0) throw new Error(`prep-for-cluster failed: ${prepared.output.trim()}`)
    const connect = async (path: string): Promise<ClosableClient> => {
      const { options, base } = await loadKubeconfig(path)
      const client = httpClient({ ...options, server: base })
      closers.push(() => client.close())
      return client
    }
    const to = cluster ?? join(clusterDir, 'admin.kubeconfig')
    return await measure({ dir, processes, center, cluster: to, mailbox, closers, connect })
  } finally {
    for (const close of closers.reverse()) await close()
    await processes.stop()
    await rm(dir, { recursive: true, force: true })
  }
}
