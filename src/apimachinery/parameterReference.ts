/** References to parameters of Locations, `%(name)`: in objects that are expanded for each destination. */

const REFERENCE = /%\([^)]*\)/

/** Whether a value is a text with one. A text without costs one look. */
export function holdsReference(value: unknown): value is string {
  return typeof value === 'string' && value.includes('%(') && REFERENCE.test(value)
}
