/** What is not a resource: health, version, metrics, discovery, OpenAPI, the keys of ServiceAccount tokens. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProtobufCodec } from '../../apimachinery/protobuf/protobufCodec.ts'
import { inSlices, type Steps } from '../../apimachinery/steps.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { aggregatedContentType, aggregatedDiscovery, aggregatedWanted } from '../discovery/aggregated.ts'
import { aggregatedProtobuf } from '../discovery/aggregatedProtobuf.ts'
import { apiGroup, apiGroupList, apiResourceList, apiVersions } from '../discovery/discovery.ts'
import { methodNotAllowed } from '../endpoints/methods.ts'
import { CONTENT_TYPES, negotiateFormat, PLAIN, wantsPretty } from '../endpoints/negotiate.ts'
import { sendValue } from '../endpoints/respond.ts'
import { yamlTextInSteps } from '../endpoints/yamlWriter.ts'
import type { FlowControl } from '../flowcontrol/flowControl.ts'
import { DUMP_PATHS, flowDump } from '../flowcontrol/flowDumps.ts'
import type { OpenApiRoutes } from '../openapi/routes.ts'
import { BUDGET_PATH, type BudgetDocument } from '../spaces/budgetDocument.ts'
import { ROOT } from '../spaces/tree.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'
import { answerHealth, type Health } from './health.ts'
import type { Metrics } from './metrics.ts'
import type { AuthorizedRequest } from './pipeline.ts'
import { METRICS_PATH, requireRoot, SERVER_WIDE_PATHS } from './serverWide.ts'
import { CONFIGZ_PATH, configz, STATUSZ_PATH, statusz, type ZPage } from './zPages.ts'

export interface NonResourceDeps {
  types: TypeRegistry
  protobuf: ProtobufCodec
  metrics: Metrics
  openApi: OpenApiRoutes
  flowControl: FlowControl
  /** `host:port` as clients reach it. */
  address: () => string
  version: () => Promise<Readonly<Record<string, string>>>
  /** What the server was told, for `/configz`. */
  settings: Readonly<Record<string, unknown>>
  /** When it started, milliseconds since the epoch. */
  startedMs: number
  health: Health
  /** What a space holds and may hold. Absent where there are no spaces. */
  budget?: ((space: string) => BudgetDocument) | undefined
  /** OpenID discovery of a space's token issuer, by path. */
  openId: Readonly<Record<string, (space: string) => unknown>>
  /** In whose slices documents of many kinds are made. */
  work: WorkTurns
}

/** Documents made from a set of types, kept as long as the set lives: it is replaced when a CRD changes. */
interface Prepared {
  body: Buffer
  etag: string
}

/** A document, or the steps that make it. */
type Made = string | Buffer | Steps<string | Buffer>

export class NonResourceRoutes {
  readonly #deps: NonResourceDeps
  readonly #prepared = new WeakMap<TypeSet, Map<string, Prepared | Promise<Prepared>>>()

  constructor(deps: NonResourceDeps) {
    this.#deps = deps
  }

