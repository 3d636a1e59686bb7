/** A schema as plain data, for a thread: its JSON and what JSON does not tell. */
import { type Schema, STRUCT_NAME } from '../schema.ts'

export interface SchemaText {
  json: string
  /** Schemas that are structs upstream, by the path to them, with their names there. */
  structs: { path: readonly string[]; name: string }[]
}

// A memo of a pure function: schemas are never changed.
const texts = new WeakMap<Schema, SchemaText>()

/** @throws TypeError for a schema that has no end; those of definitions have one */
export function schemaText(schema: Schema): SchemaText {
  const known = texts.get(schema)
  if (known !== undefined) return known
  const made = { json: JSON.stringify(schema), structs: structsIn(schema, []) }
  texts.set(schema, made)
  return made
}

export function schemaFromText({ json, structs }: SchemaText): Schema {
  const schema: Schema = JSON.parse(json)
  for (const { path, name } of structs) schemaAt(schema, path)[STRUCT_NAME] = name
  return schema
}

function structsIn(schema: Schema, path: readonly string[]): SchemaText['structs'] {
  const { [STRUCT_NAME]: name, properties = {}, items, additionalProperties } = schema
  return [
    ...(name === undefined ? [] : [{ path, name }]),
    ...Object.entries(properties).flatMap(([key, member]) => structsIn(member, [...path, 'properties', key])),
    ...(items === undefined ? [] : structsIn(items, [...path, 'items'])),
    ...(typeof additionalProperties === 'object'
      ? structsIn(additionalProperties, [...path, 'additionalProperties'])
      : []),
  ]
}

function schemaAt(schema: Schema, path: readonly string[]): Schema {
  return path.reduce<Record<string, unknown>>(
    (at, step) => at[step] as Record<string, unknown>,
    schema as Record<string, unknown>,
  ) as Schema
}
