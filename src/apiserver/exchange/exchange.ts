/** One request for a resource on its way through an endpoint, and what endpoints share. */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { goInteger } from '../../apimachinery/go/goIntegers.ts'
import type { ProtobufCodec } from '../../apimachinery/protobuf/protobufCodec.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import type { Column } from '../../kinds/printers/printer.ts'
import type { ThreadPool } from '../../program/threadPool.ts'
import type { Work, WorkTurns } from '../../program/workTurns.ts'
import type { Authorizer, UserInfo } from '../auth/types.ts'
import { effectiveUser } from '../auth/users.ts'
import type { Answer } from '../http/answer.ts'
import type { Form } from '../http/negotiate.ts'
import type { Request } from '../http/request.ts'
import type { Target } from '../operations/target.ts'
import type { AnsweredKinds } from '../registry/answeredKinds.ts'
import type { KindReader } from '../registry/answeredReader.ts'
import type { FieldValidation, WriteContext } from '../registry/context.ts'
import type { DerivedParts } from '../registry/derivedParts.ts'
import type { Reader } from '../registry/reader.ts'
import type { Registry, RegistryDeps } from '../registry/registry.ts'
import type { StreamForms } from '../registry/streamForms.ts'
import type { RequestInfo, ResourceRequest } from '../request/requestInfo.ts'
import type { TypeRegistry } from '../types/typeRegistry.ts'
import type { BlockWriter } from './answers/blockWriter.ts'
import type { Compression } from './answers/compression.ts'
import type { FrameCache } from './answers/frames.ts'
import type { WriteTurns } from './answers/writeTurns.ts'
import type { OpenAccess } from './openAccess.ts'
import type { WatchScope } from './watchScopes.ts'

export interface Services {
  readonly deps: RegistryDeps
  readonly registry: Registry
  readonly reader: KindReader
  /** Makes whole what is stored without what it says of its space. Absent: there is no such kind. */
  readonly derived?: DerivedParts | undefined
  /** Columns of Tables before those of the kind. Absent: none. */
  readonly columns?: readonly Column[]
  /** People's name for a space: its path; its id where that is unknown. */
  spaceName(id: string): string
  /** Whether what a space holds describes clusters, and runs nowhere here. */
  describes(id: string): boolean
  /** Readers of what is answered and not stored. */
  readonly answered: AnsweredKinds
  readonly types: Pick<TypeRegistry, 'in'>
  readonly frames: FrameCache
  readonly protobuf: ProtobufCodec
  readonly turns: WriteTurns
  readonly blocks: BlockWriter
  readonly compression: Compression
  /** For what may take long: elsewhere, or here in slices. */
  readonly threads: ThreadPool
  readonly work: WorkTurns
  readonly authorizer: Authorizer & {
    mayAccessSpace(user: UserInfo, space: string): Soon<boolean>
  }
  /** How streams tell objects. */
  readonly forms: StreamForms
  /** Aborts when the server drains: open watches end. */
  readonly draining: AbortSignal
  /** Ends what is open and may not be any more. */
  readonly openAccess: Pick<OpenAccess, 'hold'>
  /** Between bookmarks of a watch. Default 60 s. */
  readonly bookmarkIntervalMs?: number | undefined
  /** Ends watches of a resource in a space: its definition or the space is gone. */
  watchScope(space: string, group: string, resource: string): WatchScope
}

/** Services of the server itself, over all spaces. */
export interface ServerServices extends Services {
  readonly reader: Reader
  readonly types: TypeRegistry
}

export interface Exchange {
  readonly request: Request
  readonly answer: Answer
  readonly info: RequestInfo
  readonly resource: ResourceRequest
  readonly user: UserInfo
  /** Logical-cluster id, or `*`. */
  readonly space: string
  readonly type: ResourceType
  /** Absent where the verb alone says what to do. */
  readonly entry?: EndpointEntry | undefined
  readonly form: Form
  readonly warnings: string[]
  /** Work of reading and writing the body, when that is large. */
  readonly work?: Work | undefined
}

export type Endpoint = (services: Services, exchange: Exchange) => Soon<void>

/** A sub-resource, or a kind that is answered instead of stored. */
export interface EndpointEntry {
  readonly verbs: readonly string[]
  /** Default: that of the verb, for a part of its object. */
  readonly endpoint?: Endpoint
  /** It answers with a kind of its own, which has a protobuf form, whatever it belongs to. */
  readonly isOwnKind?: true
}