  /** False when there is no such path. */
  async handle(request: FastifyRequest, reply: FastifyReply, authorized: AuthorizedRequest): Promise<boolean> {
    const { info, space } = authorized
    const path = info.path.length > 1 && info.path.endsWith('/') ? info.path.slice(0, -1) : info.path
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      if (!this.#exists(path, space)) return false
      reply.header('Allow', 'GET, HEAD')
      throw methodNotAllowed()
    }
    if (path === BUDGET_PATH && this.#deps.budget !== undefined) {
      reply.type('application/json').send(JSON.stringify(this.#deps.budget(space)))
      return true
    }
    if (await answerHealth(this.#deps.health, reply, path, info.query)) return true
    if (path === '/version') {
      await sendValue(
        this.#deps,
        { reply, info, form: { ...PLAIN, format: negotiateFormat(request.headers.accept) }, warnings: [] },
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
      reply.header('Cache-Control', 'no-cache, private').type(page.contentType).send(page.body)
      return true
    }
    const dump = space === ROOT ? flowDump(this.#deps.flowControl, path, info.query) : undefined
    if (dump !== undefined) {
      reply.type('text/plain; charset=utf-8').send(dump)
      return true
    }
    const openId = this.#deps.openId[path]
    if (openId) {
      reply
        .type(path.endsWith('jwks') ? 'application/jwk-set+json' : 'application/json')
        .send(JSON.stringify(openId(space)))
      return true
    }
    if (path.startsWith('/openapi/')) return this.#deps.openApi.handle(request, reply, path, space)
    return await this.#discovery(request, reply, path, authorized)
  }

  async #statusz(accept: string | undefined): Promise<ZPage> {
    const { startedMs, version } = this.#deps
    const endpoints = ['/healthz', '/livez', '/readyz', '/version']
    const paths = [...endpoints, ...SERVER_WIDE_PATHS].sort()
    return statusz(accept, { startedMs, nowMs: Date.now(), version: await version(), paths })
  }

  async #discovery(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    { info, space }: AuthorizedRequest,
  ): Promise<boolean> {
    const set = this.#deps.types.in(space)
    const root = path === '/api' ? 'api' : path === '/apis' ? 'apis' : undefined
    const form = root && aggregatedWanted(request.headers.accept)
    if (root && form) {
      const contentType = aggregatedContentType(form)
      const prepared = this.#prepare(set, `${path} ${contentType}`, space, () => {
        const document = aggregatedDiscovery(set.types, { root, version: form.version })
        return form.format === 'json' ? `${JSON.stringify(document)}\n` : aggregatedProtobuf(document)
      })
      return this.#send(request, reply, await prepared, contentType)
    }
    const format = negotiateFormat(request.headers.accept, path !== '/')
    const indent = wantsPretty(info.query, request.headers['user-agent']) ? 2 : undefined
    // Only paths of what exists are remembered, so clients cannot grow the memory.
    const key = `${path === '/' && space === ROOT ? ROOT : ''}${path} ${format} ${indent}`
    const known = this.#prepared.get(set)?.get(key)
    const document = known === undefined ? this.#document(path, set.types, space) : undefined
    if (known === undefined && document === undefined) return false
    const prepared =
      known ??
      this.#prepare(set, key, space, () =>
        format === 'protobuf'
          ? this.#deps.protobuf.encode({ apiVersion: '', ...(document as { kind: string }) })
          : format === 'yaml'
            ? yamlTextInSteps(document)
            : `${JSON.stringify(document, undefined, indent)}\n`,
      )
    return this.#send(request, reply, await prepared, CONTENT_TYPES[format])
  }

  /** `undefined` when a space with these types has no such path. */
  #document(path: string, types: TypeSet['types'], space: string): unknown {
    if (path === '/') return { paths: this.#paths(types, space) }
    if (path === '/api') return apiVersions(types, this.#deps.address())
    if (path === '/apis') return apiGroupList(types)
    const parts = path.split('/').slice(1)
    if (parts[0] === 'api' && parts.length === 2) return apiResourceList(types, '', parts[1]!)
    if (parts[0] === 'apis' && parts.length === 2) return apiGroup(types, parts[1]!)
    if (parts[0] === 'apis' && parts.length === 3) return apiResourceList(types, parts[1]!, parts[2]!)
    return undefined
  }

  #exists(path: string, space: string): boolean {
    const { types } = this.#deps.types.in(space)
    return path === '/' || path.startsWith('/openapi/') || this.#paths(types, space).includes(path)
  }

  #paths(types: TypeSet['types'], space: string): string[] {
    const { health, openId } = this.#deps
    const checks = Object.keys(health.checks)
    const alive = checks.filter(name => !health.readinessOnly.includes(name))
    const probes = (endpoint: string, names: string[]): string[] => [endpoint, ...names.map(n => `${endpoint}/${n}`)]
    return [
      ...Object.keys(openId),
      '/api',
      '/api/v1',
      '/apis',
      ...apiGroupList(types).groups.flatMap(g => [
        `/apis/${g.name}`,
        ...g.versions.map(v => `/apis/${v.groupVersion}`),
      ]),
      ...(space === ROOT ? DUMP_PATHS : []),
      ...probes('/healthz', alive),
      ...probes('/livez', alive),
      ...(space === ROOT ? SERVER_WIDE_PATHS : []),
      '/openapi/v2',
      '/openapi/v3',
      ...probes('/readyz', checks),
      '/version',
    ].sort()
  }

  /** Those who ask for a document while it is made share it. */
  #prepare(set: TypeSet, key: string, space: string, make: () => Made): Prepared | Promise<Prepared> {
    let documents = this.#prepared.get(set)
    if (documents === undefined) {
      documents = new Map()
      this.#prepared.set(set, documents)
    }
    const known = documents.get(key)
    if (known !== undefined) return known
    const made = make()
    if (typeof made === 'string' || Buffer.isBuffer(made)) {
      const document = preparedOf(made)
      documents.set(key, document)
      return document
    }
    const kept = documents
    const making = inSlices(made, this.#deps.work.begin({ owner: space })).then(body => {
      const document = preparedOf(body)
      kept.set(key, document)
      return document
    })
    making.catch(() => kept.delete(key))
    documents.set(key, making)
    return making
  }

  #send(request: FastifyRequest, reply: FastifyReply, document: Prepared, contentType: string): boolean {
    reply.header('ETag', document.etag).header('Vary', 'Accept').header('Cache-Control', 'public')
    if (request.headers['if-none-match'] === document.etag) reply.code(304).send()
    else reply.code(200).header('Content-Type', contentType).send(document.body)
    return true
  }
}

function preparedOf(made: string | Buffer): Prepared {
  const body = typeof made === 'string' ? Buffer.from(made) : made
  return { body, etag: `"${createHash('sha256').update(body).digest('hex').toUpperCase()}"` }
}
