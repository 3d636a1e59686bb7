/** A client that knows of a server only what its OpenAPI documents say, as generators write them. */
import type { Answer, Api, Watch } from '../../support/api.ts'

export interface DocumentedOperation {
  path: string
  method: string
  id: string
  action: string | undefined
  /** `apps/v1/Deployment` */
  kind: string | undefined
  parameters: readonly DocumentedParameter[]
  consumes: readonly string[]
  produces: readonly string[]
  /** By code; the name of a definition, or the type. */
  answers: Readonly<Record<string, string>>
}

export interface DocumentedParameter {
  name: string
  in: string
  required?: boolean
}

type Item = Record<string, Record<string, unknown>> & { parameters?: DocumentedParameter[] }
type Paths = Record<string, Item>
type Contents = Record<string, { schema?: { $ref?: string; type?: string } }>

/** The operations of `/openapi/v2`. */
export async function operationsOfV2(api: Api): Promise<DocumentedOperation[]> {
  const { paths } = (await api.ok(api.get('/openapi/v2', { accept: 'application/json' }))) as unknown as {
    paths: Paths
  }
  return operationsIn(paths, operation => ({
    consumes: (operation.consumes as string[] | undefined) ?? [],
    produces: (operation.produces as string[] | undefined) ?? [],
    answers: mapped(operation.responses as Contents, ({ schema }) => nameOf(schema)),
  }))
}

/** The operations of all documents that `/openapi/v3` leads to. */
export async function operationsOfV3(api: Api): Promise<DocumentedOperation[]> {
  type Index = Record<string, { serverRelativeURL: string }>
  const { paths: index } = (await api.ok(api.get('/openapi/v3'))) as unknown as { paths: Index }
  const found: DocumentedOperation[] = []
  for (const { serverRelativeURL } of Object.values(index)) {
    const { paths } = (await api.ok(api.get(serverRelativeURL))) as unknown as { paths: Paths }
    found.push(
      ...operationsIn(paths, ({ requestBody, responses }) => ({
        consumes: Object.keys((requestBody as { content: Contents } | undefined)?.content ?? {}),
        produces: Object.keys((responses as Record<string, { content: Contents }>)['200']!.content),
        answers: mapped(responses as Record<string, { content?: Contents }>, ({ content = {} }) =>
          nameOf(Object.values(content)[0]?.schema),
        ),
      })),
    )
  }
  return found
}

function operationsIn(
  paths: Paths,
  types: (operation: Record<string, unknown>) => Pick<DocumentedOperation, 'consumes' | 'produces' | 'answers'>,
): DocumentedOperation[] {
  return Object.entries(paths).flatMap(([path, { parameters: shared = [], ...methods }]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      id: operation.operationId as string,
      action: operation['x-kubernetes-action'] as string | undefined,
      kind: kindOf(operation['x-kubernetes-group-version-kind']),
      parameters: [...shared, ...((operation.parameters as DocumentedParameter[] | undefined) ?? [])],
      ...types(operation),
    })),
  )
}

function kindOf(said: unknown): string | undefined {
  const gvk = said as { group: string; version: string; kind: string } | undefined
  return gvk && `${gvk.group}/${gvk.version}/${gvk.kind}`
}

function mapped<T>(record: Record<string, T>, name: (value: T) => string): Record<string, string> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, name(value)]))
}

function nameOf(schema: { $ref?: string; type?: string } | undefined): string {
  return schema?.$ref?.split('/').at(-1)?.split('.').at(-1) ?? schema?.type ?? ''
}

/** Calls operations by their names; whatever the document does not say, it refuses. */
export class DocumentedClient {
  readonly #api: Api
  readonly #operations: ReadonlyMap<string, DocumentedOperation>

  constructor(api: Api, operations: readonly DocumentedOperation[]) {
    this.#api = api
    this.#operations = new Map(operations.map(operation => [operation.id, operation]))
  }

  /** @param produces what of the produced types is wanted; default: the first */
  call(
    id: string,
    values: Record<string, string> = {},
    more: { body?: object; produces?: string } = {},
  ): Promise<Answer> {
    const { method, produces, consumes } = this.#operation(id)
    const accept = this.#accepted(id, more.produces ?? produces[0]!)
    const type = consumes.includes('*/*') ? 'application/json' : consumes[0]!
    return this.#api.send(method, this.#url(id, values), {
      headers: { accept },
      ...(more.body && { body: more.body, type }),
    })
  }

  watch(id: string, values: Record<string, string>): Promise<Watch> {
    const accept = this.#accepted(id, 'application/json;stream=watch')
    return this.#api.watch(this.#url(id, values), { accept })
  }

  #accepted(id: string, type: string): string {
    const { produces } = this.#operation(id)
    if (!produces.includes(type)) throw new Error(`${id} does not produce ${type}: ${produces.join(', ')}`)
    return type
  }

  #operation(id: string): DocumentedOperation {
    const operation = this.#operations.get(id)
    if (operation === undefined) throw new Error(`no operation ${id}`)
    return operation
  }

  #url(id: string, values: Record<string, string>): string {
    const { path, parameters } = this.#operation(id)
    const query = new URLSearchParams()
    let url = path
    for (const [name, value] of Object.entries(values)) {
      const place = parameters.find(parameter => parameter.name === name)?.in
      if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(value))
      else if (place === 'query') query.set(name, value)
      else throw new Error(`${id} has no parameter ${name}`)
    }
    if (url.includes('{')) throw new Error(`${id} lacks a parameter: ${url}`)
    return query.size > 0 ? `${url}?${query}` : url
  }
}
