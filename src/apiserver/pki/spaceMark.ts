/**
 * The mark of a client certificate that was issued on request of a space: a URI among its alternative names. A reader of a certificate
 * learns from it where the identity counts; only the authority can put it there or leave it out.
 */

const PREFIX = 'urn:orrery:'
const SPACE_PREFIX = `${PREFIX}space:`

/** `space` is a logical-cluster id. */
export function spaceMark(space: string): string {
  return `${SPACE_PREFIX}${space}`
}

/**
 * The space of `X509Certificate.subjectAltName`; `undefined` without a mark. An unreadable mark gives `unreadable`, and must count nowhere
 * rather than everywhere.
 */
export function markedSpace(subjectAltName: string | undefined): { space: string } | 'unreadable' | undefined {
  if (subjectAltName === undefined || !subjectAltName.includes(PREFIX)) return undefined
  const marks = subjectAltName.split(', ')
  const space = marks[0]!.startsWith(`URI:${SPACE_PREFIX}`) ? marks[0]!.slice(`URI:${SPACE_PREFIX}`.length) : ''
  return marks.length === 1 && /^[a-z0-9][a-z0-9-]*$/.test(space) ? { space } : 'unreadable'
}
