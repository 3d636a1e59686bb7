/** The data that the program reads while it runs: what `openapi/` holds, in a clone and in a package alike. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_ROOT } from './programRoot.ts'

/** Where `openapi/derive.ts` puts the catalog of kinds. */
export const GENERATED_FOLDER = join(PROGRAM_ROOT, 'openapi/generated')

/** By API version, then message, the fields as `openapi/protobufTable.ts` explains them. */
type ProtobufFields = Record<string, Record<string, string>>

/** Reads the table at each call: few processes need it, and those once. */
export function readProtobufFields(): ProtobufFields {
  return JSON.parse(readFileSync(join(PROGRAM_ROOT, 'openapi/protobufFields.json'), 'utf8')) as ProtobufFields
}
