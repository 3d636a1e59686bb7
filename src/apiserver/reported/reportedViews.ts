/**
 * `/services/reported/clusters/<space>`: a read-only API server of what all clusters report for one space, and below `/locations/<location>`
 * of what one of them does. Rights are those of the space; `*` stands for all spaces in which somebody has them. Discovery, OpenAPI and
 * endpoints are those of all spaces, over other kinds and another reader.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { StatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { age } from '../../kinds/printers/duration.ts'
import type { Column } from '../../kinds/printers/printer.ts'
import { reportedLocation, reportedSilence } from '../../placement/content/reportedObject.ts'
import type { ReportedCluster, ReportedDesk, ReportedPlaces } from '../../placement/desks/reported.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { DiscoveryDocuments } from '../discovery/discoveryDocuments.ts'
import { discoveryPaths } from '../discovery/discoveryPaths.ts'
import { kindDocuments } from '../discovery/kindDocuments.ts'
import { dispatch, exchangeFor } from '../endpoints/dispatch.ts'
import type { ServerServices, Services } from '../exchange/exchange.ts'
import type { Answer } from '../http/answer.ts'
import { type PathEntry, Paths } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import { type OpenApiDocuments, openApiOf } from '../openapi/documents.ts'
import { openApiPaths } from '../openapi/routes.ts'
import type { TypeSet } from '../types/typeRegistry.ts'
import { KeptReports } from './keptReports.ts'
import { MarkLog } from './markLog.ts'
import { ReportedKinds } from './reportedKinds.ts'
import { ReportedNames } from './reportedNames.ts'
import { ReportedReader } from './reportedReader.ts'
import { ReportedSources } from './reportedSources.ts'
import { spaceRights } from './spaceRights.ts'

export interface ReportedViewsDeps {
  services: ServerServices
  openApi: OpenApiDocuments
  /** `host:port` as clients reach it. */
  address: () => string
  version: PathEntry
}

