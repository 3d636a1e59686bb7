/** The cluster that a server runs in, as far as the server puts something there. */
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { httpSpaceClient } from '../../../client/http/httpClient.ts'
import type { HttpClientOptions } from '../../../client/http/options.ts'
import { loadKubeconfig } from '../../../client/kubeconfig.ts'
import type { Logger } from '../../../client/logger.ts'
import { inCluster, inClusterNamespace } from '../process/inCluster.ts'
import { KubeconfigSecret, type KubeconfigSecretOptions, secretName } from './kubeconfigSecret.ts'

type Facts = Pick<KubeconfigSecretOptions, 'external' | 'internal' | 'kubeconfigFor' | 'caPem'>

interface KubeconfigWriter {
  write(): void
  stop(): Promise<void>
}

/**
 * Before the server starts, because it must not when this is wrong; the writer is made when it runs.
 * @throws Error naming the flag, when there is no cluster to write to
 */
export async function kubeconfigWriter(
  { secret, kubeconfig }: { secret: string; kubeconfig: string | undefined },
  log: Logger,
): Promise<(facts: Facts) => KubeconfigWriter> {
  const { namespace, name } = secretName(secret)
  const host = await hostOf('--kubeconfig-secret: ', kubeconfig)
  return facts => {
    const client = httpSpaceClient({ ...host.options, userAgent: 'orrery' })
    const written = new KubeconfigSecret({ ...facts, client, namespace: namespace ?? host.namespace, name, log })
    return {
      write: () => written.write(),
      async stop() {
        const stopped = written.stop()
        client.close()
        await stopped
      },
    }
  }
}

/** @param before goes before what is wrong: the flag that needs the cluster @throws Error naming the flag */
export async function hostOf(
  before: string,
  path: string | undefined,
): Promise<{ options: HttpClientOptions; namespace: string }> {
  try {
    if (path !== undefined) {
      const { options, namespace = 'default' } = await loadKubeconfig(path)
      return { options, namespace }
    }
    const options = await inCluster()
    if (options !== undefined) return { options, namespace: inClusterNamespace() }
  } catch (error) {
    const what = path === undefined ? 'the ServiceAccount of this Pod' : `--host-kubeconfig ${path}`
    throw new Error(`${before}${what} cannot be used: ${messageOf(error)}`, { cause: error })
  }
  throw new Error(`${before}this is no Pod; give --host-kubeconfig, or leave both out`)
}
