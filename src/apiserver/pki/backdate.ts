/** Certificates are valid from a little before they are made, for peers whose clocks are behind. */
import { X509Certificate } from 'node:crypto'

export const BACKDATE_MS = 5 * 60_000

/** The moment at which the server made a certificate of its own. */
export function madeAt(certPem: string): Date {
  return new Date(Date.parse(new X509Certificate(certPem).validFrom) + BACKDATE_MS)
}
