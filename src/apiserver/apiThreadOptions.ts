/** Options of an API thread: those of the server that can cross, and its share of the bounds. */
import type { ApiServerOptions } from './apiServerOptions.ts'
import type { StrangerLimits } from './connections/strangerLimits.ts'
import { DEFAULT_IN_FLIGHT } from './flowcontrol/inFlight.ts'

type ThreadOptions = Omit<ApiServerOptions, 'log'> & { readonly strangers: StrangerLimits }

/** Those that are the same in each thread. */
const SHARED = [
  'dataDir',
  'bindAddress',
  'securePort',
  'externalHostnames',
  'spaces',
  'serviceClusterIpRange',
  'serviceNodePortRange',
  'fairness',
  'tokenFile',
  'oidc',
  'apiThreads',
  'apiThreadPulseMs',
  'webhookAllowedHosts',
  'clientCertificateNetworks',
  'bookmarkIntervalMs',
  'anonymousAuth',
  'disabledAdmissionPlugins',
  'elsewhere',
] as const

/** How many threads serve connections, at most. */
export const servingThreads = ({ apiThreads = 0 }: Pick<ApiServerOptions, 'apiThreads'>): number => apiThreads + 1

/**
 * A part of connections and of seats, as if all threads that there may be were there. The main thread has all
 * seats, and those connections that no thread has. How many watches there may be they tell each other: see watchTally.ts.
 * @param whole of the server
 */
export function threadOptions(options: ApiServerOptions, whole: StrangerLimits): ThreadOptions {
  const part = (all: number): number => Math.ceil(all / servingThreads(options))
  const { inFlight = DEFAULT_IN_FLIGHT } = options
  const shared = SHARED.flatMap(name => (options[name] === undefined ? [] : [[name, options[name]]]))
  return {
    ...(Object.fromEntries(shared) as Pick<ApiServerOptions, (typeof SHARED)[number]>),
    strangers: {
      ...whole,
      connections: part(whole.connections),
      total: part(whole.total),
      perAddress: part(whole.perAddress),
    },
    inFlight: { ...inFlight, reading: part(inFlight.reading), mutating: part(inFlight.mutating) },
  }
}
