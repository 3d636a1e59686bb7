/** The two dialects of OpenAPI that schemas are written in. */
export type Dialect = 'v2' | 'v3'
export type SchemaDocument = Record<string, unknown>

/** Prefix of a definition's name in a reference. */
export const REFERENCE_PREFIX: Record<Dialect, string> = { v2: '#/definitions/', v3: '#/components/schemas/' }

/** A reference with members beside it: version 3 wraps the reference then. */
export function beside(reference: SchemaDocument, extras: SchemaDocument, dialect: Dialect): SchemaDocument {
  if (dialect === 'v2') return { ...extras, ...reference }
  return Object.keys(extras).length === 0 ? reference : { ...extras, allOf: [reference] }
}
