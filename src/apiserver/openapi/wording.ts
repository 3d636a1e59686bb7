/** Small words that both OpenAPI dialects share. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { FORMS } from '../registry/forms.ts'

/** `core_v1`, `apps_v1`, `rbacAuthorization_v1`. */
export function tagOf({ group, version }: ResourceType): string {
  if (group === '') return `core_${version}`
  const [first, ...rest] = group.replace(/\.k8s\.io$/, '').split('.')
  return `${first}${rest.map(label => label[0]!.toUpperCase() + label.slice(1)).join('')}_${version}`
}

/** The content types of PATCH. */
export function patchTypes({ form }: ResourceType): string[] {
  return [
    'application/json-patch+json',
    'application/merge-patch+json',
    ...(FORMS[form].strategicMerge ? ['application/strategic-merge-patch+json'] : []),
    'application/apply-patch+yaml',
  ]
}

/** The content types of POST, PUT and DELETE. Custom kinds have no protobuf form. */
export function bodyTypes(type: ResourceType): string[] {
  return type.form === 'custom' ? ['application/json', 'application/yaml'] : ['*/*']
}
