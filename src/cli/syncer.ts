/** `orrery syncer`: carries between a mailbox space and the cluster beside which it runs. */
import { mkdir, readFile } from 'node:fs/promises'
import { httpClient, httpSpaceClient } from '../client/http/httpClient.ts'
import type { HttpClientOptions } from '../client/http/options.ts'
import { loadKubeconfig } from '../client/kubeconfig.ts'
import { startSyncer } from '../syncer/syncer.ts'
import { createLog } from './log.ts'
import { terminated } from './signals.ts'

const IN_CLUSTER = '/var/run/secrets/kubernetes.io/serviceaccount'

export async function runSyncerCommand(settings: Record<string, unknown>): Promise<number> {
  const name = (settings.syncTargetName as string | undefined) ?? ''
  const log = createLog('orrery-syncer').child({ ...(name && { syncTarget: name }) })
  const from = await loadKubeconfig(settings.fromKubeconfig as string, settings.fromContext as string | undefined)
  const userAgent = 'orrery-syncer'
  const center = httpClient({ ...from.options, server: from.base, userAgent })
  const cluster = httpSpaceClient({ ...(await clusterOptions(settings)), userAgent })
  const stateDir = settings.stateDir as string | undefined
  if (stateDir !== undefined) await mkdir(stateDir, { recursive: true, mode: 0o700 })
  const syncer = startSyncer({
    center,
    space: from.space ?? '',
    cluster,
    logger: log,
    ...(stateDir !== undefined && { stateDir }),
  })
  log.info({ from: from.options.server }, 'syncer started')
  const ended = terminated()
  await Promise.race([syncer.synced, ended])
  log.info({}, 'mailbox read, syncing')
  await ended
  await syncer.stop()
  center.close()
  cluster.close()
  return 0
}

async function clusterOptions(settings: Record<string, unknown>): Promise<HttpClientOptions> {
  const path = settings.toKubeconfig as string | undefined
  if (path !== undefined) return (await loadKubeconfig(path, settings.toContext as string | undefined)).options
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
  if (!host || !port) throw new Error('--to-kubeconfig is required outside a cluster')
  // The kubelet renews the token in the file: read it each time.
  const token = async (): Promise<string> => (await readFile(`${IN_CLUSTER}/token`, 'utf8')).trim()
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    caPem: await readFile(`${IN_CLUSTER}/ca.crt`, 'utf8'),
    token,
  }
}
