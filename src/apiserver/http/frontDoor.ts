/** The one way in, for requests and for upgrades to WebSocket: who may, and whether the server still takes any. */
import { StatusError } from '../../apimachinery/errors.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { AccessWitness } from '../audit/auditTrail.ts'
import type { AuthorizedRequest, Pipeline, RawRequest } from './pipeline.ts'

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
  authorize(request: RawRequest, witness?: AccessWitness): Soon<AuthorizedRequest> {
    return whenKnown(this.#pipeline.authorize(request, witness), authorized => {
      // Probes go on being answered: they are how the world hears of it.
      if (this.#isDraining && !isHealthPath(authorized.info.path)) throw shuttingDown()
      return authorized
    })
  }
}

export function isHealthPath(path: string): boolean {
  return /^\/(livez|readyz|healthz)(\/|$)/.test(path)
}

/** The answer while the server ends. */
export function shuttingDown(): StatusError {
  return new StatusError('ServiceUnavailable', 'the server is shutting down', { retryAfterSeconds: 1 })
}
