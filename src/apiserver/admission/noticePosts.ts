/** Sends notices over the client of webhooks. Their senders get no more of a failure than its kind: the address may be a secret. */
import { retryAfterMs } from '../../client/http/answer.ts'
import type { PostFailure, PostNotice } from '../../placement/desks/noticePost.ts'
import { Abandoned } from '../../program/workTurns.ts'
import { HostRefused } from './allowedHosts.ts'
import { WebhookCallError, type WebhookClient } from './webhookClient.ts'
import { BundleTooLarge, TLS_REFUSALS } from './webhookTrust.ts'

/** For one attempt. */
export const NOTICE_TIMEOUT_SECONDS = 10
/** An answer is read that far, so that its connection may serve again. */
const ANSWER = { bytes: 64 * 1024, values: 0 }

export function noticePosts(webhooks: Pick<WebhookClient, 'tell'>): PostNotice {
  return async ({ space, url, caPem, headers, body }, signal) => {
    const target = { client: { url }, space, timeoutSeconds: NOTICE_TIMEOUT_SECONDS, limits: ANSWER }
    try {
      const head = await webhooks.tell(
        { ...target, ...(caPem !== undefined && { caPem }) },
        { headers, text: body },
        signal,
      )
      const afterMs = retryAfterMs(head.headers['retry-after'])
      return { code: head.code, ...(afterMs !== undefined && { afterMs }) }
    } catch (error) {
      if (error instanceof WebhookCallError) return { failure: failureOf(error.cause) }
      throw error
    }
  }
}

function failureOf(cause: unknown): PostFailure {
  if (cause instanceof HostRefused) return 'AddressNotAllowed'
  if (cause instanceof BundleTooLarge) return 'CertificateNotTrusted'
  const { code = '', name = '' } = (cause ?? {}) as { code?: string; name?: string }
  if (code in TLS_REFUSALS || code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'CertificateNotTrusted'
  return cause instanceof Abandoned || name === 'AbortError' || name === 'TimeoutError' ? 'TimedOut' : 'Unreachable'
}
