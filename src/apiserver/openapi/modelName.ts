/** The definition names of what operations take and answer. */
import { definitionPackage, META_PACKAGE } from '../../../openapi/definitionNames.ts'
import type { Model } from './operations.ts'

const META_MODELS = { status: 'Status', patch: 'Patch', deleteOptions: 'DeleteOptions' } as const

/** @param names the definitions of the resource type that the operation belongs to */
export function modelName(model: Model, names: { object: string; list?: string }): string {
  if (typeof model === 'object') return `${definitionPackage(model.group)}.${model.version}.${model.kind}`
  if (model === 'object') return names.object
  if (model === 'list') return names.list!
  return `${META_PACKAGE}.${META_MODELS[model]}`
}
