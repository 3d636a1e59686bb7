/**
 * A request on its way in: which space, who asks, whether they may. What comes out is ready for an endpoint.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { AccessWitness } from '../audit/auditTrail.ts'
import { forbidden } from '../auth/forbidden.ts'
import { impersonate } from '../auth/impersonation.ts'
import type { Attributes, Authentication, Authenticator, Authorizer, Decision, UserInfo } from '../auth/types.ts'
import { allowsAnonymous, anonymousUser, effectiveUser, GROUPS } from '../auth/users.ts'
import { nameAware, parseRequest, type RequestInfo, type ResourceRequest } from '../request/requestInfo.ts'
import { ROOT, type SpaceTree } from '../spaces/tree.ts'
import { isServerWide } from './serverWide.ts'
import { bearerOfProtocols } from './webSocketToken.ts'

export interface PipelineDeps {
  tree: SpaceTree
  authenticator: Authenticator
  authorizer: Authorizer & { mayAccessSpace(user: UserInfo, space: string): Promise<boolean> }
  /** False for a plain cluster: there is no `/clusters`. */
  spaces: boolean
  /** Whether whoever brings no credentials is system:anonymous instead of refused. */
  anonymousAuth: boolean
  /** Hears on which connections requests come whose credential is good. */
  known?: ((socket: TLSSocket) => void) | undefined
}

export interface AuthorizedRequest {
  info: RequestInfo
  user: UserInfo
  /** Logical-cluster id, or `*`. */
  space: string
}

export interface RawRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  /**
   * Repeated headers apart (impersonated groups); seldom asked for. Not a getter: each literal with one makes a hidden class
   * that holds its request until the old generation is collected, which tripled the cost of garbage.
   */
  distinctHeaders(): NodeJS.Dict<string[]>
  socket: TLSSocket
}

/** Verbs that can leave something behind. */
const CREATES: ReadonlySet<string> = new Set(['create', 'update', 'patch'])

const ALLOWED: Decision = { allowed: true, reason: '' }
const BEARER = /^bearer /i
const NO_ACCESS = 'workspace access not permitted'

export class Pipeline {
  readonly #deps: PipelineDeps
  /** One object for each connection, so that what it means is worked out once. */
  readonly #certificates = new WeakMap<TLSSocket, ReturnType<TLSSocket['getPeerX509Certificate']> | null>()

  /** By their refusals. */
  readonly #refused = new WeakMap<StatusError, AuthorizedRequest>()

  constructor(deps: PipelineDeps) {
    this.#deps = deps
  }

  /** The request that was refused with this because its user may not do that, in a space that they may enter. */
  refusedBy(error: StatusError): AuthorizedRequest | undefined {
    return this.#refused.get(error)
  }

