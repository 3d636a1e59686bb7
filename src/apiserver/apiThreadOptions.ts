/** What an API thread is told of the server's options: what can cross, and its share of what is bounded. */
import type { ApiServerOptions } from './apiServerOptions.ts'
import { DEFAULT_IN_FLIGHT } from './server/inFlight.ts'
import { strangerLimits } from './server/strangerLimits.ts'

export type ThreadOptions = Omit<ApiServerOptions, 'log'>

/** How many threads serve connections. */
export const servingThreads = ({ apiThreads = 0 }: Pick<ApiServerOptions, 'apiThreads'>): number => apiThreads + 1

/**
 * Of the main thread where there are API threads: connections, and seats of who reads, are divided among all of them. How many watches
 * there may be they tell each other: see watchTally.ts.
 */
export function sharedOptions(options: ApiServerOptions): ApiServerOptions {
  const { apiThreads = 0, inFlight = DEFAULT_IN_FLIGHT } = options
  if (apiThreads === 0) return options
  const part = (all: number): number => Math.ceil(all / servingThreads(options))
  const { connections, total, perAddress, ...patience } = strangerLimits(options.strangers)
  return {
    ...options,
    inFlight: { ...inFlight, reading: part(inFlight.reading) },
    strangers: {
      ...patience,
      connections: part(connections),
      total: part(total),
      perAddress: part(perAddress),
    },
  }
}

/** @param options with what is its share */
export function threadOptions(options: ApiServerOptions): ThreadOptions {
  const { dataDir, bindAddress, securePort, externalHostnames, spaces, tokenFile, oidc, strangers, inFlight } = options
  const { serviceClusterIpRange, serviceNodePortRange, anonymousAuth, fairness, disabledAdmissionPlugins } = options
  const { apiThreads, apiThreadPulseMs, bookmarkIntervalMs, webhookAllowedHosts, clientCertificateNetworks } = options
  return {
    dataDir,
    bindAddress,
    securePort,
    externalHostnames,
    spaces,
    serviceClusterIpRange,
    serviceNodePortRange,
    fairness,
    ...(tokenFile !== undefined && { tokenFile }),
    ...(oidc && { oidc }),
    ...(strangers && { strangers }),
    ...(inFlight && { inFlight }),
    ...(apiThreads !== undefined && { apiThreads }),
    ...(apiThreadPulseMs !== undefined && { apiThreadPulseMs }),
    ...(webhookAllowedHosts !== undefined && { webhookAllowedHosts }),
    ...(clientCertificateNetworks !== undefined && { clientCertificateNetworks }),
    ...(bookmarkIntervalMs !== undefined && { bookmarkIntervalMs }),
    ...(anonymousAuth !== undefined && { anonymousAuth }),
    ...(disabledAdmissionPlugins && { disabledAdmissionPlugins }),
  }
}
