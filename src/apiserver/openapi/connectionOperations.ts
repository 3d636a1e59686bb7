/** The operations of sub-resources that lead to a running Pod, a Service or a node, as `endpoints/connections.ts` answers them. */
import { KUBELET_SUBRESOURCES } from '../../../openapi/resourceFacts.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { connectionMethods } from '../endpoints/methods.ts'
import type { HttpMethod, Operation } from './operation.ts'
import { CONNECTION_PARAMETERS } from './parameters.ts'
import { ALL_TYPES, ANY_TYPE, idPrefix, tagOf } from './wording.ts'

/** @param item the path of the object */
export function connectionOperations(type: ResourceType, item: string): Operation[] {
  return KUBELET_SUBRESOURCES.flatMap(name => {
    const methods = connectionMethods({ ...type, subresource: name })
    return (
      methods?.flatMap(method => operations(type, `${item}/${name}`, name, method.toLowerCase() as HttpMethod)) ?? []
    )
  })
}

function operations(type: ResourceType, path: string, name: string, method: HttpMethod): Operation[] {
  const { group, version, kind } = type
  const scoped = `${type.namespaced ? 'Namespaced' : ''}${kind}`
  const common = { method, tag: tagOf(group, version), answer: 'text', consumes: ANY_TYPE } as const
  if (name === 'log') {
    return [
      {
        ...common,
        path,
        action: 'get',
        id: `read${idPrefix(group, version)}${scoped}Log`,
        description: `read log of the specified ${kind}`,
        kind: { group, version, kind },
        produces: ['text/plain', ...ALL_TYPES],
        parameters: CONNECTION_PARAMETERS.log!,
      },
    ]
  }
  const word = CONNECTION_WORDS[name]!
  const connect: Operation = {
    ...common,
    path,
    action: 'connect',
    id: `connect${idPrefix(group, version)}${capitalized(method)}${scoped}${capitalized(name)}`,
    description: `connect ${method.toUpperCase()} requests to ${name} of ${kind}`,
    kind: { group, version, kind: `${kind}${word}Options` },
    produces: ANY_TYPE,
    parameters: CONNECTION_PARAMETERS[name]!,
  }
  return name === 'proxy' ? [connect, { ...connect, path: `${path}/{path}`, id: `${connect.id}WithPath` }] : [connect]
}

const CONNECTION_WORDS: Readonly<Record<string, string>> = {
  attach: 'Attach',
  exec: 'Exec',
  portforward: 'PortForward',
  proxy: 'Proxy',
}

function capitalized(word: string): string {
  return word[0]!.toUpperCase() + word.slice(1)
}
