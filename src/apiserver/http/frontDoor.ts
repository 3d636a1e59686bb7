/** The one way in, for requests and for upgrades to WebSocket: who may, and whether the server still takes any. */
import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { AccessWitness } from '../audit/auditTrail.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import type { AuthorizedRequest, Pipeline, RawRequest } from './pipeline.ts'
import { shuttingDown } from './shuttingDown.ts'

export interface FrontDoorDeps {
  pipeline: Pick<Pipeline, 'authorize'>
  /** Aborts when the server begins to close. */
  draining: AbortSignal
}

export class FrontDoor {
  readonly #pipeline: FrontDoorDeps['pipeline']
  /** Signals are slow to say so themselves. */
  #isDraining: boolean

  constructor({ pipeline, draining }: FrontDoorDeps) {
    this.#pipeline = pipeline
    this.#isDraining = draining.aborted
    draining.addEventListener('abort', () => {
      this.#isDraining = true
    })
  }

  /** @throws StatusError of the pipeline; ServiceUnavailable when the server closes */
  authorize(message: IncomingMessage, witness?: AccessWitness): Soon<AuthorizedRequest> {
    return this.admit(
      {
        method: message.method ?? 'GET',
        url: message.url ?? '/',
        headers: message.headers,
        distinctHeaders: () => message.headersDistinct,
        socket: message.socket as TLSSocket,
      },
      { witness },
    )
  }

  /** The same, whatever the request came as. `info`: what its URL says, where that was read already. */
  admit(
    request: RawRequest,
    { witness, info }: { witness?: AccessWitness | undefined; info?: RequestInfo } = {},
  ): Soon<AuthorizedRequest> {
    return whenKnown(this.#pipeline.authorize(request, witness, info), authorized => {
      // Probes go on being answered: they are how the world hears of it.
      if (this.#isDraining && !isHealthPath(authorized.info.path)) {
        throw shuttingDown()
      }
      return authorized
    })
  }
}

export function isHealthPath(path: string): boolean {
  return /^\/(livez|readyz|healthz)(\/|$)/.test(path)
}
