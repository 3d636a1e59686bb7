/**
 * Parts of an X.509 certificate that Node does not show.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-4.1
 */
import { DerReader, TAGS } from './der.ts'

interface CertificateParts {
  /** DER, as it is written there: a reader looks for the issuer by these bytes. */
  subject: Buffer
  /** Their types, in dotted form. */
  extensions: string[]
}

/** @throws DerError */
export function certificateParts(bytes: Buffer): CertificateParts {
  const parts = new DerReader(bytes).sequence().sequence()
  const isVersion = (element: { class: number; tag: number }): boolean => element.class === 2 && element.tag === 0
  // version, where there is one, and serial number
  if (isVersion(parts.any())) parts.any()
  // algorithm, issuer, validity
  for (let i = 0; i < 3; i++) parts.sequence()
  const { whole: subject } = parts.next({ tag: TAGS.sequence, compound: true })
  // the key
  parts.sequence()
  const extensions: string[] = []
  while (!parts.done) {
    const element = parts.any()
    if (element.class !== 2 || element.tag !== 3) continue
    const list = new DerReader(element.content).sequence()
    while (!list.done) extensions.push(list.sequence().objectIdentifier())
  }
  return { subject, extensions }
}
