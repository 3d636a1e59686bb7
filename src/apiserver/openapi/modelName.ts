/** The definition names of what operations take and answer. */
import { customDefinitionName, definitionPackage, META_PACKAGE } from '../../../openapi/definitionNames.ts'
import type { Model } from './operations.ts'

const META_MODELS = { status: 'Status', patch: 'Patch', deleteOptions: 'DeleteOptions' } as const

/** @param names the definitions of the resource type that the operation belongs to */
export function modelName(model: Model, names: { object: string; list?: string }): string {
  if (typeof model === 'object') {
    const { group, version, kind } = model
    const isOwn = group.includes('.') && !group.endsWith('.k8s.io')
    return isOwn ? customDefinitionName(group, version, kind) : `${definitionPackage(group)}.${version}.${kind}`
  }
  if (model === 'object') return names.object
  if (model === 'list') return names.list!
  return `${META_PACKAGE}.${META_MODELS[model]}`
}
