/**
 * Bounds on running calls of webhooks, and on their share of the server's memory: for requests, and for received answers. A webhook may
 * delay its answer, and fill the bound meanwhile. Each tenant (a space directly below the root, with all below it) has a share, and waits
 * for itself. A little is kept for tenants with next to nothing, whatever others do.
 */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'

export interface CallLimits {
  calls: number
  bytes: number
}

export interface CallBounds {
  readonly tenant: CallLimits
  readonly server: CallLimits
  /** Share of a tenant although the server has reached its bound. */
  readonly kept: CallLimits
}

export const TENANT_CALLS = 128
export const TENANT_BYTES = 64 * 1024 * 1024
export const SERVER_CALLS = 512
export const SERVER_BYTES = 256 * 1024 * 1024
export const KEPT_CALLS = 8
/** One answer. */
export const KEPT_BYTES = 4 * 1024 * 1024

const DEFAULT_CALLS: CallBounds = {
  tenant: { calls: TENANT_CALLS, bytes: TENANT_BYTES },
  server: { calls: SERVER_CALLS, bytes: SERVER_BYTES },
  kept: { calls: KEPT_CALLS, bytes: KEPT_BYTES },
}

/** One call, from when it may begin. */
export interface WebhookCall {
  /** Counts what is held for it from now on. Until it was called, no other call of the tenant begins. */
  hold(bytes: number): void
  /** Whether the tenant, or all of them, hold more than they may. */
  readonly isTooMuch: boolean
  /** Nothing of it is held any more. */
  end(): void
}

interface Held {
  calls: number
  bytes: number
}

interface Waiting {
  begin(): void
}

class Tenant implements Held {
  calls = 0
  bytes = 0
  /** Has begun a call of which nobody knows yet what it holds. */
  isBeginning = false
  readonly line = new Set<Waiting>()
}

export class WebhookCalls {
  readonly #bounds: CallBounds
  readonly #tenantOf: (space: string) => string
  readonly #all: Held = { calls: 0, bytes: 0 }
  /** Those that have a call, or wait for one; whoever waits for the longest first. */
  readonly #tenants = new Map<string, Tenant>()

  constructor(tenantOf: (space: string) => string, bounds: CallBounds = DEFAULT_CALLS) {
    this.#tenantOf = tenantOf
    this.#bounds = bounds
  }

  get held(): Readonly<Held> {
    return this.#all
  }

  /** Resolves when the call may begin. @throws the signal's reason when it may not by then */
  async begin(space: string, signal: AbortSignal): Promise<WebhookCall> {
    signal.throwIfAborted()
    const name = this.#tenantOf(space)
    const tenant = getOrInsert(this.#tenants, name, () => new Tenant())
    if (tenant.line.size > 0 || !this.#hasRoom(tenant)) await this.#wait(name, tenant, signal)
    else this.#count(tenant)
    return this.#call(name, tenant)
  }

  async #wait(name: string, tenant: Tenant, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = { begin: resolve }
    const leave = (): void => {
      tenant.line.delete(waiting)
      this.#forget(name, tenant)
      reject(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    tenant.line.add(waiting)
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  #call(name: string, tenant: Tenant): WebhookCall {
    let held = 0
    let isBeginning = true
    let isOver = false
    const begun = (): void => {
      if (isBeginning) tenant.isBeginning = false
      isBeginning = false
    }
    const isTooMuch = (): boolean => this.#isTooMuch(tenant)
    return {
      hold: bytes => {
        if (isOver) return
        held += bytes
        tenant.bytes += bytes
        this.#all.bytes += bytes
        if (!isBeginning) return
        begun()
        this.#beginNext()
      },
      get isTooMuch() {
        return isTooMuch()
      },
      end: () => {
        if (isOver) return
        isOver = true
        begun()
        tenant.calls--
        tenant.bytes -= held
        this.#all.calls--
        this.#all.bytes -= held
        this.#forget(name, tenant)
        this.#beginNext()
      },
    }
  }

  /** In turns of tenants; those that have all they may are few. */
  #beginNext(): void {
    for (const [name, tenant] of [...this.#tenants]) {
      const [waiting] = tenant.line
      if (waiting === undefined || !this.#hasRoom(tenant)) continue
      tenant.line.delete(waiting)
      this.#count(tenant)
      this.#tenants.delete(name)
      this.#tenants.set(name, tenant)
      waiting.begin()
    }
  }

  #count(tenant: Tenant): void {
    tenant.isBeginning = true
    tenant.calls++
    this.#all.calls++
  }

  #hasRoom(tenant: Tenant): boolean {
    if (tenant.isBeginning) return false
    const { tenant: most, server, kept } = this.#bounds
    if (tenant.calls >= most.calls || tenant.bytes >= most.bytes) return false
    if (this.#all.calls < server.calls && this.#all.bytes < server.bytes) return true
    return tenant.calls < kept.calls && tenant.bytes < kept.bytes
  }

  #isTooMuch({ bytes }: Tenant): boolean {
    const { tenant, server, kept } = this.#bounds
    return bytes > tenant.bytes || (this.#all.bytes > server.bytes && bytes > kept.bytes)
  }

  #forget(name: string, tenant: Tenant): void {
    if (tenant.calls === 0 && tenant.line.size === 0) this.#tenants.delete(name)
  }
}
