/** References to parameters of Locations, `%(name)`: in objects that are expanded for each destination. */

/** Whether a value is a text with one. One look, however often one begins in it and does not end. */
export function holdsReference(value: unknown): value is string {
  if (typeof value !== 'string') return false
  const start = value.indexOf('%(')
  return start !== -1 && value.includes(')', start + 2)
}
