/**
 * The REST operations of a resource type, from which both OpenAPI dialects write their paths.
 */
import { SUBRESOURCE_FACTS } from '../../../openapi/resourceFacts.ts'
import type { GroupVersionKind } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { describeSubresource } from '../discovery/discovery.ts'
import { connectionOperations } from './connectionOperations.ts'
import type { Action, HttpMethod, Model, Operation } from './operation.ts'
import { parametersOf, WATCH_PARAMETERS } from './parameters.ts'
import { answerTypes, article, bodyTypes, idPrefix, patchTypes, tagOf, watchTypes } from './wording.ts'

const ITEM_ACTIONS: readonly [verb: string, method: HttpMethod & Action, word: string][] = [
  ['get', 'get', 'read'],
  ['update', 'put', 'replace'],
  ['patch', 'patch', 'patch'],
  ['delete', 'delete', 'delete'],
]
const SUBRESOURCE_ACTIONS: readonly [verb: string, method: HttpMethod & Action, word: string][] = [
  ...ITEM_ACTIONS.slice(0, 3),
  ['create', 'post', 'create'],
]

/** All operations of a type, grouped by path. */
export function operationsOf(type: ResourceType): Operation[] {
  const { group, version, kind, resource } = type
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
  const collection = `${type.namespaced ? 'namespaces/{namespace}/' : ''}${resource}`
  const item = `${root}/${collection}/{name}`
  const scope = type.namespaced ? 'Namespaced' : ''
  const prefix = idPrefix(group, version)
  const operations: Operation[] = []
  const has = (verb: string): boolean => type.verbs.includes(verb)
  const add = (operation: Described): number => operations.push(completed(operation, type))

  if (has('list')) {
    const description = `list or watch objects of kind ${kind}`
    const list = { method: 'get', action: 'list', description, answer: 'list' } as const
    if (type.namespaced) add({ ...list, path: `${root}/${resource}`, id: `list${prefix}${kind}ForAllNamespaces` })
    add({ ...list, path: `${root}/${collection}`, id: `list${prefix}${scope}${kind}` })
  }
  if (has('create')) {
    add({
      path: `${root}/${collection}`,
      method: 'post',
      action: 'post',
      id: `create${prefix}${scope}${kind}`,
      description: `create ${article(kind)} ${kind}`,
      answer: 'object',
    })
  }
  if (has('deletecollection')) {
    add({
      path: `${root}/${collection}`,
      method: 'delete',
      action: 'deletecollection',
      id: `delete${prefix}Collection${scope}${kind}`,
      description: `delete a collection of ${kind}`,
      answer: 'status',
    })
  }
  for (const [verb, method, word] of ITEM_ACTIONS) {
    if (!has(verb)) continue
    add({
      path: item,
      method,
      action: method,
      id: `${word}${prefix}${scope}${kind}`,
      description: `${ITEM_TEXTS[method]} ${kind}`,
      answer: method === 'delete' && !type.returnsDeleted ? 'status' : 'object',
    })
  }
  for (const name of type.subresources) for (const operation of subresourceOperations(type, name, item)) add(operation)
  operations.push(...connectionOperations(type, item))
  if (has('watch')) {
    const watch = { method: 'get', description: `watch objects of kind ${kind}`, answer: 'watchEvent' } as const
    const lists = { ...watch, action: 'watchlist' } as const
    const all = `watch${prefix}${kind}ListForAllNamespaces`
    if (type.namespaced) add({ ...lists, path: `${root}/watch/${resource}`, id: all })
    add({ ...lists, path: `${root}/watch/${collection}`, id: `watch${prefix}${scope}${kind}List` })
    add({ ...watch, action: 'watch', path: `${root}/watch/${collection}/{name}`, id: `watch${prefix}${scope}${kind}` })
  }
  return operations
}

/** Whether Kubernetes tells of `202 Accepted`: the object is made, or goes, some time after the answer. */
export function mayTakeLonger({ action }: Operation): boolean {
  return action === 'post' || action === 'delete'
}

/** Whether an object may be there afterwards that was not: an update and an apply create one, too. */
export function mayCreate({ body }: Operation): boolean {
  return body !== undefined && body !== 'deleteOptions'
}

const ITEM_TEXTS: Partial<Record<HttpMethod, string>> = {
  get: 'read the specified',
  put: 'replace the specified',
  patch: 'partially update the specified',
  delete: 'delete the specified',
  post: 'create',
}

type Described = Pick<Operation, 'path' | 'method' | 'id' | 'description' | 'answer'> &
  Partial<Operation> & { action: Action }

/** With what follows from the type and from what is done. */
function completed(operation: Described, type: ResourceType): Operation {
  const { group, version, kind } = type
  const { method, action } = operation
  const body = operation.body ?? BODIES[method]
  const isStream = action === 'list' || operation.answer === 'watchEvent'
  return {
    tag: tagOf(group, version),
    kind: { group, version, kind },
    consumes: method === 'patch' ? patchTypes(type) : bodyTypes(type),
    produces: isStream ? watchTypes(type) : answerTypes(type),
    parameters: operation.answer === 'watchEvent' ? WATCH_PARAMETERS : parametersOf(action, type),
    ...operation,
    ...(body && { body }),
  }
}

const BODIES: Partial<Record<HttpMethod, Model>> = {
  post: 'object',
  put: 'object',
  patch: 'patch',
  delete: 'deleteOptions',
}

function subresourceOperations(type: ResourceType, name: string, item: string): Described[] {
  const spoken = describeSubresource(type, name)
  const own = spoken.group === type.group && spoken.version === type.version && spoken.kind === type.kind
  const model: Model = own ? 'object' : { group: spoken.group, version: spoken.version, kind: spoken.kind }
  const scope = type.namespaced ? 'Namespaced' : ''
  const suffix = name[0]!.toUpperCase() + name.slice(1)
  // Upstream tags the scale of a custom resource with the custom kind.
  const foreign = !own && !(name in SUBRESOURCE_FACTS && type.form === 'custom')
  return SUBRESOURCE_ACTIONS.filter(([verb]) => spoken.verbs.includes(verb)).map(([, method, word]) => ({
    path: `${item}/${name}`,
    method,
    action: method,
    id: `${word}${idPrefix(type.group, type.version)}${scope}${type.kind}${suffix}`,
    description: `${ITEM_TEXTS[method]} ${name} of ${article(type.kind)} ${type.kind}`,
    ...(foreign && { kind: model as GroupVersionKind }),
    ...((method === 'put' || method === 'post') && { body: model }),
    answer: model,
  }))
}
