/**
 * `/services/reported/clusters/<space>/locations/<location>`: a read-only API server of what one cluster reports for one space. Rights are
 * those of the space. Discovery, OpenAPI and endpoints are those of all spaces, over other kinds and another reader.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { LOGICAL_CLUSTERS } from '../../apimachinery/resources.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import type { ReportedCluster, ReportedDesk, ReportedPlaces } from '../../placement/desks/reported.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import { DiscoveryDocuments } from '../discovery/discoveryDocuments.ts'
import { discoveryPaths } from '../discovery/discoveryPaths.ts'
import { kindDocuments } from '../discovery/kindDocuments.ts'
import { dispatch, exchangeFor } from '../endpoints/dispatch.ts'
import type { Services } from '../exchange/exchange.ts'
import type { Answer } from '../http/answer.ts'
import { type PathEntry, Paths } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import { type OpenApiDocuments, openApiOf } from '../openapi/documents.ts'
import { openApiPaths } from '../openapi/routes.ts'
import type { TypeSet } from '../types/typeRegistry.ts'
import { MarkLog } from './markLog.ts'
import { ReportedKinds } from './reportedKinds.ts'
import { ReportedReader } from './reportedReader.ts'

export interface ReportedViewsDeps {
  services: Services
  openApi: OpenApiDocuments
  /** `host:port` as clients reach it. */
  address: () => string
  version: PathEntry
}

const RETRY_SECONDS = 2
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export class ReportedViews implements ReportedDesk {
  readonly #services: Services
  readonly #kinds: ReportedKinds
  readonly #paths: Paths
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
  }

  /** @throws StatusError, also by the promise */
  serve(request: Request, answer: Answer, authorized: AuthorizedRequest): Soon<void> {
    const { info, space } = authorized
    const { location } = info.reported!
    if (space === '*') throw oneAtATime()
    const cluster = this.#clusterOf(space, location)
    if (!info.resource) return this.#paths.serve(request, answer, { ...authorized, space: viewOf(space, location) })
    if (!READS.has(info.verb) || request.method !== 'GET') {
      answer.header('allow', 'GET')
      throw readOnly(this.#services.spaceName(space), info.path)
    }
    const services = this.#over(space, cluster)
    return dispatch(services, exchangeFor(services, request, answer, authorized, {}))
  }

  /** Services of the endpoints, over one mailbox. */
  #over(space: string, cluster: ReportedCluster): Services {
    const { mailbox, location, marks } = cluster
    const log = this.#log!
    const services = this.#services
    const { group, version, resource } = LOGICAL_CLUSTERS
    const births = services.types.in(mailbox).find(group, version, resource)
    return {
      ...services,
      types: { in: () => this.#kinds.of(cluster) },
      reader: new ReportedReader({ reader: services.reader, mailbox, births, to: { space, location }, marks, log }),
      derived: undefined,
      watchScope: (_space, group, resource) => {
        const { gone, closing } = services.watchScope(mailbox, group, resource)
        return { gone: AbortSignal.any([gone, services.watchScope(space, group, resource).gone]), closing }
      },
    }
  }

  #clusterOf(space: string, location: string): ReportedCluster {
    if (this.#places) return this.#places.cluster(space, location)
    throw new StatusError(
      'ServiceUnavailable',
      'the placement-translator does not run; it may be starting, or be left out by --controllers',
      { retryAfterSeconds: RETRY_SECONDS },
    )
  }

  #typesOf(view: string): TypeSet {
    const space = spaceOf(view)
    return this.#kinds.all(this.#clusterOf(space, view.slice(space.length + 1)))
  }
}

/** A view in the place of a space's id, for documents. No id has a slash. */
function viewOf(space: string, location: string): string {
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
    'reports of clusters are answered for one space at a time; ask at /services/reported/clusters/<space>/locations/<location>',
  )
}
