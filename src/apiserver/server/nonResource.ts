/** What is not a resource: health, version, metrics, discovery, OpenAPI, the keys of ServiceAccount tokens. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AggregatedVersion, aggregatedContentType, aggregatedDiscovery } from '../discovery/aggregated.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../discovery/discovery.ts'
import { negotiate } from '../endpoints/negotiate.ts'
import { sendValue } from '../endpoints/respond.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'
import type { Metrics } from './metrics.ts'
import type { OpenApiRoutes } from './openApiRoutes.ts'
import type { Admitted } from './pipeline.ts'

export interface NonResourceDeps {
  types: TypeRegistry
  metrics: Metrics
  openApi: OpenApiRoutes
  /** `host:port` as clients reach it. */
  address: () => string
  version: Readonly<Record<string, string>>
  /** Names of failing checks; empty when all is well. */
  failing: () => string[]
  /** OpenID discovery of the token issuer, by path. */
  openId: Readonly<Record<string, () => unknown>>
}

const HEALTH_CHECKS = ['ping', 'store', 'spaces']

/** Documents made from a set of types, kept as long as the set lives: it is replaced when a CRD changes. */
interface Prepared {
  body: Buffer
  etag: string
}

export class NonResourceRoutes {
  readonly #deps: NonResourceDeps
  readonly #prepared = new WeakMap<TypeSet, Map<string, Prepared>>()

  constructor(deps: NonResourceDeps) {
    this.#deps = deps
  }

  /** False when there is no such path. */
  async handle(request: FastifyRequest, reply: FastifyReply, admitted: Admitted): Promise<boolean> {
    const { info, space } = admitted
    const path = info.path.length > 1 && info.path.endsWith('/') ? info.path.slice(0, -1) : info.path
    if (path === '/livez' || path === '/readyz' || path === '/healthz') return this.#health(reply, path, info.query)
    if (path === '/version') {
      await sendValue({ reply, info, form: negotiate(undefined), warnings: [] }, 200, this.#deps.version)
      return true
    }
    if (path === '/metrics') {
      const { contentType, body } = await this.#deps.metrics.render()
      reply.type(contentType).send(body)
      return true
    }
    const openId = this.#deps.openId[path]
    if (openId) {
      reply.type(path.endsWith('jwks') ? 'application/jwk-set+json' : 'application/json').send(JSON.stringify(openId()))
      return true
    }
    if (path.startsWith('/openapi/')) return this.#deps.openApi.handle(request, reply, path, space)
    return this.#discovery(request, reply, path, space)
  }

  #health(reply: FastifyReply, path: string, query: URLSearchParams): boolean {
    const failing = this.#deps.failing()
    const code = failing.length === 0 ? 200 : 500
    if (failing.length === 0 && !query.has('verbose')) {
      reply.code(200).type('text/plain; charset=utf-8').send('ok')
      return true
    }
    const lines = HEALTH_CHECKS.map(name =>
      failing.includes(name) ? `[-]${name} failed: reason withheld` : `[+]${name} ok`,
    )
    lines.push(`${path.slice(1)} check ${failing.length === 0 ? 'passed' : 'failed'}`)
    reply
      .code(code)
      .type('text/plain; charset=utf-8')
      .send(`${lines.join('\n')}\n`)
    return true
  }

  #discovery(request: FastifyRequest, reply: FastifyReply, path: string, space: string): boolean {
    const set = this.#deps.types.in(space)
    const { types } = set
    const parts = path.split('/').slice(1)
    if (path === '/api' || path === '/apis') {
      const root = parts[0] as 'api' | 'apis'
      const version = aggregatedWanted(request.headers.accept)
      if (version) {
        const document = this.#prepare(set, `${path} ${version}`, () => aggregatedDiscovery(types, { root, version }))
        return this.#send(request, reply, document, aggregatedContentType(version))
      }
      const document = this.#prepare(set, path, () =>
        root === 'api' ? apiVersions(types, this.#deps.address()) : apiGroupList(types),
      )
      return this.#send(request, reply, document)
    }
    if (path === '/') {
      const paths = [
        '/api',
        '/api/v1',
        '/apis',
        ...apiGroupList(types).groups.flatMap(g => [
          `/apis/${g.name}`,
          ...g.versions.map(v => `/apis/${v.groupVersion}`),
        ]),
      ]
      const others = ['/healthz', '/livez', '/metrics', '/openapi/v2', '/openapi/v3', '/readyz', '/version']
      return this.#send(
        request,
        reply,
        this.#prepare(set, path, () => ({ paths: [...paths, ...others] })),
      )
    }
    const make = (): unknown => {
      if (parts[0] === 'api' && parts.length === 2) return apiResourceList(types, '', parts[1]!)
      if (parts[0] === 'apis' && parts.length === 2) return apiGroup(types, parts[1]!)
      if (parts[0] === 'apis' && parts.length === 3) return apiResourceList(types, parts[1]!, parts[2]!)
      return undefined
    }
    // Only paths of what exists are remembered, so clients cannot grow the memory.
    const document = make()
    if (document === undefined) return false
    return this.#send(
      request,
      reply,
      this.#prepare(set, path, () => document),
    )
  }

  #prepare(set: TypeSet, key: string, make: () => unknown): Prepared {
    let documents = this.#prepared.get(set)
    if (documents === undefined) {
      documents = new Map()
      this.#prepared.set(set, documents)
    }
    let document = documents.get(key)
    if (document === undefined) {
      const body = Buffer.from(`${JSON.stringify(make())}\n`)
      document = { body, etag: `"${createHash('sha256').update(body).digest('hex').toUpperCase()}"` }
      documents.set(key, document)
    }
    return document
  }

  #send(request: FastifyRequest, reply: FastifyReply, document: Prepared, contentType = 'application/json'): boolean {
    reply.header('ETag', document.etag).header('Vary', 'Accept').header('Cache-Control', 'public')
    if (request.headers['if-none-match'] === document.etag) reply.code(304).send()
    else reply.code(200).header('Content-Type', contentType).send(document.body)
    return true
  }
}

/** The first aggregated form that `Accept` names before plain JSON. */
function aggregatedWanted(accept: string | undefined): AggregatedVersion | undefined {
  for (const entry of accept?.split(',') ?? []) {
    const parts = entry.split(';').map(part => part.trim())
    if (parts.includes('as=APIGroupDiscoveryList') && parts.includes('g=apidiscovery.k8s.io')) {
      if (parts.includes('v=v2')) return 'v2'
      if (parts.includes('v=v2beta1')) return 'v2beta1'
    } else if (parts[0] === 'application/json' && parts.length === 1) return undefined
  }
  return undefined
}
