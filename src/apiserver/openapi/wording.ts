/** Small words that both OpenAPI dialects share. */
import { PROTOBUF_MEDIA_TYPE } from '../../apimachinery/protobuf/protobufCodec.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { WATCH_MEDIA_TYPES } from '../http/negotiate.ts'
import { FORMS } from '../registry/forms.ts'

/** Media types of everything that has no protobuf form. */
const TEXT_TYPES: readonly string[] = ['application/json', 'application/yaml']
export const ALL_TYPES: readonly string[] = [...TEXT_TYPES, PROTOBUF_MEDIA_TYPE]
export const ANY_TYPE: readonly string[] = ['*/*']

/** `core_v1`, `apps_v1`, `rbacAuthorization_v1`; of a group alone without the version. */
export function tagOf(group: string, version?: string): string {
  const [first, ...rest] = labelsOf(group)
  return `${first}${rest.map(capitalized).join('')}${version === undefined ? '' : `_${version}`}`
}

/** `AppsV1`, `RbacAuthorizationV1`, `ExIoV1`. */
export function idPrefix(group: string, version = ''): string {
  return [...labelsOf(group), version].map(capitalized).join('')
}

export function article(kind: string): string {
  return /^[AEIOU]/.test(kind) ? 'an' : 'a'
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

/** The content types of POST, PUT and DELETE. Custom kinds and Orrery's own have no protobuf form. */
export function bodyTypes({ form }: ResourceType): readonly string[] {
  return form === 'struct' ? ANY_TYPE : TEXT_TYPES
}

/** The content types of objects and lists that are answered. */
export function answerTypes({ form }: ResourceType): readonly string[] {
  return form === 'struct' ? ALL_TYPES : TEXT_TYPES
}

/** The same, where a stream of events may be answered instead. */
export function watchTypes(type: ResourceType): readonly string[] {
  const types = answerTypes(type)
  return [...types, ...WATCH_MEDIA_TYPES.filter(stream => types.includes(stream.split(';')[0]!))]
}

function labelsOf(group: string): string[] {
  return group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
}

function capitalized(label: string): string {
  return label.slice(0, 1).toUpperCase() + label.slice(1)
}
