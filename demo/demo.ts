/**
 * The main job, on real processes: a server, two stand-in clusters, their syncers, and a user. The user describes two workloads once and
 * finds them in the right clusters, customized, with their true status back. An outage, a refusal in a cluster and a rollout follow.
 *
 * `npm run demo` checks every expected outcome and ends with `demo: OK`; `npm run demo -- --keep` leaves all of it running.
 * Where `KUBEBUILDER_ASSETS` names a folder with kube-apiserver and etcd, the server is behind one in a last chapter, which is left out with `--keep`.
 */
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClosableClient, httpClient } from '../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../src/client/kubeconfig.ts'
import { HostCluster } from './host.ts'
import { Observer } from './observer.ts'
import { painter } from './paint.ts'
import { Processes } from './processes.ts'
import { runScenario } from './scenario.ts'
import { Shell } from './shell.ts'
import type { Stage } from './stage.ts'

export const CLUSTERS = ['florin', 'guilder'] as const
const paint = painter(process.stdout)
const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

async function main(keep: boolean): Promise<number> {
  const dir = await mkdtemp(join(tmpdir(), 'orrery-demo-'))
  const processes = new Processes(dir)
  const closers: (() => Promise<void> | void)[] = []
  let code = 1
  try {
    const server = join(dir, 'orrery')
    const assets = process.env.KUBEBUILDER_ASSETS
    const host = assets && !keep ? await HostCluster.start(assets, join(dir, 'host')) : undefined
    if (host) closers.push(() => host.stop())
    print(paint('title', '# A server, and two clusters that stand in for real ones (simulations: no containers run)'))
    const lines = await Promise.all([
      processes.start('server', ['start', '--data-dir', server, '--secure-port', '0', ...(host?.flags ?? [])]),
      ...CLUSTERS.map(name =>
        processes.start(name, ['simulate-wec', '--name', name, '--data-dir', join(dir, name), '--secure-port', '0']),
      ),
    ])
    for (const line of lines) print(line)
    // kubectl ws changes the kubeconfig: the demo works on a copy, as a careful user would.
    const kubeconfig = join(dir, 'user.kubeconfig')
    await copyFile(join(server, 'admin.kubeconfig'), kubeconfig)
    const observe = async (path: string, space: string): Promise<Observer> => {
      const { options, base } = await loadKubeconfig(path)
      const client: ClosableClient = httpClient({ ...options, server: base })
      const observer = new Observer(client, space)
      closers.push(async () => {
        await observer.stop()
        client.close()
      })
      await observer.synced
      return observer
    }
    const clusters = new Map<string, Observer>()
    for (const name of CLUSTERS) clusters.set(name, await observe(join(dir, name, 'admin.kubeconfig'), ''))
    const stage: Stage = {
      shell: new Shell(print, paint),
      print,
      title: text => print(`\n${paint('title', `# ${text}`)}`),
      dir,
      kubeconfig,
      clusterKubeconfig: name => join(dir, name, 'admin.kubeconfig'),
      clusters,
      observeSpace: space => observe(kubeconfig, space),
      async startSyncer(name, fromKubeconfig) {
        const state = join(dir, `${name}-syncer`)
        await mkdir(state, { recursive: true })
        const args = [
          'syncer',
          '--from-kubeconfig',
          fromKubeconfig,
          '--to-kubeconfig',
          join(dir, name, 'admin.kubeconfig'),
        ]
        processes.launch(`${name}-syncer`, [...args, '--sync-target-name', name, '--state-dir', state])
      },
      stopSyncer: name => processes.end(`${name}-syncer`),
    }
    const timings = await runScenario(stage)
    await host?.play(stage, server)
    print(
      `\nslowest object: ${timings.down.ms.toFixed(0)} ms from kubectl apply to the cluster (${timings.down.what}),`,
    )
    print(`                ${timings.up.ms.toFixed(0)} ms from the cluster's status to the space (${timings.up.what})`)
    print(paint('good', 'demo: OK'))
    code = 0
  } catch (error) {
    print(paint('bad', `\ndemo: FAILED: ${error instanceof Error ? error.message : String(error)}`))
    print(`logs of all processes: ${dir}/*.log`)
  }
  for (const close of closers) await close()
  if (keep) {
    print('\nEverything runs on. Kubeconfigs to play with:')
    print(`  export KUBECONFIG=${join(dir, 'user.kubeconfig')}   # the server; contexts root, base, system:admin`)
    for (const name of CLUSTERS) print(`  export KUBECONFIG=${join(dir, name, 'admin.kubeconfig')}   # cluster ${name}`)
    print(`To end it: kill ${processes.pids.map(pid => pid.split('=')[1]).join(' ')}; rm -r ${dir}`)
    processes.abandon()
  } else {
    await processes.stop()
    if (code === 0) await rm(dir, { recursive: true, force: true })
  }
  return code
}

process.exitCode = await main(process.argv.includes('--keep'))
