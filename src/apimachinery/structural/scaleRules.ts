/** Rules for a custom resource with `/scale` at the paths of its scale, beside its schema. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import { goPrint, goType } from '../go/goPrint.ts'
import { isRecord } from '../object.ts'
import type { ScalePaths } from '../resourceType.ts'

const MAX_REPLICAS = 2 ** 31 - 1

/** Errors of the counts and of the selector that are there, in upstream's words. */
export function scaleErrors(object: Readonly<Record<string, unknown>>, paths: ScalePaths): FieldError[] {
  return [...countErrors(object, paths.specReplicasPath), ...scaleStatusErrors(object, paths)]
}

/** Those of `/status`. */
function scaleStatusErrors(object: Readonly<Record<string, unknown>>, paths: ScalePaths): FieldError[] {
  const errors = countErrors(object, paths.statusReplicasPath)
  const { labelSelectorPath } = paths
  if (labelSelectorPath === undefined) return errors
  const found = valueAt(object, labelSelectorPath)
  const isText = found.value === undefined || typeof found.value === 'string'
  if (found.problem === undefined && isText) return errors
  const why = found.problem ?? accessorError(labelSelectorPath, found.value, 'string')
  return [...errors, fieldError.invalid(labelSelectorPath, '', why)]
}

function countErrors(object: Readonly<Record<string, unknown>>, path: string): FieldError[] {
  const { value, problem } = valueAt(object, path)
  if (problem !== undefined) return [fieldError.invalid(path, 0, problem)]
  if (value === undefined) return []
  if (!Number.isInteger(value)) return [fieldError.invalid(path, 0, accessorError(path, value, 'int64'))]
  const count = value as number
  if (count < 0) return [fieldError.invalid(path, count, 'should be a non-negative integer')]
  if (count <= MAX_REPLICAS) return []
  return [fieldError.invalid(path, count, `should be less than or equal to ${MAX_REPLICAS}`)]
}

function valueAt(
  object: Readonly<Record<string, unknown>>,
  path: string,
): { value: unknown; problem: string | undefined } {
  const names = path.replace(/^\./, '').split('.')
  let value: unknown = object
  for (const [i, name] of names.entries()) {
    if (!isRecord(value)) {
      const above = `.${names.slice(0, i + 1).join('.')}`
      return { value: undefined, problem: accessorError(above, value, 'map[string]interface {}') }
    }
    if (!Object.hasOwn(value, name)) return { value: undefined, problem: undefined }
    value = value[name]
  }
  return { value, problem: undefined }
}

function accessorError(path: string, value: unknown, wanted: string): string {
  return `${path} accessor error: ${goPrint(value)} is of the type ${goType(value)}, expected ${wanted}`
}
