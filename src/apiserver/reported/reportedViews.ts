/**
 * `/services/reported/clusters/<space>`: a read-only API server of what all clusters report for one space, and below `/locations/<location>`
 * of what one of them does. Rights are those of the space; `*` stands for all spaces in which somebody has them. Discovery, OpenAPI and
 * endpoints are those of all spaces, over other kinds and another reader.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { age } from '../../kinds/printers/duration.ts'
import type { Column } from '../../kinds/printers/printer.ts'
import { reportedLocation, reportedSilence } from '../../placement/content/reportedObject.ts'
import type { ReportedCluster, ReportedDesk, ReportedPlaces } from '../../placement/desks/reported.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { Revision } from '../../storage/store.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { EXTRAS } from '../auth/users.ts'
import { dispatch, exchangeFor } from '../endpoints/dispatch.ts'
import type { ServerServices, Services } from '../exchange/exchange.ts'
import { ENDLESS } from '../exchange/watchScopes.ts'
import type { Answer } from '../http/answer.ts'
import { type PathEntry, Paths } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import { documentPaths } from '../openapi/documentPaths.ts'
import type { OpenApiDocuments } from '../openapi/documents.ts'
import { nameAware } from '../request/requestInfo.ts'
import type { TypeSet } from '../types/typeRegistry.ts'
import { KeptReports } from './keptReports.ts'
import { MarkLog } from './markLog.ts'
import { ReportedKinds, type SpaceClusters } from './reportedKinds.ts'
import { ReportedNames } from './reportedNames.ts'
import { ReportedReader } from './reportedReader.ts'
import { ReportedSources, type ReportedSourcesDeps } from './reportedSources.ts'
import { ServedSpaces } from './servedSpaces.ts'
import { spaceRights } from './spaceRights.ts'

export interface ReportedViewsDeps {
  services: ServerServices
  openApi: OpenApiDocuments
  tenantOf: (space: string) => string
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
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export class ReportedViews implements ReportedDesk {
  readonly #services: ServerServices
  readonly #kinds: ReportedKinds
  readonly #paths: Paths
  readonly #names = new ReportedNames()
  readonly #kept = new KeptReports()
  /** Kinds of views of several spaces with a running request for a document, by the names of these views. */
  readonly #across = new Map<string, { readonly types: TypeSet; requests: number }>()
  readonly #numbers = new WeakMap<TypeSet, number>()
  #lastNumber = 0
  #places: ReportedPlaces | undefined
  #log: MarkLog | undefined

  constructor({ services, tenantOf, openApi, address, version }: ReportedViewsDeps) {
    this.#services = services
    this.#kinds = new ReportedKinds(services.types, tenantOf)
    const types = { in: (view: string): TypeSet => this.#typesOf(view) }
    const { protobuf, work: turns } = services
    // documents are made in the turns of the space that asks for them
    const work: Pick<WorkTurns, 'begin'> = {
      begin: ({ owner, ...rest }) => turns.begin({ ...rest, owner: spaceOf(owner) }),
    }
    const paths = (view: string): readonly string[] => this.#paths.listed(view)
    this.#paths = new Paths([version, ...documentPaths({ types, protobuf, work, address, paths, openApi })])
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
    if (location === undefined) return this.#serveMerged(request, answer, authorized)
    if (space === '*') throw oneAtATime()
    const one = this.#known().cluster(space, location)
    if (!info.resource) return this.#paths.serve(request, answer, { ...authorized, space: viewOf(space, location) })
    this.#requireRead(request, answer, authorized)
    const services = this.#overOne(space, one)
    return dispatch(services, exchangeFor(services, request, answer, authorized, {}))
  }

  /** View of all clusters of a space, or of all spaces that a user may read. */
  async #serveMerged(request: Request, answer: Answer, authorized: AuthorizedRequest): Promise<void> {
    const { info, space } = authorized
    const { authorizer, work: turns, openAccess } = this.#services
    const work = turns.begin({ owner: space })
    const [places, kinds] = [this.#known(), this.#kinds]
    const rights = space === '*' ? await spaceRights({ authorizer, places, work }, authorized) : undefined
    const spaces = await ServedSpaces.of(rights?.readable ?? new Set([space]), { places, kinds, work })
    if (!info.resource) {
      const types = kinds.all(spaces.known)
      const view = viewOf(space, rights && `${this.#numberOf(types)}`)
      await this.#whileUsed(view, types, () => this.#paths.serve(request, answer, { ...authorized, space: view }))
      return
    }
    this.#requireRead(request, answer, authorized)
    const kind = info.resource
    const alike = spaces.alike(kind)
    const merged: Services = {
      ...this.#overSpaces(alike, rights && this.#servedSince(authorized, alike, spaces.unknown === 0)),
      openAccess: {
        hold: (permission, end) =>
          spaces.hold(
            kind,
            end,
            ended => rights?.hold(openAccess, permission, ended) ?? openAccess.hold(permission, ended),
          ),
      },
    }
    const services = rights ? merged : { ...merged, watchScope: this.#within(space) }
    const exchange = exchangeFor(services, request, answer, authorized, {})
    const { resource } = exchange.type
    for (const [count, why] of [
      [rights?.refused ?? 0, `${resource} may not be read there`],
      [spaces.unknown, 'their clusters are not known yet'],
      [spaces.known.length - alike.length, `${resource} are defined otherwise there`],
    ] as const)
      if (count > 0) exchange.warnings.push(leftOut(count, why))
    await dispatch(services, exchange)
  }

  async #whileUsed(view: string, types: TypeSet, serve: () => Soon<void>): Promise<void> {
    const used = getOrInsert(this.#across, view, () => ({ types, requests: 0 }))
    used.requests++
    try {
      await serve()
    } finally {
      if (--used.requests === 0) this.#across.delete(view)
    }
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
      types: { in: () => this.#kinds.of([{ space, clusters: [cluster] }]) },
      columns: silenceOf([cluster]),
      reader: this.#readerOf({ spaces: new Set([space]), one: cluster }),
      derived: undefined,
      watchScope: (_space, group, resource) => {
        const { gone, closing } = services.watchScope(mailbox, group, resource)
        return { gone: AbortSignal.any([gone, services.watchScope(space, group, resource).gone]), closing }
      },
    }
  }

  /** `since`: revision since which these are served. */
  #overSpaces(spaces: readonly SpaceClusters[], since?: Revision): Services {
    const services = this.#services
    const clusters = spaces.flatMap(each => each.clusters)
    const types = this.#kinds.of(spaces)
    return {
      ...services,
      types: { in: () => types },
      reader: this.#readerOf({ spaces: new Set(spaces.map(({ space }) => space)), since }),
      columns: [LOCATION_COLUMN, ...silenceOf(clusters)],
      derived: undefined,
      watchScope: () => ({ gone: ENDLESS, closing: ENDLESS }),
    }
  }

  #readerOf(what: Pick<ReportedSourcesDeps, 'spaces' | 'one' | 'since'>): ReportedReader {
    const { reader } = this.#services
    const sources = new ReportedSources({
      places: this.#known(),
      names: this.#names,
      kept: this.#kept,
      reader,
      ...what,
    })
    return new ReportedReader({ reader, sources, log: this.#log! })
  }

  #servedSince({ info, user }: AuthorizedRequest, spaces: readonly SpaceClusters[], isWhole: boolean): Revision {
    const { name, groups, extra } = user
    const { group, resource, namespace, name: object } = nameAware(info, info.resource!)
    // accounts of several spaces may have one name; rights may be those in a namespace, or to one object
    const reader = JSON.stringify([name, groups, extra?.[EXTRAS.clusterName], group, resource, namespace, object])
    const served = { spaces: spaces.map(({ space }) => space), isWhole }
    return this.#names.servedSince({ reader, isWatch: info.verb === 'watch' }, served, this.#services.reader.revision)
  }

  /** A watch ends with the space. Kinds are those of the clusters. */
  #within(space: string): Services['watchScope'] {
    const { watchScope } = this.#services
    return (_space, group, resource) => ({ gone: watchScope(space, group, resource).gone, closing: ENDLESS })
  }

  #spaceNow(space: string): SpaceClusters {
    return { space, clusters: this.#known().clusters(space) }
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
    const across = this.#across.get(view)
    if (across) return across.types
    const space = spaceOf(view)
    const location = view.slice(space.length + 1)
    if (location === '') return this.#kinds.all([this.#spaceNow(space)])
    return this.#kinds.all([{ space, clusters: [this.#known().cluster(space, location)] }])
  }

  #numberOf(set: TypeSet): number {
    return getOrInsert(this.#numbers, set, () => ++this.#lastNumber)
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

function leftOut(count: number, why: string): string {
  return `${count === 1 ? '1 space is' : `${count} spaces are`} left out: ${why}`
}