/** By `group/resource/subresource` or the sub-resource alone; kinds that are answered by `group/resource`. */
export type EndpointEntries = Readonly<Record<string, EndpointEntry>>

/** More warnings than these are dropped. */
const MAX_WARNINGS = 32

/** Long work for a request; ends when its client has gone. */
export function workOf({ work }: Pick<Services, 'work'>, { space, answer }: Pick<Exchange, 'space' | 'answer'>): Work {
  return work.begin({ owner: space, isAbandoned: () => answer.destroyed })
}

/** An update that would make its object is allowed to whoever may create it. @throws StatusError Forbidden */
export async function requireCreate({ authorizer }: Services, exchange: Exchange): Promise<void> {
  const { info, resource, space, type } = exchange
  const user = effectiveUser(exchange.user, space)
  const { allowed, reason } = await authorizer.authorize({ user, space, verb: 'create', path: info.path, resource })
  if (!allowed) throw statusError.forbidden(type, resource.name, reason)
}

/** The caller's write options from the query. @throws StatusError Invalid or BadRequest */
export function writeContext(exchange: Exchange): WriteContext {
  const { query } = exchange.info
  const { audit, ticket } = exchange.request
  const validation = query.get('fieldValidation') || 'Warn'
  if (validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict') {
    throw optionInvalid(
      exchange,
      fieldError.notSupported('fieldValidation', validation, ['', 'Ignore', 'Strict', 'Warn']),
    )
  }
  const manager = query.get('fieldManager') ?? managerOfAgent(exchange.request.headers['user-agent'])
  if (manager.length > 128) throw optionInvalid(exchange, fieldError.tooLong('fieldManager', 128))
  const odd = manager.search(/[\p{C}]/u)
  if (odd >= 0) {
    const point = manager.codePointAt(odd)!.toString(16).toUpperCase().padStart(4, '0')
    throw optionInvalid(
      exchange,
      fieldError.invalid('fieldManager', manager, `invalid character U+${point} (at position ${odd})`),
    )
  }
  return {
    space: exchange.space,
    user: exchange.user,
    dryRun: isDryRun(exchange),
    fieldManager: manager,
    fieldValidation: validation satisfies FieldValidation,
    request: ticket,
    work: exchange.work,
    isAbandoned: () => exchange.answer.destroyed,
    ...(audit && { annotate: (key, value, level) => audit.annotate(key, value, level) }),
    warn: text => {
      if (exchange.warnings.length < MAX_WARNINGS && !exchange.warnings.includes(text)) exchange.warnings.push(text)
    },
  }
}

/** Target in the URL of a write. */
export function writeTarget({ type, resource }: Exchange, context: WriteContext): Target {
  const { namespace, name, subresource } = resource
  return { context, type, namespace, name, subresource }
}

export function isDryRun(exchange: Exchange): boolean {
  const values = exchange.info.query.getAll('dryRun').filter(value => value !== '')
  if (values.some(value => value !== 'All'))
    throw optionInvalid(exchange, fieldError.notSupported('dryRun', values, ['All']))
  return values.length > 0
}

export function optionInvalid(exchange: Exchange, error: FieldError): StatusError {
  return statusError.invalidOptions(OPTIONS[exchange.info.verb] ?? 'CreateOptions', error)
}

const OPTIONS: Readonly<Record<string, string>> = {
  patch: 'PatchOptions',
  update: 'UpdateOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
}

/** `kubectl/v1.32.0 (linux/amd64)` manages fields as `kubectl`. */
function managerOfAgent(agent: string | undefined): string {
  const name = (agent ?? '').split('/')[0]!.trim()
  return name === '' ? 'unknown' : name.slice(0, 128)
}

/** A whole number from the query; beyond 2^53 the last digits are lost. @throws StatusError BadRequest */
export function intOption(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null) return undefined
  const value = goInteger(text, 'ParseInt')
  if (typeof value === 'string') throw statusError.badRequest(value)
  return Number(value)
}

/** @throws StatusError BadRequest */
export function boolOption(query: URLSearchParams, name: string): boolean {
  const text = query.get(name)
  if (text === null || text === 'false' || text === '0') return false
  return text === '' || text === 'true' || text === '1' || text === 'True' || text === 't'
}
