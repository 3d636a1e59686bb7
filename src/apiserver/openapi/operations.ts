/**
 * The REST operations of a resource type, from which both OpenAPI dialects write their paths.
 */
import { SUBRESOURCE_FACTS } from '../../../openapi/resourceFacts.ts'
import type { GroupVersionKind } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { describeSubresource } from '../discovery/discovery.ts'

export type HttpMethod = 'get' | 'post' | 'put' | 'patch' | 'delete'
export type Action = 'get' | 'list' | 'post' | 'put' | 'patch' | 'delete' | 'deletecollection'

export interface Operation {
  path: string
  method: HttpMethod
  action: Action
  /** Unique in a document: `readAppsV1NamespacedDeployment`. */
  id: string
  description: string
  /** What `x-kubernetes-group-version-kind` says. */
  kind: GroupVersionKind
  /** Definition of the body of POST and PUT. */
  body?: Model
  answer: Model
}

/** The kind itself, its list, a meta kind, or another kind of the catalog that a sub-resource speaks. */
export type Model = 'object' | 'list' | 'status' | 'patch' | 'deleteOptions' | GroupVersionKind

const ITEM_ACTIONS: readonly [verb: string, method: HttpMethod, word: string][] = [
  ['get', 'get', 'read'],
  ['update', 'put', 'replace'],
  ['patch', 'patch', 'patch'],
  ['delete', 'delete', 'delete'],
]
const SUBRESOURCE_ACTIONS: readonly [verb: string, method: HttpMethod, word: string][] = [
  ...ITEM_ACTIONS.slice(0, 3),
  ['create', 'post', 'create'],
]

/** All operations of a type, grouped by path. */
export function operationsOf(type: ResourceType): Operation[] {
  const { group, version, kind } = type
  const own: GroupVersionKind = { group, version, kind }
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const collection = `${root}/${type.namespaced ? 'namespaces/{namespace}/' : ''}${type.resource}`
  const scope = type.namespaced ? 'Namespaced' : ''
  const prefix = idPrefix(group, version)
  const operations: Operation[] = []
  const has = (verb: string): boolean => type.verbs.includes(verb)

  if (has('list')) {
    const text = `list or watch objects of kind ${kind}`
    const list = { method: 'get', action: 'list', description: text, kind: own, answer: 'list' } as const
    if (type.namespaced) {
      operations.push({ ...list, path: `${root}/${type.resource}`, id: `list${prefix}${kind}ForAllNamespaces` })
    }
    operations.push({ ...list, path: collection, id: `list${prefix}${scope}${kind}` })
  }
  if (has('create')) {
    operations.push({
      path: collection,
      method: 'post',
      action: 'post',
      id: `create${prefix}${scope}${kind}`,
      description: `create ${article(kind)} ${kind}`,
      kind: own,
      body: 'object',
      answer: 'object',
    })
  }
  if (has('deletecollection')) {
    operations.push({
      path: collection,
      method: 'delete',
      action: 'deletecollection',
      id: `delete${prefix}Collection${scope}${kind}`,
      description: `delete a collection of ${kind}`,
      kind: own,
      answer: 'status',
    })
  }
  for (const [verb, method, word] of ITEM_ACTIONS) {
    if (!has(verb)) continue
    operations.push({
      path: `${collection}/{name}`,
      method,
      action: method as Action,
      id: `${word}${prefix}${scope}${kind}`,
      description: `${ITEM_TEXTS[method]} ${kind}`,
      kind: own,
      ...(method === 'put' && { body: 'object' as const }),
      answer: method === 'delete' ? 'status' : 'object',
    })
  }
  for (const name of type.subresources) operations.push(...subresourceOperations(type, name, `${collection}/{name}`))
  return operations
}

/** Whether Kubernetes tells of `202 Accepted`: the object is made, or goes, some time after the answer. */
export function mayTakeLonger({ action }: Operation): boolean {
  return action === 'post' || action === 'delete'
}

const ITEM_TEXTS: Record<HttpMethod, string> = {
  get: 'read the specified',
  put: 'replace the specified',
  patch: 'partially update the specified',
  delete: 'delete the specified',
  post: 'create',
}

function subresourceOperations(type: ResourceType, name: string, item: string): Operation[] {
  const spoken = describeSubresource(type, name)
  const own = spoken.group === type.group && spoken.version === type.version && spoken.kind === type.kind
  const model: Model = own ? 'object' : { group: spoken.group, version: spoken.version, kind: spoken.kind }
  const scope = type.namespaced ? 'Namespaced' : ''
  const suffix = name[0]!.toUpperCase() + name.slice(1)
  // Upstream tags the scale of a custom resource with the custom kind.
  const foreign = !own && !(name in SUBRESOURCE_FACTS && type.form === 'custom')
  const kind = foreign ? (model as GroupVersionKind) : { group: type.group, version: type.version, kind: type.kind }
  return SUBRESOURCE_ACTIONS.filter(([verb]) => spoken.verbs.includes(verb)).map(([, method, word]) => ({
    path: `${item}/${name}`,
    method,
    action: method as Action,
    id: `${word}${idPrefix(type.group, type.version)}${scope}${type.kind}${suffix}`,
    description: `${ITEM_TEXTS[method]} ${name} of ${article(type.kind)} ${type.kind}`,
    kind,
    ...((method === 'put' || method === 'post') && { body: model }),
    answer: model,
  }))
}

/** `AppsV1`, `RbacAuthorizationV1`, `ExIoV1`. */
function idPrefix(group: string, version: string): string {
  const labels = group === '' ? ['core'] : group.replace(/\.k8s\.io$/, '').split('.')
  return [...labels, version].map(label => label[0]!.toUpperCase() + label.slice(1)).join('')
}

function article(kind: string): string {
  return /^[AEIOU]/.test(kind) ? 'an' : 'a'
}
