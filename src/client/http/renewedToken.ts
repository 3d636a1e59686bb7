/**
 * The token by which a syncer works, got by its renewal credential and renewed while it is still good. The kubeconfig's credential is only
 * ever sent to obtain it.
 *
 * The first request begins a session at the server, which ends the one before it. When this one is ended by a newer one, it does
 * not begin another: two syncers of one mailbox would end each other for ever.
 */
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import { num, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { isRenewalCredential, SESSION_ANNOTATION, WORKING_SECONDS } from '../../placement/spaces/syncerCredential.ts'
import { SYNCER_NAME, SYNCER_NAMESPACE } from '../../placement/words/placement.ts'
import { type Clock, steadyMs } from '../clock.ts'
import { type Logger, silentLogger } from '../logger.ts'

interface RenewedTokenOptions {
  /** Present credential of the kubeconfig: a renewal credential, or a token that is used as it is. */
  credential: () => Promise<string | undefined>
  /** Sends a TokenRequest for the syncer's account with this credential, and gives the answer. */
  ask: (credential: string, request: KubeObject) => Promise<KubeObject>
  logger?: Logger
  clock: Clock
  /** From 0 to 1. */
  random: () => number
}

interface Working {
  token: string
  /** From when on it is renewed. */
  staleMs: number
  endMs: number
}

/** A token that the server refuses is renewed this seldom. */
const AGAIN_MS = 10_000
/** Renewed at a random moment of its life, so that not all syncers come at once. */
const RENEWED_AFTER = 0.5
const RENEWED_WITHIN = 0.3

export class RenewedToken {
  readonly #options: Required<RenewedTokenOptions>
  readonly #ended = Promise.withResolvers<string>()
  #credential: string | undefined
  #session: string | undefined
  #working: Working | undefined
  #asking: Promise<string> | undefined
  #nextTryMs = 0

  constructor(options: RenewedTokenOptions) {
    this.#options = { logger: silentLogger, ...options }
  }

  /** Resolves, with a line for whoever started the syncer, when another one has taken over; never otherwise. */
  get ended(): Promise<string> {
    return this.#ended.promise
  }

  /** @throws StatusError when there is none, and none can be got */
  async token(): Promise<string | undefined> {
    const { credential: held, clock, logger } = this.#options
    const credential = await held()
    if (credential === undefined || !isRenewalCredential(credential)) return credential
    if (credential !== this.#credential) {
      this.#credential = credential
      this.#session = undefined
      this.#working = undefined
      this.#asking = undefined
      this.#nextTryMs = 0
    }
    const now = steadyMs(clock)
    const working = this.#working
    if (working !== undefined && now < working.staleMs) return working.token
    if (working === undefined || now >= working.endMs) return await this.#renewed(credential)
    // It is still good, so nobody waits.
    if (this.#asking === undefined && now >= this.#nextTryMs) {
      this.#nextTryMs = now + AGAIN_MS
      this.#renewed(credential).catch((error: unknown) =>
        logger.warn({ err: error }, 'the token cannot be renewed now; it is good for a while, trying again'),
      )
    }
    return working.token
  }

  /** The server refuses a token that it was sent. */
  refused(token: string | undefined): void {
    const now = steadyMs(this.#options.clock)
    if (this.#working?.token !== token || this.#working === undefined || now < this.#nextTryMs) return
    this.#nextTryMs = now + AGAIN_MS
    this.#working = undefined
  }

  /** One request at a time, whoever waits for it. */
  #renewed(credential: string): Promise<string> {
    this.#asking ??= this.#ask(credential).finally(() => {
      if (this.#credential === credential) this.#asking = undefined
    })
    return this.#asking
  }

  async #ask(credential: string): Promise<string> {
    const { ask, clock, random } = this.#options
    const session = this.#session
    const request: KubeObject = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {
        namespace: SYNCER_NAMESPACE,
        name: SYNCER_NAME,
        ...(session !== undefined && { annotations: { [SESSION_ANNOTATION]: session } }),
      },
      spec: { expirationSeconds: WORKING_SECONDS },
    }
    let answer: KubeObject
    try {
      answer = await ask(credential, request)
    } catch (error) {
      if (session !== undefined && isStatusError(error, 'Conflict')) this.#ended.resolve(error.message)
      throw error
    }
    const token = str(answer.status, 'token')
    if (token === '') throw new StatusError('InternalError', 'the server answered a TokenRequest without a token')
    if (credential !== this.#credential) return token
    const now = steadyMs(clock)
    // By our own clock: that of the server may be another one.
    const lifeMs = num(answer.spec, 'expirationSeconds') * 1000
    this.#session = answer.metadata.annotations?.[SESSION_ANNOTATION]
    this.#working = { token, staleMs: now + lifeMs * (RENEWED_AFTER + RENEWED_WITHIN * random()), endMs: now + lifeMs }
    return token
  }
}
