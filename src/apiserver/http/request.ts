/** A request as Node's parser makes it, and beside it everything that its road finds out. */
import type { TLSSocket } from 'node:tls'
import type { ParsedJson } from '../../apimachinery/jsonInSteps.ts'
import type { RepeatedKey } from '../../apimachinery/repeatedKeys.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import type { Forwarded, HostToken, UNPROVEN } from '../access/forwarded.ts'
import type { AuditTrail } from '../audit/auditTrail.ts'
import type { Ticket } from '../flowcontrol/ticket.ts'

// An `import` would read every export of the module, and with that load undici: 13 MB and 20 ms.
const { IncomingMessage } = process.getBuiltinModule('node:http')

const SLASH = 0x2f
const AUTHORITY = /^https?:\/\/[^/?#]*/i

/**
 * Node makes one for each request.
 * @see https://nodejs.org/api/http.html#httpcreateserveroptions-requestlistener (`IncomingMessage`)
 */
export class Request extends IncomingMessage {
  declare method: string
  declare url: string
  declare socket: TLSSocket
  /** Start, in milliseconds of the monotonic clock; 0 while the request waits for its turn, or is another thread's. */
  startedMs = 0
  /** One of too many on its connection: it is not answered. */
  isSurplus = false
  /** Its client sends the body behind a `100 Continue`. */
  awaitsContinue = false
  /** Absent on the ordinary address. */
  forwarded: Forwarded | typeof UNPROVEN | undefined = undefined
  /** Names its user, where it is there. */
  hostToken: HostToken | undefined = undefined
  authorized: AuthorizedRequest | undefined = undefined
  /** Absent before it is admitted. */
  ticket: Ticket | undefined = undefined
  /** Absent where nothing is recorded. */
  audit: AuditTrail | undefined = undefined
  /** Absent where the method has none. */
  body: Buffer | undefined = undefined
  /** Whether work on the body takes turns with other long work. */
  isLarge = false
  /** Keys that YAML repeats; absent when the body was JSON. */
  repeatedKeys: RepeatedKey[] | undefined = undefined
  /** The body's text where it is JSON, once it was parsed. */
  bodyText: string | undefined = undefined
  /** A long body's content, until somebody has read it, and whether it repeats a key. */
  parsed: ParsedJson | undefined = undefined
  repeatsKeys: boolean | undefined = undefined

  /** Node destroys each request of a connection that ended, with an error; no one waits for surplus ones. */
  override destroy(error?: Error): this {
    return this.isSurplus ? this : super.destroy(error)
  }

  /**
   * Turns the absolute form of its URL into the path. The authority is ignored, as Go's servers do.
   * @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2.2
   */
  stripAuthority(): void {
    if (this.url.charCodeAt(0) === SLASH) return
    const authority = AUTHORITY.exec(this.url)?.[0]
    if (authority === undefined) return
    const path = this.url.slice(authority.length)
    this.url = path.startsWith('/') ? path : `/${path}`
  }
}
