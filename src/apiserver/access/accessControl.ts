/** Authentication and authorization of a request: its space, its user, whether that user may do it. An endpoint gets those that may. */
import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { forbidden } from '../auth/forbidden.ts'
import { impersonate } from '../auth/impersonation.ts'
import { questionOf } from '../auth/questions.ts'
import type {
  Attributes,
  Authentication,
  Authenticator,
  Authorizer,
  Decision,
  Permission,
  UserInfo,
} from '../auth/types.ts'
import { allowsAnonymous, anonymousUser, effectiveUser, GROUPS, isStranger } from '../auth/users.ts'
import { nameAware, parseRequest, type RequestInfo, type ResourceRequest } from '../request/requestInfo.ts'
import { ROOT, type Space, type SpaceTree } from '../spaces/tree.ts'
import { type Forwarded, type HostRules, type HostToken, UNPROVEN, unproven } from './forwarded.ts'
import { type RawRequest, RequestCredentials } from './requestCredentials.ts'

export interface AccessControlDeps {
  tree: SpaceTree
  authenticator: Authenticator
  authorizer: Authorizer & { mayAccessSpace(user: UserInfo, space: string): Soon<boolean> }
  /** False for a plain cluster: there is no `/clusters`. */
  spaces: boolean
  /** Whether a path is about the server as a whole: rights in root count, whatever space a credential belongs to. */
  isServerWide(path: string): boolean
  /** Whether whoever brings no credentials is system:anonymous instead of refused. */
  anonymousAuth: boolean
  /** Called with the connection of each request whose credential is good. */
  known?: ((socket: TLSSocket) => void) | undefined
  /** Judge requests that a host's front proxy forwards, before the rules of their space do. */
  host?: HostRules | undefined
  /** Aborts when the server begins to close: from then on it answers probes alone. */
  draining: AbortSignal
}

export interface AuthorizedRequest {
  info: RequestInfo
  user: UserInfo
  /** Logical-cluster id, or `*`. */
  space: string
  /** Watches and streams have one: they stay open. */
  permission?: Permission
}

/** Records the steps of access control as they are done; each at most once, in this order. */
export interface AccessRecorder {
  parsed(info: RequestInfo): void
  identified(user: UserInfo): void
  /** Logical-cluster id, or `*`. */
  located(space: string): void
  impersonated(user: UserInfo): void
  decided(decision: Decision): void
}

type Judged = Decision & { refusal?: StatusError }

/** Verbs that can leave something behind. */
const CREATES: ReadonlySet<string> = new Set(['create', 'update', 'patch'])

/** A space stream shows every kind: whoever may watch everything may have it. */
const EVERYTHING: ResourceRequest = {
  group: '*',
  version: '*',
  resource: '*',
  subresource: '',
  namespace: '',
  name: '',
}

const ALLOWED: Decision = { allowed: true, reason: '' }
const HEALTH_PATH = /^\/(livez|readyz|healthz)(\/|$)/
/** Forwarded watches are judged again so often: the host does not report a right that it withdraws. */
const FORWARDED_MS = 60_000
const NO_ACCESS = 'workspace access not permitted'

export class AccessControl {
  readonly #deps: AccessControlDeps
  readonly #credentials = new RequestCredentials()
  /** By their refusals. */
  readonly #refused = new WeakMap<StatusError, AuthorizedRequest>()
  /** A signal takes longer to tell. */
  #isDraining: boolean

  constructor(deps: AccessControlDeps) {
    this.#deps = deps
    this.#isDraining = deps.draining.aborted
    deps.draining.addEventListener('abort', () => {
      this.#isDraining = true
    })
  }

  /** The request that was refused with this because its user may not do that, in a space that they may enter. */
  refusedBy(error: StatusError): AuthorizedRequest | undefined {
    return this.#refused.get(error)
  }