const LOCATION_COLUMN: Column = {
  name: 'Location',
  type: 'string',
  description: 'The location of the cluster that reports the object.',
  cell: reportedLocation,
}
const SILENCE_COLUMN: Column = {
  name: 'Silent',
  type: 'string',
  description: 'The time since the last word of a cluster that is silent now: its objects may be others there.',
  cell: (object: Readonly<KubeObject>, now: Date) => {
    const since = reportedSilence(object)
    return since === undefined ? '' : age(since, now)
  },
}
const RETRY_SECONDS = 2
/** Sets of kinds of several spaces whose documents can be asked for. */
const ACROSS_KEPT = 64
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export class ReportedViews implements ReportedDesk {
  readonly #services: ServerServices
  readonly #kinds: ReportedKinds
  readonly #paths: Paths
  readonly #names = new ReportedNames()
  readonly #kept = new KeptReports()
  /** Kinds of views of several spaces, by their numbers in the names of these views. */
  readonly #across = new BoundedCache<number, TypeSet>(ACROSS_KEPT)
  readonly #numbers = new WeakMap<TypeSet, number>()
  #lastNumber = 0
  #places: ReportedPlaces | undefined
  #log: MarkLog | undefined

  constructor({ services, openApi, address, version }: ReportedViewsDeps) {
    this.#services = services
    this.#kinds = new ReportedKinds(services.types)
    const types = { in: (view: string): TypeSet => this.#typesOf(view) }
    const { protobuf, work: turns } = services
    // documents are made in the turns of the space that asks for them
    const work: Pick<WorkTurns, 'begin'> = {
      begin: ({ owner, ...rest }) => turns.begin({ ...rest, owner: spaceOf(owner) }),
    }
    const documents = kindDocuments(
      new DiscoveryDocuments({ types, protobuf, work, address, paths: view => this.#paths.listed(view) }),
      openApiOf(types, openApi),
    )
    this.#paths = new Paths([version, ...discoveryPaths({ types, documents }), ...openApiPaths({ documents, work })])
  }

  answerBy(places: ReportedPlaces | undefined): void {
    this.#log?.end()
    this.#places = places
    this.#log = places && new MarkLog(places, () => this.#services.reader.revision)
    this.#names.clear()
  }

  /** @throws StatusError, also by the promise */
  serve(request: Request, answer: Answer, authorized: AuthorizedRequest): Soon<void> {
    const { info, space } = authorized
    const { location } = info.reported!
    if (space === '*') return this.#serveAcross(request, answer, authorized)
    const one = location === undefined ? undefined : this.#known().cluster(space, location)
    if (!info.resource) return this.#paths.serve(request, answer, { ...authorized, space: viewOf(space, location) })
    this.#requireRead(request, answer, authorized)
    if (!one) this.#kinds.requireAlike(this.#known().clusters(space), info.resource)
    const services = one ? this.#overOne(space, one) : this.#overAll(space)
    return dispatch(services, exchangeFor(services, request, answer, authorized, {}))
  }

  async #serveAcross(request: Request, answer: Answer, authorized: AuthorizedRequest): Promise<void> {
    const { info } = authorized
    if (info.reported!.location !== undefined) throw oneAtATime()
    const { authorizer, work: turns } = this.#services
    const work = turns.begin({ owner: '*' })
    const rights = await spaceRights({ authorizer, places: this.#known(), work }, authorized)
    const clusters: ReportedCluster[] = []
    for (const space of rights.readable) {
      clusters.push(...this.#known().clusters(space))
      if (work.due) await work.rest()
    }
    if (!info.resource) {
      const view = viewOf('*', `${this.#numberOf(this.#kinds.all(clusters))}`)
      return await this.#paths.serve(request, answer, { ...authorized, space: view })
    }
    this.#requireRead(request, answer, authorized)
    this.#kinds.requireAlike(clusters, info.resource)
    const services: Services = {
      ...this.#overSpaces(rights.readable, clusters),
      openAccess: { hold: (...what) => rights.hold(this.#services.openAccess, ...what) },
    }
    const exchange = exchangeFor(services, request, answer, authorized, {})
    if (rights.refused > 0) exchange.warnings.push(leftOut(rights.refused, exchange.type.resource))
    await dispatch(services, exchange)
  }

  #requireRead(request: Request, answer: Answer, { info, space }: AuthorizedRequest): void {
    if (READS.has(info.verb) && request.method === 'GET') return
    answer.header('allow', 'GET')
    throw readOnly(space === '*' ? '<space>' : this.#services.spaceName(space), info.path)
  }

  /** Services of the endpoints, over one mailbox. */
  #overOne(space: string, cluster: ReportedCluster): Services {
    const { mailbox } = cluster
    const services = this.#services
    return {
      ...services,
      types: { in: () => this.#kinds.of([cluster]) },
      columns: silenceOf([cluster]),
      reader: this.#readerOf(new Set([space]), cluster),
      derived: undefined,
      watchScope: (_space, group, resource) => {
        const { gone, closing } = services.watchScope(mailbox, group, resource)
        return { gone: AbortSignal.any([gone, services.watchScope(space, group, resource).gone]), closing }
      },
    }
  }

  /** The same over all mailboxes of a space. */
  #overAll(space: string): Services {
    const services = this.#overSpaces(new Set([space]), this.#known().clusters(space))
    return {
      ...services,
      watchScope: (_space, group, resource) => {
        const { gone, closing } = services.watchScope('*', group, resource)
        return { gone: AbortSignal.any([gone, this.#services.watchScope(space, group, resource).gone]), closing }
      },
    }
  }

  #overSpaces(spaces: ReadonlySet<string>, clusters: readonly ReportedCluster[]): Services {
    const services = this.#services
    return {
      ...services,
      types: { in: () => this.#kinds.of(clusters) },
      reader: this.#readerOf(spaces),
      columns: [LOCATION_COLUMN, ...silenceOf(clusters)],
      derived: undefined,
      watchScope: (_space, group, resource) => services.watchScope('*', group, resource),
    }
  }

  /** `one`: of the one space. */
  #readerOf(spaces: ReadonlySet<string>, one?: ReportedCluster): ReportedReader {
    const { reader } = this.#services
    const [places, names, kept] = [this.#known(), this.#names, this.#kept]
    const sources = new ReportedSources({ places, names, kept, reader, spaces, ...(one && { one }) })
    return new ReportedReader({ reader, sources, log: this.#log! })
  }

  #known(): ReportedPlaces {
    if (this.#places) return this.#places
    throw new StatusError(
      'ServiceUnavailable',
      'the controller "placement" does not run; it may be starting, or be left out by --controllers',
      { retryAfterSeconds: RETRY_SECONDS },
    )
  }

  #typesOf(view: string): TypeSet {
    const space = spaceOf(view)
    const rest = view.slice(space.length + 1)
    if (space === '*') return this.#across.get(Number(rest))!
    const places = this.#known()
    return this.#kinds.all(rest === '' ? places.clusters(space) : [places.cluster(space, rest)])
  }

  #numberOf(set: TypeSet): number {
    const number = this.#numbers.get(set) ?? ++this.#lastNumber
    this.#numbers.set(set, number)
    this.#across.set(number, set)
    return number
  }
}

/** Tables have the column while one of the clusters is silent. */
function silenceOf(clusters: readonly ReportedCluster[]): readonly Column[] {
  return clusters.some(({ silentSince }) => silentSince !== undefined) ? [SILENCE_COLUMN] : []
}

/** A view in the place of a space's id, for documents. No id has a slash. */
function viewOf(space: string, location = ''): string {
  return `${space}/${location}`
}

function spaceOf(view: string): string {
  const slash = view.indexOf('/')
  return slash < 0 ? view : view.slice(0, slash)
}

function readOnly(space: string, path: string): StatusError {
  return new StatusError(
    'MethodNotAllowed',
    `reports of clusters are read-only; write at /clusters/${space}${path}, and its placements carry that to clusters`,
  )
}

function oneAtATime(): StatusError {
  return new StatusError(
    'BadRequest',
    'locations have names in one space each; ask at /services/reported/clusters/<space>/locations/<location>',
  )
}

function leftOut(count: number, resource: string): string {
  return `${count === 1 ? '1 space is' : `${count} spaces are`} left out: ${resource} may not be read there`
}
