/** The server's way out for notices, under the rules of webhooks: HTTPS, allowed addresses, no redirects, bounds on calls and answers. */

export interface NoticePost {
  /** Logical-cluster id of the space in whose name it is sent. */
  readonly space: string
  /** An https URL. */
  readonly url: string
  /** Certificates that the receiver's has to be signed by, PEM. Absent: those of the system. */
  readonly caPem?: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Why there is no answer. */
export type PostFailure = 'AddressNotAllowed' | 'CertificateNotTrusted' | 'TimedOut' | 'Unreachable'

/** `afterMs`: the receiver takes nothing before, as `Retry-After` says. */
export type Posted = { readonly code: number; readonly afterMs?: number } | { readonly failure: PostFailure }

/** Ends with the signal, too: then with an error. */
export type PostNotice = (post: NoticePost, signal: AbortSignal) => Promise<Posted>
