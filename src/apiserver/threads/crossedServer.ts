/**
 * Connections that cross from API threads, served as those that the server accepts itself. Node documents that any stream may be given
 * to an HTTP server so.
 * @see https://nodejs.org/api/http.html#event-connection
 */
import type { EventEmitter } from 'node:events'
import type { ServerOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import { passEvents } from '../http/passEvents.ts'

// Not imported, as in http/request.ts.
const { createServer } = process.getBuiltinModule('node:http')

export class CrossedServer {
  readonly #server: EventEmitter
  readonly #open = new Set<Duplex>()

  /**
   * @param front whose listeners answer
   * @param options how its requests are parsed; the threads bound how long one may take
   */
  constructor(front: EventEmitter, options: ServerOptions) {
    this.#server = createServer(options)
    passEvents(this.#server, front)
  }

  accept(connection: Duplex): void {
    this.#open.add(connection)
    connection.once('close', () => this.#open.delete(connection))
    this.#server.emit('connection', connection)
  }

  /** Ends all connections, whatever is under way on them. */
  close(): void {
    for (const connection of this.#open) connection.destroy()
  }
}
