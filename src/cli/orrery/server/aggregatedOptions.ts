/** `--aggregated`: the server behind the kube-apiserver of a host cluster, as the flags say. */
import { REVIEW_LIMIT_MS } from '../../../apiserver/aggregated/hostReview.ts'
import type { AggregatedOptions } from '../../../apiserver/apiServerOptions.ts'
import { httpSpaceClient } from '../../../client/http/httpClient.ts'
import { hostOf } from './hostCluster.ts'

interface Aggregated {
  readonly options: AggregatedOptions
  /** The name that the host expects in the server's certificate. */
  readonly hostname: string
  close(): void
}

const SPACE_PATH = /^root(:[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/
const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/

/** @throws Error naming the flag */
export async function aggregatedOf(settings: Record<string, unknown>): Promise<Aggregated> {
  const space = String(settings.aggregatedSpace)
  if (!SPACE_PATH.test(space))
    throw new Error(`--aggregated-space: ${JSON.stringify(space)} is no path of a space, such as root:wmw1`)
  const userPrefix = String(settings.aggregatedUserPrefix)
  if (userPrefix.startsWith('system:') || 'system:'.startsWith(userPrefix))
    throw new Error(
      `--aggregated-user-prefix: ${JSON.stringify(userPrefix)} would make users of the host users of this server; give a text such as host:`,
    )
  const hostname = serviceHostname(aggregatedService(String(settings.aggregatedService)))
  const kubeconfig = settings.hostKubeconfig as string | undefined
  const { options } = await hostOf('--aggregated: ', kubeconfig)
  const host = httpSpaceClient({ ...options, userAgent: 'orrery', timeoutMs: REVIEW_LIMIT_MS })
  return {
    options: {
      host,
      port: settings.aggregatedPort as number,
      space,
      userPrefix,
      namespaced: settings.aggregateNamespaced === true,
    },
    hostname,
    close: () => host.close(),
  }
}

/** The host's kube-apiserver verifies this name. */
function serviceHostname({ namespace, name }: { namespace: string; name: string }): string {
  return `${name}.${namespace}.svc`
}

/** @throws Error naming the flag */
export function aggregatedService(text: string): { namespace: string; name: string } {
  const [namespace = '', name = '', ...others] = text.split('/')
  if (!LABEL.test(namespace) || !LABEL.test(name) || others.length > 0)
    throw new Error(
      `--aggregated-service: ${JSON.stringify(text)} is no namespace and name of a Service, such as orrery/orrery`,
    )
  return { namespace, name }
}