  /** @throws StatusError BadRequest, Unauthorized, Forbidden, NotFound (unknown space), MethodNotAllowed, ServiceUnavailable */
  authorize(request: RawRequest, recorder?: AccessRecorder): Soon<AuthorizedRequest> {
    const info = parseRequest(request.method, request.url)
    recorder?.parsed(info)
    return whenKnown(this.#authenticate(request, info), identity => {
      if (!identity.user.groups.includes(GROUPS.unauthenticated)) this.#deps.known?.(request.socket)
      recorder?.identified(identity.user)
      return whenKnown(this.#spaceOf(info, identity), space => {
        recorder?.located(space)
        return whenKnown(this.#actingUser(request, info, { user: identity.user, space }, recorder), user =>
          whenKnown(this.#decide(request, info, user, space), decision => {
            const authorized: AuthorizedRequest = { info, user, space }
            if (info.stream || info.verb === 'watch')
              authorized.permission = this.#permission(request, authorized, identity)
            return this.#admit(authorized, decision, recorder)
          }),
        )
      })
    })
  }

  /** The space stays the same, whatever is at its path later. The end of a space has signals of its own. */
  #permission(request: RawRequest, { info, space }: AuthorizedRequest, shown: Authentication): Permission {
    let identity = shown
    return {
      space,
      get identity() {
        return identity
      },
      judge: anew =>
        whenKnown(anew ? this.#authenticate(request, info) : identity, known => {
          identity = known
          return whenKnown(this.#actingUser(request, info, { user: known.user, space }), user =>
            whenKnown(this.#decide(request, info, user, space), decision => {
              if (!decision.allowed) throw decision.refusal
            }),
          )
        }),
    }
  }

  #actingUser(
    request: RawRequest,
    info: RequestInfo,
    asking: { user: UserInfo; space: string },
    recorder?: AccessRecorder,
  ): Soon<UserInfo> {
    // the host acts on these headers itself, and names who is acted for
    if (request.forwarded !== undefined) return asking.user
    return hasImpersonation(request.headers) ? this.#impersonated(request, info, asking, recorder) : asking.user
  }

  #admit(authorized: AuthorizedRequest, decision: Judged, recorder: AccessRecorder | undefined): AuthorizedRequest {
    recorder?.decided(decision)
    if (decision.allowed) {
      if (this.#isDraining && !HEALTH_PATH.test(authorized.info.path)) throw shuttingDown()
      return authorized
    }
    // A user who may not enter a space learns nothing of it, not even that it exists.
    if (decision.refusal && decision.reason !== NO_ACCESS) this.#refused.set(decision.refusal, authorized)
    throw decision.refusal
  }

  async #impersonated(
    request: RawRequest,
    info: RequestInfo,
    { user, space }: { user: UserInfo; space: string },
    recorder: AccessRecorder | undefined,
  ): Promise<UserInfo> {
    const { authorizer } = this.#deps
    // A refusal to impersonate tells that there is a space: whoever may not enter it does not get so far.
    if (!(await this.#mayEnter(user, space))) {
      recorder?.decided({ allowed: false, reason: NO_ACCESS })
      throw noAccess(user, info)
    }
    const authorize = (attributes: Attributes) => authorizer.authorize(attributes)
    const acting = (await impersonate(user, request.headersDistinct, { space, authorize })) ?? user
    recorder?.impersonated(acting)
    return acting
  }

  #authenticate(request: RawRequest, info: RequestInfo): Soon<Authentication> {
    const { forwarded, hostToken } = request
    if (hostToken !== undefined) return this.#byHostToken(request, hostToken)
    if (forwarded === UNPROVEN) throw unproven()
    if (forwarded !== undefined) {
      const now = Date.now()
      if (now > forwarded.provenUntilMs) throw unproven()
      return { user: forwarded.user, untilMs: Math.min(now + FORWARDED_MS, forwarded.provenUntilMs + 1) }
    }
    return whenKnown(
      this.#deps.authenticator.authenticate(this.#credentials.of(request)),
      known => known ?? this.#stranger(info),
    )
  }

  /** From here on it is a forwarded request like any other. */
  #byHostToken(request: RawRequest, { token, requested, target }: HostToken): Soon<Authentication> {
    if (hasImpersonation(request.headers))
      throw statusError.badRequest(
        'a token of the host cluster acts for its own user: impersonate at the address of the host',
      )
    return whenKnown(this.#deps.host!.identify(token), ({ user, hostUser }) => {
      const untilMs = Date.now() + FORWARDED_MS
      request.forwarded = { user, hostUser, requested, target, provenUntilMs: untilMs }
      return { user, untilMs }
    })
  }

  #stranger(info: RequestInfo): Authentication {
    const open = allowsAnonymous(info.path) && info.space === undefined
    if (open || this.#deps.anonymousAuth) return { user: anonymousUser() }
    throw statusError.unauthorized()
  }

  #spaceOf(info: RequestInfo, identity: Authentication): Soon<string> {
    const { tree, spaces } = this.#deps
    if (info.space === undefined) {
      const isOfServer = !spaces || (info.resource === undefined && this.#deps.isServerWide(info.path))
      return isOfServer ? ROOT : (identity.space ?? ROOT)
    }
    if (!spaces) throw statusError.notFound(WORKSPACES, info.space)
    const superuser = identity.user.groups.includes(GROUPS.masters)
    if (info.space === '*') {
      if (!superuser && !judgesSpaces(info, identity.user)) throw noAccess(identity.user, info)
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
    return this.#refuseUnknown(info, info.space, identity.user, resolution.ancestor)
  }

  async #refuseUnknown(info: RequestInfo, path: string, user: UserInfo, ancestor: Space | undefined): Promise<never> {
    const knows =
      ancestor !== undefined &&
      (await this.#deps.authorizer.mayAccessSpace(effectiveUser(user, ancestor.id), ancestor.id))
    const listable = knows && (await this.#mayListWorkspaces(user, ancestor.id))
    throw listable ? unknownSpace(path, ancestor.path) : noAccess(user, info)
  }

  #mayEnter(user: UserInfo, space: string): Soon<boolean> {
    const { authorizer, spaces } = this.#deps
    const effective = effectiveUser(user, space)
    return !spaces || effective.groups.includes(GROUPS.masters) || authorizer.mayAccessSpace(effective, space)
  }

  async #mayListWorkspaces(user: UserInfo, space: string): Promise<boolean> {
    const question = questionOf({ user: effectiveUser(user, space), space }, 'list', WORKSPACES)
    return (await this.#deps.authorizer.authorize({ ...question, ownOnly: true })).allowed
  }

  #decide({ forwarded }: RawRequest, info: RequestInfo, user: UserInfo, space: string): Soon<Judged> {
    if (forwarded === undefined || forwarded === UNPROVEN) return this.#decideHere(info, user, space)
    return whenKnown(this.#deps.host!.decide(forwarded), decision => {
      if (!decision.allowed) return { ...decision, refusal: forbidden(attributesOf(forwarded), decision.reason) }
      return forwarded.target === 'space' ? this.#decideHere(info, user, space) : decision
    })
  }

  #decideHere(info: RequestInfo, user: UserInfo, space: string): Soon<Judged> {
    const effective = effectiveUser(user, space)
    if (effective.groups.includes(GROUPS.masters)) return ALLOWED
    if (info.space === undefined && allowsAnonymous(info.path)) return ALLOWED
    if (space === '*' && judgesSpaces(info, user)) return ALLOWED
    return whenKnown(this.#mayEnter(user, space), may =>
      may ? this.#ask(info, effective, space) : { allowed: false, reason: NO_ACCESS, refusal: noAccess(user, info) },
    )
  }

  #ask(info: RequestInfo, user: UserInfo, space: string): Soon<Judged> {
    const resource = info.stream ? EVERYTHING : info.resource && nameAware(info, namespaceAware(info.resource))
    const base = { user, space, verb: info.stream ? 'watch' : info.verb, path: info.path }
    const attributes: Attributes = resource === undefined ? base : { ...base, resource }
    return whenKnown(this.#deps.authorizer.authorize(attributes), decision =>
      decision.allowed ? decision : { ...decision, refusal: forbidden(attributes, decision.reason) },
    )
  }
}

/** Whether who answers asks for the rights in each space. */
function judgesSpaces({ reported }: RequestInfo, user: UserInfo): boolean {
  return reported !== undefined && reported.location === undefined && !isStranger(user)
}

/** A refusal of the host, in its words. */
function attributesOf({ hostUser, requested: { verb, path, resource } }: Forwarded): Attributes {
  return { user: hostUser, space: ROOT, verb, path, ...(resource && { resource }) }
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
 * Deliberately the same for spaces that do not exist and for spaces that are closed to the user. The message names users by their own name,
 * and not by that of the stranger that they are there.
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

/** The answer while the server ends. */
export function shuttingDown(): StatusError {
  return new StatusError('ServiceUnavailable', 'the server is shutting down', { retryAfterSeconds: 1 })
}
