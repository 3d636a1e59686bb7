/** The definition names of what operations take and answer. */
import {
  customDefinitionName,
  definitionPackage,
  META_PACKAGE,
  VERSION_DEFINITION,
} from '../../../openapi/definitionNames.ts'
import type { MetaModel, Model } from './operation.ts'

const META_MODELS: Readonly<Record<MetaModel, string>> = {
  status: `${META_PACKAGE}.Status`,
  patch: `${META_PACKAGE}.Patch`,
  deleteOptions: `${META_PACKAGE}.DeleteOptions`,
  watchEvent: `${META_PACKAGE}.WatchEvent`,
  apiVersions: `${META_PACKAGE}.APIVersions`,
  apiGroupList: `${META_PACKAGE}.APIGroupList`,
  apiGroup: `${META_PACKAGE}.APIGroup`,
  apiResourceList: `${META_PACKAGE}.APIResourceList`,
  version: VERSION_DEFINITION,
}

/** The definitions of a resource type. */
export interface TypeNames {
  object: string
  list?: string
}

/** @param names absent for an operation that is about no resource */
export function modelName(model: Exclude<Model, 'text'>, names?: TypeNames): string {
  if (typeof model === 'object') {
    const { group, version, kind } = model
    const isOwn = group.includes('.') && !group.endsWith('.k8s.io')
    return isOwn ? customDefinitionName(group, version, kind) : `${definitionPackage(group)}.${version}.${kind}`
  }
  if (model === 'object') return names!.object
  if (model === 'list') return names!.list!
  return META_MODELS[model]
}
