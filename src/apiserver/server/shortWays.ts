/** Which requests may go a short way, and which: that of a GET of one object, or that of a write of one. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { hasImpersonation } from '../http/pipeline.ts'
import type { ShortRequest, ShortWay } from './oneByOne.ts'
import type { ShortGets } from './shortGets.ts'
import type { ShortWrites } from './shortWrites.ts'

/** Whether a request is to go the long way. */
export type Detour = (method: string, url: string) => boolean

export interface ShortWaysDeps {
  gets: Pick<ShortGets, 'answer'>
  writes: Pick<ShortWrites, 'suits' | 'answer'>
}

/** Headers that say that there is more to a request than its head and body, or to its connection than answers. */
const MORE = ['expect', 'transfer-encoding', 'upgrade', 'trailer'] as const

export class ShortWays implements ShortWay {
  readonly #gets: Pick<ShortGets, 'answer'>
  readonly #writes: Pick<ShortWrites, 'suits' | 'answer'>
  readonly #detours: Detour[] = []

  constructor({ gets, writes }: ShortWaysDeps) {
    this.#gets = gets
    this.#writes = writes
  }

  /** To be called before the server listens. */
  unless(detour: Detour): void {
    this.#detours.push(detour)
  }

  suits(request: IncomingMessage): boolean {
    const { method, headers, socket } = request
    if (!(socket as TLSSocket).encrypted || !isPlain(headers)) return false
    if (method === 'POST' || method === 'PUT' || method === 'PATCH') return this.#writes.suits(request)
    // what is asked with a query is mostly a list or a watch
    return method === 'GET' && headers['content-length'] === undefined && !request.url?.includes('?')
  }

  answer(request: ShortRequest, left: () => void): readonly string[] | undefined {
    const { socket, method, url } = request
    if (!socket.writable || this.#detours.some(leads => leads(method, url))) return undefined
    return (method === 'GET' ? this.#gets : this.#writes).answer(request, left)
  }
}

function isPlain(headers: IncomingHttpHeaders): boolean {
  if (!/^keep-alive$/i.test(headers.connection ?? 'keep-alive')) return false
  return MORE.every(name => headers[name] === undefined) && !hasImpersonation(headers)
}
