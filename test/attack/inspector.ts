/** Looks into the server's process by its inspector: memory after a collection, and what the processor was used for. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Memory {
  rss: number
  /** Objects and buffers together. */
  used: number
}

interface Reply {
  id: number
  result?: Record<string, unknown>
  error?: { message: string }
}

export class Inspector {
  readonly #socket: WebSocket
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #next = 1

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on('message', data => {
      const reply = JSON.parse(String(data)) as Reply
      this.#waiting.get(reply.id)?.(reply)
      this.#waiting.delete(reply.id)
    })
    socket.on('close', () => {
      for (const [id, tell] of this.#waiting) tell({ id, error: { message: 'the server ended' } })
      this.#waiting.clear()
    })
    socket.on('error', () => {})
  }

  static async connect(url: string): Promise<Inspector> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await once(socket, 'open')
    return new Inspector(socket)
  }

  async memory(): Promise<Memory> {
    await this.#call('HeapProfiler.collectGarbage')
    const expression = '(({ rss, heapUsed, external }) => ({ rss, used: heapUsed + external }))(process.memoryUsage())'
    const { result } = await this.#call('Runtime.evaluate', { expression, returnByValue: true })
    return (result as { value: Memory }).value
  }

  async startProfile(): Promise<void> {
    await this.#call('Profiler.enable')
    await this.#call('Profiler.start')
  }

  /** As devtools read it. */
  async stopProfile(): Promise<unknown> {
    const { profile } = await this.#call('Profiler.stop')
    await this.#call('Profiler.disable')
    return profile
  }

  close(): void {
    this.#socket.terminate()
  }

  async #call(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = this.#next++
    const reply = await new Promise<Reply>(resolve => {
      this.#waiting.set(id, resolve)
      this.#socket.send(JSON.stringify({ id, method, params }), error => {
        if (error) resolve({ id, error })
      })
    })
    if (reply.error) throw new Error(`${method}: ${reply.error.message}`)
    return reply.result ?? {}
  }
}
