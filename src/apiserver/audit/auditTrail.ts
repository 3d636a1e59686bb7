/**
 * One request on its way through the audit log. Access control and the HTTP server report their findings, and it writes an event for each
 * stage that the policy wants. Bodies are looked at only where the policy wants them, and after the answer.
 */
import type { StatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../apimachinery/resources.ts'
import type { AccessRecorder } from '../access/accessControl.ts'
import type { Decision, UserInfo } from '../auth/types.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import {
  type AuditEvent,
  type AuditLevel,
  type AuditStage,
  auditUser,
  microTime,
  type ObjectReference,
} from './auditEvent.ts'
import type { AuditDecision, AuditPolicy } from './policy.ts'

export interface TrailOptions {
  policy: AuditPolicy
  write(event: AuditEvent): void
  /** Milliseconds since the epoch, with fractions. */
  clock: () => number
  auditId: string
  uri: string
  sourceIps: readonly string[]
  userAgent: string | undefined
  /** No client sent the request: it is recorded once, when it is done. */
  isInternal?: boolean
}

/** Known bodies at the end of a request. */
interface Bodies {
  /** The decoded body of the request; read only on demand, `undefined` when it is malformed. */
  request(): unknown
  /** The same for the answer. */
  response(): unknown
}

export const NO_BODIES: Bodies = { request: () => undefined, response: () => undefined }
/** Resources whose bodies are never written: they hold credentials. */
const CONFIDENTIAL: readonly string[] = [
  '/secrets',
  '/serviceaccounts/token',
  'authentication.k8s.io/tokenreviews',
  'edge.kubestellar.io/placementpreviews',
]
const WITH_BODY: readonly string[] = ['create', 'update', 'patch', 'delete', 'deletecollection']

export class AuditTrail implements AccessRecorder {
  readonly auditId: string
  readonly #options: TrailOptions
  readonly #receivedMs: number
  readonly #annotations: Record<string, string> = {}
  #info: RequestInfo | undefined
  #user: UserInfo | undefined
  #impersonated: UserInfo | undefined
  #decision: AuditDecision | undefined
  #level: AuditLevel = 'None'
  #received = false
  #started = false
  #ended = false
  /** The answer, when it is a Status. */
  #status: Record<string, unknown> | undefined

  constructor(options: TrailOptions) {
    this.#options = options
    this.auditId = options.auditId
    this.#received = options.isInternal === true
    this.#receivedMs = options.clock()
  }

  get wantsRequestBody(): boolean {
    return this.#level === 'Request' || this.wantsResponseBody
  }
  get wantsResponseBody(): boolean {
    return this.#level === 'RequestResponse'
  }

  parsed(info: RequestInfo): void {
    this.#info = info
  }

  identified(user: UserInfo): void {
    this.#user = user
    this.#judge()
  }

  located(space: string): void {
    this.#annotations[CLUSTER_ANNOTATION] = space
    this.#receive()
  }

  impersonated(user: UserInfo): void {
    this.#impersonated = user
  }

  decided({ allowed, reason }: Decision): void {
    this.#annotations['authorization.k8s.io/decision'] = allowed ? 'allow' : 'forbid'
    this.#annotations['authorization.k8s.io/reason'] = reason
  }

  /** A first value for a key stays. `Request`: written only where the request body is. */
  annotate(key: string, value: string, level?: 'Request'): void {
    if (level === 'Request' && !this.wantsRequestBody) return
    this.#annotations[key] ??= value
  }

  /** The answer is an error. */
  failed(error: StatusError): void {
    this.#status = { ...error.toStatus() }
  }

