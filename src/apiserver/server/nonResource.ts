/** What is not a resource: health, version, metrics, discovery, OpenAPI, the keys of ServiceAccount tokens. */

import type { ProtobufCodec } from '../../apimachinery/protobuf/protobufCodec.ts'
import { aggregatedContentType, aggregatedWanted } from '../discovery/aggregated.ts'
import { apiGroupList } from '../discovery/discovery.ts'
import { type KindDocument, type KindDocuments, OPENAPI } from '../discovery/kindDocuments.ts'
import { methodNotAllowed } from '../endpoints/methods.ts'
import { CONTENT_TYPES, negotiateFormat, PLAIN, wantsPretty } from '../endpoints/negotiate.ts'
import { sendValue } from '../endpoints/respond.ts'
import type { Answer } from '../http/answer.ts'
import type { AuthorizedRequest } from '../http/pipeline.ts'
import type { Request } from '../http/request.ts'
import { CONFIGZ_PATH, METRICS_PATH, requireRoot, SERVER_WIDE_PATHS, STATUSZ_PATH } from '../http/serverWide.ts'
import type { OpenApiRoutes } from '../openapi/routes.ts'
import { BUDGET_PATH } from '../spaces/budgetDocument.ts'
import { ROOT } from '../spaces/tree.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'
import { answerHealth, type Health } from './health.ts'
import type { Metrics } from './metrics.ts'
import { configz, statusz, type ZPage } from './zPages.ts'

export interface NonResourceDeps {
  types: TypeRegistry
  protobuf: ProtobufCodec
  metrics: Metrics
  documents: KindDocuments
  openApi: OpenApiRoutes
  version: () => Promise<Readonly<Record<string, string>>>
  /** What the server was told, for `/configz`. */
  settings: Readonly<Record<string, unknown>>
  /** When it started, milliseconds since the epoch. */
  startedMs: number
  health: Health
  /** What a space holds and may hold, as JSON. Absent where there are no spaces. */
  budget?: ((space: string, isAbandoned: () => boolean) => Promise<string>) | undefined
  /** OpenID discovery of a space's token issuer, by path. */
  openId: Readonly<Record<string, (space: string) => unknown>>
}

export class NonResourceRoutes {
  readonly #deps: NonResourceDeps

  constructor(deps: NonResourceDeps) {
    this.#deps = deps
  }

  /** False when there is no such path. */
  async handle(request: Request, reply: Answer, authorized: AuthorizedRequest): Promise<boolean> {
    const { info, space } = authorized
    const path = info.path.length > 1 && info.path.endsWith('/') ? info.path.slice(0, -1) : info.path
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      if (!this.#exists(path, space)) return false
      reply.header('allow', 'GET, HEAD')
      throw methodNotAllowed()
    }
    if (path === BUDGET_PATH && this.#deps.budget !== undefined) {
      reply.type('application/json').send(await this.#deps.budget(space, () => reply.destroyed))
      return true
    }
    if (await answerHealth(this.#deps.health, reply, path, info.query)) return true
    if (path === '/version') {
      await sendValue(
        this.#deps,
        { request, reply, info, form: { ...PLAIN, format: negotiateFormat(request.headers.accept) }, warnings: [] },
        200,
        await this.#deps.version(),
      )
      return true
    }
    if (path === METRICS_PATH) {
      requireRoot(path, space)
      const { contentType, body } = await this.#deps.metrics.render()
      reply.type(contentType).send(body)
      return true
    }
    if (path === STATUSZ_PATH || path === CONFIGZ_PATH) {
      requireRoot(path, space)
      const page = path === CONFIGZ_PATH ? configz(this.#deps.settings) : await this.#statusz(request.headers.accept)
      reply.header('cache-control', 'no-cache, private').type(page.contentType).send(page.body)
      return true
    }
    const openId = this.#deps.openId[path]
    if (openId) {
      reply
        .header('content-type', path.endsWith('jwks') ? 'application/jwk-set+json' : 'application/json')
        .send(Buffer.from(JSON.stringify(openId(space))))
      return true
    }
    if (path.startsWith(OPENAPI)) return this.#deps.openApi.handle(request, reply, path, space)
    return await this.#discovery(request, reply, path, authorized)
  }

  async #statusz(accept: string | undefined): Promise<ZPage> {
    const { startedMs, version } = this.#deps
    const endpoints = ['/healthz', '/livez', '/readyz', '/version']
    const paths = [...endpoints, ...SERVER_WIDE_PATHS].sort()
    return statusz(accept, { startedMs, nowMs: Date.now(), version: await version(), paths })
  }

  async #discovery(
    request: Request,
    reply: Answer,
    path: string,
    { info, space }: AuthorizedRequest,
  ): Promise<boolean> {
    const { documents } = this.#deps
    const aggregated = path === '/api' || path === '/apis' ? aggregatedWanted(request.headers.accept) : undefined
    if (aggregated !== undefined) {
      const document = await documents.get(space, { path, form: aggregated })
      return document !== undefined && (await send(request, reply, document, aggregatedContentType(aggregated)))
    }
    const format = negotiateFormat(request.headers.accept, path !== '/')
    const indent = wantsPretty(info.query, request.headers['user-agent']) ? 2 : undefined
    const document = await documents.get(space, { path, form: { format, indent } })
    return document !== undefined && (await send(request, reply, document, CONTENT_TYPES[format]))
  }

  #exists(path: string, space: string): boolean {
    const { types } = this.#deps.types.in(space)
    return path === '/' || path.startsWith(OPENAPI) || servedPaths(types, space, this.#deps).includes(path)
  }
}

async function send(request: Request, reply: Answer, { hash, body }: KindDocument, contentType: string): Promise<true> {
  const etag = `"${hash}"`
  reply.header('etag', etag).header('vary', 'Accept').header('cache-control', 'public')
  if (request.headers['if-none-match'] === etag) reply.code(304).send()
  else
    reply
      .code(200)
      .header('content-type', contentType)
      .send(await body())
  return true
}

/** What `/` lists. */
export function servedPaths(
  types: TypeSet['types'],
  space: string,
  { health, openId }: Pick<NonResourceDeps, 'health' | 'openId'>,
): string[] {
  const checks = Object.keys(health.checks)
  const alive = checks.filter(name => !health.readinessOnly.includes(name))
  const probes = (endpoint: string, names: string[]): string[] => [endpoint, ...names.map(n => `${endpoint}/${n}`)]
  return [
    ...Object.keys(openId),
    '/api',
    '/api/v1',
    '/apis',
    ...apiGroupList(types).groups.flatMap(g => [`/apis/${g.name}`, ...g.versions.map(v => `/apis/${v.groupVersion}`)]),
    ...probes('/healthz', alive),
    ...probes('/livez', alive),
    ...(space === ROOT ? SERVER_WIDE_PATHS : []),
    '/openapi/v2',
    '/openapi/v3',
    ...probes('/readyz', checks),
    '/version',
  ].sort()
}
