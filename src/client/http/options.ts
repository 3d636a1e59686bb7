/** Proof of identity for either end of a connection. */
export interface TlsMaterial {
  /** Trusted instead of the system's authorities. */
  readonly caPem?: string | undefined
  /** Client certificate and its key. */
  readonly certPem?: string | undefined
  readonly keyPem?: string | undefined
}

/** Default for a request. The server's own waits have to end before it. */
export const DEFAULT_TIMEOUT_MS = 30_000

/** How to reach a server, as far as HTTP goes. */
export interface HttpClientOptions {
  /** `scheme://host:port`, with the path prefix that all requests share, if any. */
  server: string
  /** Trusted instead of the system's authorities. */
  caPem?: string
  /** Client certificate and its key. */
  certPem?: string
  keyPem?: string
  /** Instead of these three: called before every request, and its answer counts for new connections. Another object is news. */
  tls?: () => TlsMaterial
  /**
   * URL of an HTTP proxy that tunnels (CONNECT), for this server and before the environment. Default: HTTPS_PROXY, HTTP_PROXY, NO_PROXY.
   */
  proxyUrl?: string
  /** Bearer token; a function is called before every request and does its own caching. */
  token?: string | (() => Promise<string | undefined>)
  /** Called with each token that the server refuses. */
  onRefused?: (token: string | undefined) => void
  /** Called for each warning of an answer. */
  onWarning?: (text: string) => void
  /** Skips the verification of the server's certificate. */
  insecure?: boolean
  /** Name expected in the server's certificate instead of the host of `server`. */
  tlsServerName?: string
  userAgent?: string
  /** Longest silence within one request. Default {@link DEFAULT_TIMEOUT_MS}. */
  timeoutMs?: number
  /** Longest silence of a watch or stream before it counts as dead. Default 150 s: bookmarks come each minute. */
  watchIdleMs?: number
  /** Bound on an answer that is no watch; a longer one is an error. Default 256 MiB. */
  answerLimitBytes?: number
  /** Requests under way at a time, beside watches; fewer while the server is busy. Default: as many as there are connections, 64. */
  inFlight?: number
  /** Whether requests and watches share connections of HTTP/2 where the server offers it. Default: each has one of HTTP/1.1. */
  http2?: boolean
  /** Sent with every request (impersonation and such). */
  headers?: Readonly<Record<string, string>>
  /** Aborts every request and closes the connections. */
  signal?: AbortSignal
}
