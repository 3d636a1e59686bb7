/** The way through a CRD's schema, and what holds at each place because of the places above it. */
import type { Schema } from '../schema.ts'

export interface Scope {
  isRoot: boolean
  inMetadata: boolean
  /** Why defaults may not stand here. */
  defaultsForbidden: string | undefined
  /** The highest place below which old and new values do not correspond. */
  uncorrelatable: string | undefined
}

type Visit = (schema: Schema, at: string, scope: Scope) => void

/** The schemas right below `schema` that tell the shape of values. */
export function eachShape(schema: Schema, at: string, scope: Scope, visit: Visit): void {
  const below: Scope = { ...scope, isRoot: false }
  if (typeof schema.additionalProperties === 'object') {
    const inside = scope.inMetadata
      ? { ...below, defaultsForbidden: 'inside additionalProperties applying to object metadata' }
      : below
    visit(schema.additionalProperties, `${at}.additionalProperties`, inside)
  }
  const isResource = scope.isRoot || schema['x-kubernetes-embedded-resource'] === true
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isMeta = isResource && (name === 'metadata' || name === 'kind' || name === 'apiVersion')
    const forbidden = isMeta && scope.isRoot ? { defaultsForbidden: `in top-level ${name}` } : {}
    const inside = isMeta ? { ...below, inMetadata: true, ...forbidden } : below
    visit(property, `${at}.properties[${name}]`, inside)
  }
  if (schema.items === undefined) return
  const inside = { ...below }
  if (schema['x-kubernetes-list-type'] !== 'map') inside.uncorrelatable ??= at
  visit(schema.items, `${at}.items`, inside)
}

export function eachCombined(schema: Schema, at: string, visit: (schema: Schema, at: string) => void): void {
  if (schema.not !== undefined) visit(schema.not, `${at}.not`)
  for (const keyword of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [i, each] of (schema[keyword] ?? []).entries()) visit(each, `${at}.${keyword}[${i}]`)
  }
}
