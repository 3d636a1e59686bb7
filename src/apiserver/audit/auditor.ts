/**
 * The audit log of a server: a policy, and where its events go. A server without one does nothing for it.
 * @see https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
 */
import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { EmbeddedWrite, WriteAudit, WriteTrail } from '../embedded/writeAudit.ts'
import type { AuditEvent } from './auditEvent.ts'
import { AuditTrail } from './auditTrail.ts'
import type { AuditPolicy } from './policy.ts'
import { writeTrail } from './writeTrail.ts'

export interface AuditSink {
  /** Takes one line without its end. Lines are kept in order; never throws. */
  write(line: string): void
  /** Resolves when all lines are written. */
  close(): Promise<void>
}

interface AuditorOptions {
  policy: AuditPolicy
  sink: AuditSink
  /** Milliseconds since the epoch, with fractions. */
  clock: () => number
}

/** Known parts of a request once its headers are there. */
interface AuditedRequest {
  url: string
  headers: IncomingHttpHeaders
  remoteAddress: string | undefined
}

/** Longer ids of clients are not taken over. */
const ID_LIMIT = 64

export class Auditor implements WriteAudit {
  readonly #options: Required<AuditorOptions>

  constructor(options: AuditorOptions) {
    this.#options = options
  }

  beginWrite(write: EmbeddedWrite): WriteTrail | undefined {
    const { policy, clock } = this.#options
    return writeTrail(write, { policy, clock, write: event => this.#write(event), auditId: randomUUID() })
  }

  /** A client may bring the id, in the header `Audit-ID`, to find its requests again. */
  openTrail({ url, headers, remoteAddress }: AuditedRequest): AuditTrail {
    const { policy, clock } = this.#options
    const own = headers['audit-id']
    return new AuditTrail({
      policy,
      clock,
      write: event => this.#write(event),
      auditId: typeof own === 'string' && own !== '' && own.length <= ID_LIMIT ? own : randomUUID(),
      uri: url,
      sourceIps: sourceIps(headers, remoteAddress),
      userAgent: headers['user-agent'],
    })
  }

  close(): Promise<void> {
    return this.#options.sink.close()
  }

  #write(event: AuditEvent): void {
    this.#options.sink.write(JSON.stringify(event))
  }
}

/** The way that proxies say the request came, then where it came from last. */
function sourceIps(headers: IncomingHttpHeaders, remoteAddress: string | undefined): string[] {
  const forwarded = headers['x-forwarded-for']
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',').map(hop => hop.trim())
  const real = headers['x-real-ip']
  const all = [...hops, ...(typeof real === 'string' ? [real] : []), remoteAddress?.replace(/^::ffff:/, '') ?? '']
  return [...new Set(all.filter(address => address !== ''))]
}