  /**
   * `witness` is told of each step as it is done.
   * @throws StatusError BadRequest, Unauthorized, Forbidden, NotFound (unknown space), MethodNotAllowed
   */
  async authorize(request: RawRequest, witness?: AccessWitness): Promise<AuthorizedRequest> {
    const info = parseRequest(request.method, request.url)
    witness?.parsed(info)
    const identity = await this.#authenticate(request, info)
    if (!identity.user.groups.includes(GROUPS.unauthenticated)) this.#deps.known?.(request.socket)
    witness?.identified(identity.user)
    const space = await this.#spaceOf(info, identity)
    witness?.located(space)
    let user = identity.user
    if (hasImpersonation(request.headers)) {
      const { authorizer } = this.#deps
      // A refusal to impersonate tells that there is a space: whoever may not enter it does not get so far.
      if (!(await this.#mayEnter(user, space))) {
        witness?.decided({ allowed: false, reason: NO_ACCESS })
        throw noAccess(user, info)
      }
      user =
        (await impersonate(user, request.distinctHeaders(), {
          space,
          authorize: attributes => authorizer.authorize(attributes),
        })) ?? user
      witness?.impersonated(user)
    }
    const decision = await this.#decide(info, user, space)
    witness?.decided(decision)
    if (decision.allowed) return { info, user, space }
    // Of a space that somebody may not enter nothing is told, not even that it is there.
    if (decision.refusal && decision.reason !== NO_ACCESS) this.#refused.set(decision.refusal, { info, user, space })
    throw decision.refusal
  }

  async #authenticate(request: RawRequest, info: RequestInfo): Promise<Authentication> {
    const { authorization } = request.headers
    const token =
      authorization === undefined
        ? bearerOfProtocols(request.headers)
        : BEARER.test(authorization)
          ? authorization.slice(7).trim()
          : undefined
    const certificate = this.#certificateOf(request.socket)
    const known = await this.#deps.authenticator.authenticate({
      ...(certificate && { certificate }),
      ...(token && { token }),
    })
    if (known !== undefined) return known
    const open = allowsAnonymous(info.path) && info.space === undefined
    if (open || this.#deps.anonymousAuth) return { user: anonymousUser() }
    throw statusError.unauthorized()
  }

  #certificateOf(socket: TLSSocket): NonNullable<ReturnType<TLSSocket['getPeerX509Certificate']>> | undefined {
    let certificate = this.#certificates.get(socket)
    if (certificate === undefined) {
      certificate = (socket.authorized && socket.getPeerX509Certificate?.()) || null
      this.#certificates.set(socket, certificate)
    }
    return certificate ?? undefined
  }

  async #spaceOf(info: RequestInfo, identity: Authentication): Promise<string> {
    const { tree, spaces } = this.#deps
    if (info.space === undefined) return spaces && !isServerWide(info.path) ? (identity.space ?? ROOT) : ROOT
    if (!spaces) throw statusError.notFound(WORKSPACES, info.space)
    const superuser = identity.user.groups.includes(GROUPS.masters)
    if (info.space === '*') {
      if (!superuser) throw noAccess(identity.user, info)
      const collection = info.verb === 'list' || info.verb === 'watch'
      if (info.resource && !collection) {
        throw new StatusError(
          'MethodNotAllowed',
          `${info.verb} is not supported on resources of kind "${groupResourceName(info.resource)}" in the \`*\` logical cluster`,
        )
      }
      return '*'
    }
    const resolution = tree.resolve(info.space)
    if (resolution.found) {
      const { id } = resolution.space
      // Nothing new may come into a space that is being emptied; administrators may look at what is left.
      if (tree.isDeleting(id) && (!superuser || CREATES.has(info.verb))) throw noAccess(identity.user, info)
      return id
    }
    if (superuser) throw unknownSpace(info.space, resolution.ancestor?.path)
    const { ancestor } = resolution
    const knows =
      ancestor !== undefined &&
      (await this.#deps.authorizer.mayAccessSpace(effectiveUser(identity.user, ancestor.id), ancestor.id))
    const listable = knows && (await this.#mayListWorkspaces(identity.user, ancestor.id))
    throw listable ? unknownSpace(info.space, ancestor.path) : noAccess(identity.user, info)
  }

  async #mayEnter(user: UserInfo, space: string): Promise<boolean> {
    const { authorizer, spaces } = this.#deps
    const effective = effectiveUser(user, space)
    return !spaces || effective.groups.includes(GROUPS.masters) || (await authorizer.mayAccessSpace(effective, space))
  }

  async #mayListWorkspaces(user: UserInfo, space: string): Promise<boolean> {
    const resource = {
      ...WORKSPACES,
      subresource: '',
      namespace: '',
      name: '',
    }
    const decision = await this.#deps.authorizer.authorize({
      user: effectiveUser(user, space),
      space,
      verb: 'list',
      resource,
      path: '',
      ownOnly: true,
    })
    return decision.allowed
  }

  async #decide(info: RequestInfo, user: UserInfo, space: string): Promise<Decision & { refusal?: StatusError }> {
    const effective = effectiveUser(user, space)
    if (effective.groups.includes(GROUPS.masters)) return ALLOWED
    if (allowsAnonymous(info.path) && info.space === undefined) return ALLOWED
    if (!(await this.#mayEnter(user, space))) {
      return { allowed: false, reason: NO_ACCESS, refusal: noAccess(user, info) }
    }
    // A space stream shows every kind: whoever may watch everything may have it.
    const everything = { group: '*', version: '*', resource: '*', subresource: '', namespace: '', name: '' }
    const resource = info.stream ? everything : info.resource && nameAware(info, namespaceAware(info.resource))
    const attributes: Attributes = {
      user: effective,
      space,
      verb: info.stream ? 'watch' : info.verb,
      path: info.path,
      ...(resource && { resource }),
    }
    const decision = await this.#deps.authorizer.authorize(attributes)
    return decision.allowed ? decision : { ...decision, refusal: forbidden(attributes, decision.reason) }
  }
}

/** For authorization a Namespace is in the namespace of its own name. */
function namespaceAware(resource: ResourceRequest): ResourceRequest {
  return resource.group === '' && resource.resource === 'namespaces' && resource.name !== ''
    ? { ...resource, namespace: resource.name }
    : resource
}

function hasImpersonation(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

/**
 * Deliberately the same for spaces that do not exist and for spaces that are closed to the user, who therefore goes by their own
 * name and not by that of the stranger that they are there.
 */
function noAccess(user: UserInfo, info: RequestInfo): StatusError {
  const path = `/clusters/${info.space ?? ROOT}${info.path}`
  return new StatusError(
    'Forbidden',
    `forbidden: User ${JSON.stringify(user.name)} cannot get path ${JSON.stringify(path)}: ${NO_ACCESS}`,
  )
}

function unknownSpace(path: string, ancestor: string | undefined): StatusError {
  const nearest = ancestor === undefined ? 'no part of that path exists' : `the nearest existing space is "${ancestor}"`
  return new StatusError('NotFound', `${groupResourceName(WORKSPACES)} "${path}" not found: ${nearest}`, {
    name: path,
    group: WORKSPACES.group,
    kind: WORKSPACES.resource,
  })
}
