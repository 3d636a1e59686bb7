/**
 * Status errors: one table of reasons and codes, and the constructors that word them as kube-apiserver does.
 * @see https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/status/
 */
import { CAUSE_REASONS, type FieldError, fieldErrorBody } from './fieldErrors.ts'
import { publicMessageOf } from './messageOf.ts'
import { type GroupResource, groupResourceName } from './object.ts'

export const STATUS_REASONS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Gone: 410,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  NotImplemented: 501,
  ServiceUnavailable: 503,
  Timeout: 504,
  /** The server has no room for more. Upstream answers 500 when etcd is full, which reads like a fault of the request. */
  InsufficientStorage: 507,
} as const
export type StatusReason = keyof typeof STATUS_REASONS

/** The reason of a cause: the server itself has no room, and not a space that has used up its budget. */
export const SERVER_SHORT = 'ServerShort'

export interface StatusCause {
  reason?: string
  message: string
  field?: string
}
export interface StatusDetails {
  name?: string
  group?: string
  /** By upstream's habit the resource (plural) for most errors and the kind for Invalid. */
  kind?: string
  uid?: string
  causes?: StatusCause[]
  retryAfterSeconds?: number
}

/** The JSON body that carries an error (or a success without an object). */
export interface Status {
  kind: 'Status'
  apiVersion: 'v1'
  metadata: Record<string, unknown>
  status: 'Success' | 'Failure'
  message?: string
  reason?: string
  details?: StatusDetails
  code?: number
}

export class StatusError extends Error {
  readonly reason: StatusReason
  readonly code: number
  readonly details: StatusDetails | undefined

  constructor(reason: StatusReason, message: string, details?: StatusDetails, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StatusError'
    this.reason = reason
    this.code = STATUS_REASONS[reason]
    this.details = details
  }

  toStatus(): Status {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      reason: this.reason,
      ...(this.details && { details: this.details }),
      code: this.code,
    }
  }

  /** Rebuilds the error from a `Status` that another server sent. Reasons that we do not know keep their code's reason. */
  static fromStatus(status: Partial<Status>, httpCode: number): StatusError {
    const code = status.code ?? httpCode
    const known = status.reason !== undefined && Object.hasOwn(STATUS_REASONS, status.reason)
    const reason = known ? (status.reason as StatusReason) : reasonForCode(code)
    return new StatusError(reason, status.message ?? `the server answered ${code}`, status.details)
  }
}

export function isStatusError(error: unknown, ...reasons: StatusReason[]): error is StatusError {
  return error instanceof StatusError && (reasons.length === 0 || reasons.includes(error.reason))
}

/** Whether a cause of the error has a reason. */
export function hasCause(error: unknown, reason: string): boolean {
  return error instanceof StatusError && error.details?.causes?.some(cause => cause.reason === reason) === true
}

/** The reason of a cause: nothing new comes into a Namespace that is being deleted. */
export const NAMESPACE_TERMINATING = 'NamespaceTerminating'

/** Why a Namespace takes no object, which is no fault of the object, and may be over any time: it is missing, or being deleted. */
export function namespaceTrouble(error: unknown): 'NamespaceMissing' | typeof NAMESPACE_TERMINATING | undefined {
  if (isStatusError(error, 'NotFound') && error.details?.kind === 'namespaces') return 'NamespaceMissing'
  return isStatusError(error, 'Forbidden') && hasCause(error, NAMESPACE_TERMINATING) ? NAMESPACE_TERMINATING : undefined
}

function reasonForCode(code: number): StatusReason {
  for (const [reason, value] of Object.entries(STATUS_REASONS)) if (value === code) return reason as StatusReason
  return code >= 500 ? 'InternalError' : 'BadRequest'
}

const detailsOf = (gr: GroupResource, name?: string): StatusDetails => ({
  ...(name && { name }),
  ...(gr.group && { group: gr.group }),
  kind: gr.resource,
})

export const statusError = {
  badRequest: (message: string) => new StatusError('BadRequest', message),
  unauthorized: () => new StatusError('Unauthorized', 'Unauthorized'),
  notFound: (gr: GroupResource, name: string) =>
    new StatusError('NotFound', `${groupResourceName(gr)} "${name}" not found`, detailsOf(gr, name)),
  alreadyExists: (gr: GroupResource, name: string) =>
    new StatusError('AlreadyExists', `${groupResourceName(gr)} "${name}" already exists`, detailsOf(gr, name)),
  conflict: (gr: GroupResource, name: string, why: string, causes?: StatusCause[]) =>
    new StatusError('Conflict', `Operation cannot be fulfilled on ${groupResourceName(gr)} "${name}": ${why}`, {
      ...detailsOf(gr, name),
      ...(causes && { causes }),
    }),
  /** `name` is the object's name; field errors become causes, each once. Only the first of very many are listed. */
  invalid: (kind: { group: string; kind: string }, name: string, errors: readonly FieldError[]) => {
    const { texts, causes, left } = causesOf(errors)
    const all = left > 0 ? [...texts, `and ${left} more`] : texts
    const why = all.length === 1 ? all[0]! : `[${all.join(', ')}]`
    const what = kind.group ? `${kind.kind}.${kind.group}` : kind.kind
    return new StatusError('Invalid', `${what} "${name}" is invalid: ${why}`, {
      ...(name && { name }),
      ...(kind.group && { group: kind.group }),
      ...(kind.kind && { kind: kind.kind }),
      causes,
    })
  },
  /** @param kind of the options, like `ListOptions` */
  invalidOptions: (kind: string, ...errors: readonly FieldError[]) =>
    statusError.invalid({ group: 'meta.k8s.io', kind }, '', errors),
  forbidden: (gr: GroupResource, name: string, why: string) =>
    new StatusError(
      'Forbidden',
      name === ''
        ? `${groupResourceName(gr)} is forbidden: ${why}`
        : `${groupResourceName(gr)} "${name}" is forbidden: ${why}`,
      detailsOf(gr, name),
    ),
  expired: (message: string) => new StatusError('Expired', message),
  methodNotAllowed: (gr: GroupResource, verb: string) =>
    new StatusError(
      'MethodNotAllowed',
      `${verb} is not supported on resources of kind "${groupResourceName(gr)}"`,
      detailsOf(gr),
    ),
  internal: (error: unknown) =>
    new StatusError(
      'InternalError',
      `Internal error occurred: ${publicMessageOf(error)}`,
      {
        causes: [{ message: publicMessageOf(error) }],
      },
      { cause: error },
    ),
}

/**
 * Characters of field errors behind which no further one is listed. Each may show a whole list with ten thousands of errors, or a path that
 * is as long as the object.
 */
export const TEXT_CHARACTERS = 256 * 1024

function causesOf(errors: readonly FieldError[]): { texts: string[]; causes: StatusCause[]; left: number } {
  const causes = new Map<string, StatusCause>()
  let [seen, characters] = [0, 0]
  for (; seen < errors.length && characters < TEXT_CHARACTERS; seen++) {
    const error = errors[seen]!
    const [field, message] = [error.field === '' ? '<nil>' : error.field, fieldErrorBody(error)]
    const text = `${field}: ${message}`
    characters += text.length
    causes.set(text, { reason: CAUSE_REASONS[error.type], message, field })
  }
  return { texts: [...causes.keys()], causes: [...causes.values()], left: errors.length - seen }
}
