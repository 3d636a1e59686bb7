/** Failures that lie in the kubeconfig, in words for whoever uses it: a credential that does not count, an authority of another server. */
import { X509Certificate } from 'node:crypto'
import { isStatusError } from '../../../apimachinery/errors.ts'
import type { HttpClientOptions } from '../../../client/http/options.ts'

/** Error codes for a server's certificate from an unknown authority. */
const OTHER_AUTHORITY: ReadonlySet<unknown> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
])

interface KubeconfigAccess {
  /** Context of the kubeconfig. */
  readonly context: string
  readonly base: string
  readonly options: HttpClientOptions
}

/** The error itself where the kubeconfig has no part in it. */
export function kubeconfigFault(error: unknown, { context, base, options }: KubeconfigAccess, now: Date): unknown {
  const of = `of context ${JSON.stringify(context)}`
  if (isStatusError(error, 'Unauthorized')) {
    const end = options.certPem === undefined ? undefined : new X509Certificate(options.certPem).validToDate
    const why =
      end !== undefined && end < now
        ? `the client certificate ${of} ended at ${end.toISOString()}`
        : `the credential ${of} does not count there (any more)`
    return new Error(`${base}: Unauthorized: ${why}; get its kubeconfig anew`, { cause: error })
  }
  if (!(error instanceof Error && error.cause instanceof Error && 'code' in error.cause)) return error
  if (!OTHER_AUTHORITY.has(error.cause.code)) return error
  const why = `what answers there is not certified by the authority ${of}; get its kubeconfig anew, if that is the right server`
  return new Error(`${error.message}: ${why}`, { cause: error })
}
