/** `orrery syncer adopt`: hands a cluster over to a mailbox. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { httpSpaceClient } from '../../../client/http/httpClient.ts'
import { silentLogger } from '../../../client/logger.ts'
import { CLUSTER_RECORD } from '../../../placement/words/placement.ts'
import { adopt, adoptionText, CONFIG_MAPS } from '../../../syncer/whose/clusterRecord.ts'
import { mailboxOf, requireOtherServer } from '../../../syncer/whose/places.ts'
import { type Host, printFound } from '../host.ts'
import { clusterOptions, kubeconfigOf, renewedToken, tokenOf, USER_AGENT } from './connections.ts'

/** `orrery syncer adopt`: from now on the cluster is served from the mailbox of this kubeconfig. */
export async function adoptCluster(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { fromKubeconfig, fromContext } = settings as { fromKubeconfig: string; fromContext?: string }
  const from = await kubeconfigOf('--from-kubeconfig', fromKubeconfig, fromContext)
  const renewed = renewedToken(from, () => tokenOf(from), silentLogger, { looks: true })
  const center = httpSpaceClient({ ...from.options, token: () => renewed.token() })
  const cluster = httpSpaceClient({ ...(await clusterOptions(settings)), userAgent: USER_AGENT })
  try {
    const mailbox = await accepted('the center', fromKubeconfig, mailboxOf(center))
    const toKubeconfig = (settings.toKubeconfig as string | undefined) ?? 'the pod it runs in'
    await accepted('the cluster', toKubeconfig, requireOtherServer(center, cluster))
    const line = adoptionText(await adopt(cluster, mailbox), mailbox)
    if (settings.output !== undefined) host.err(line)
    await printFound(settings, [line], await cluster.get(CONFIG_MAPS, CLUSTER_RECORD), host)
    return 0
  } finally {
    center.close()
    cluster.close()
  }
}

/** @throws Error in words for whoever gave a credential that is refused */
async function accepted<T>(side: string, from: string, asking: Promise<T>): Promise<T> {
  try {
    return await asking
  } catch (error) {
    if (!isStatusError(error, 'Unauthorized')) throw error
    throw new Error(
      `${side} refuses the credential of ${from}: it is wrong, expired or revoked; nothing was touched. ` +
        'Make a new one (for the center: "kubectl kubestellar prep-for-syncer")',
      { cause: error },
    )
  }
}
