/** The data that the program reads while it runs: what `openapi/` holds, in a clone, in a package and in the one file alike. */
import { programFile } from './programFile.ts'

/** Output of `openapi/derive.ts`: the catalog of kinds, the descriptions of their fields. As text. */
export function readGenerated(name: string): string {
  return programFile(`openapi/generated/${name}`)
}

/** By API version, then message, the fields as `openapi/protobufTable.ts` explains them. */
type ProtobufFields = Record<string, Record<string, string>>

/** Reads the table at each call: few processes need it, and those once. */
export function readProtobufFields(): ProtobufFields {
  return JSON.parse(programFile('openapi/protobufFields.json')) as ProtobufFields
}