  /** A long-running request begins to be answered. */
  started(code: number): void {
    if (this.#started || this.#ended) return
    this.#started = true
    this.#receive()
    this.#emit('ResponseStarted', { responseStatus: this.#statusOf(code) }, NO_BODIES)
  }

  /** A fault of the server ends the request. */
  panicked(error: unknown): void {
    if (this.#ended) return
    this.#receive()
    this.#ended = true
    const message = `APIServer panic'd: ${messageOf(error)}`
    const responseStatus = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 }
    this.#emit('Panic', { responseStatus }, NO_BODIES)
  }

  /** To be called when the connection is done with the answer. */
  ended(code: number, bodies: Bodies): void {
    if (this.#ended) return
    this.#ended = true
    if (this.#user === undefined) {
      this.#refused(code)
      return
    }
    this.#receive()
    const response = this.#status === undefined && this.#level !== 'None' ? bodies.response() : undefined
    if (isRecord(response) && response.kind === 'Status') this.#status = response
    const responseObject = response ?? this.#status
    // Long lists are sent as they lie in the store, block by block.
    if (this.wantsResponseBody && responseObject === undefined && this.#info?.verb === 'list') {
      this.#annotations['audit.k8s.io/truncated'] = 'true'
    }
    const shown: Bodies = { request: bodies.request, response: () => responseObject }
    this.#emit('ResponseComplete', { responseStatus: this.#statusOf(code) }, shown)
  }

  /** The user is unknown. Upstream calls the stage so, since there is no other. */
  #refused(code: number): void {
    if (this.#info === undefined) return
    this.#judge()
    const status = this.#status
    this.#emit('ResponseStarted', { responseStatus: this.#statusOf(code) }, { ...NO_BODIES, response: () => status })
  }

  #judge(): void {
    if (this.#info === undefined) return
    this.#decision = this.#options.policy.decide(this.#info, this.#user)
    const { level } = this.#decision
    this.#level = level !== 'None' && isConfidential(this.#info) ? 'Metadata' : level
  }

  #receive(): void {
    if (this.#received) return
    this.#received = true
    this.#emit('RequestReceived', {}, NO_BODIES)
  }

  /** Bounded parts of a Status only, as upstream. */
  #statusOf(code: number): Record<string, unknown> {
    const { status, message, reason, details } = this.#status ?? {}
    return {
      metadata: {},
      ...(status !== undefined && { status }),
      ...(message !== undefined && { message }),
      ...(reason !== undefined && { reason }),
      ...(details !== undefined && { details }),
      code,
    }
  }

  #emit(stage: AuditStage, facts: Pick<AuditEvent, 'responseStatus'>, bodies: Bodies): void {
    const info = this.#info
    if (this.#level === 'None' || info === undefined || this.#decision?.omitStages.has(stage)) return
    const { auditId, uri, sourceIps, userAgent, clock, write } = this.#options
    const requestObject = info.resource && WITH_BODY.includes(info.verb) ? bodies.request() : undefined
    const responseObject = this.wantsResponseBody && info.resource ? bodies.response() : undefined
    const clean = this.#decision?.omitManagedFields ? withoutManagedFields : (object: unknown): unknown => object
    const annotations = { ...this.#annotations }
    write({
      kind: 'Event',
      apiVersion: 'audit.k8s.io/v1',
      level: this.#level,
      auditID: auditId,
      stage,
      requestURI: uri,
      verb: info.verb,
      user: auditUser(this.#user),
      ...(this.#impersonated && { impersonatedUser: auditUser(this.#impersonated) }),
      ...(sourceIps.length > 0 && { sourceIPs: sourceIps }),
      ...(userAgent && { userAgent }),
      ...(info.resource && { objectRef: referenceOf(info.resource, requestObject) }),
      ...facts,
      ...(this.wantsRequestBody && requestObject !== undefined && { requestObject: clean(requestObject) }),
      ...(responseObject !== undefined && { responseObject: clean(responseObject) }),
      requestReceivedTimestamp: microTime(this.#receivedMs),
      stageTimestamp: microTime(clock()),
      ...(Object.keys(annotations).length > 0 && { annotations }),
    })
  }
}

function isConfidential({ resource }: RequestInfo): boolean {
  if (resource === undefined) return false
  const name = `${resource.group}/${resource.resource}`
  return CONFIDENTIAL.includes(name) || CONFIDENTIAL.includes(`${name}/${resource.subresource}`)
}

/** Reference in the URL; the body fills in the rest. */
function referenceOf(resource: NonNullable<RequestInfo['resource']>, sent: unknown): ObjectReference {
  const metadata = isRecord(sent) && isRecord(sent.metadata) ? sent.metadata : {}
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  const namespace = resource.namespace || text(metadata.namespace)
  const name = resource.name || text(metadata.name)
  const uid = text(metadata.uid)
  const resourceVersion = text(metadata.resourceVersion)
  return {
    resource: resource.resource,
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(uid && { uid }),
    ...(resource.group && { apiGroup: resource.group }),
    apiVersion: resource.version,
    ...(resourceVersion && { resourceVersion }),
    ...(resource.subresource && { subresource: resource.subresource }),
  }
}

/** Removes them from an object, and from the items of a list. */
function withoutManagedFields(object: unknown): unknown {
  if (!isRecord(object)) return object
  const { metadata, items } = object
  const bare = isRecord(metadata) && { metadata: { ...metadata, managedFields: undefined } }
  return { ...object, ...bare, ...(Array.isArray(items) && { items: items.map(withoutManagedFields) }) }
}
