/** Looks into the server's process by its inspector: memory after a collection, and what the processor was used for. */
import { once } from 'node:events'
import { WebSocket } from 'ws'

export interface Memory {
  rss: number
  /** Objects and buffers together. */
  used: number
}

/** How much of a processor the server's loop used between two chances to do something else, in milliseconds. */
export interface Turns {
  p99: number
  longest: number
  /** When the longest was, in microseconds of a profile's clock. */
  from: number
  to: number
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

  /** From now on turns of the loop are measured: by its thread's own processor time, whatever else the machine does. */
  async startTurns(): Promise<void> {
    await this.#call('Runtime.evaluate', { expression: `globalThis.attackTurns = (${measureTurns.toString()})()` })
  }

  async stopTurns(): Promise<Turns> {
    const { result } = await this.#call('Runtime.evaluate', { expression: 'attackTurns()', returnByValue: true })
    return (result as { value: Turns }).value
  }

  async startProfile(): Promise<void> {
    await this.#call('Profiler.enable')
    await this.#call('Profiler.start')
  }

  /** As devtools read it. */
  async stopProfile(): Promise<object> {
    const { profile } = await this.#call('Profiler.stop')
    await this.#call('Profiler.disable')
    return profile as object
  }

  /** From now on what is allocated is counted by who does, also what is collected since. */
  async startAllocations(): Promise<void> {
    const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
    await this.#call('HeapProfiler.startSampling', { samplingInterval: 16_384, ...all })
  }

  /** As devtools read it. */
  async stopAllocations(): Promise<unknown> {
    const { profile } = await this.#call('HeapProfiler.stopSampling')
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

/**
 * Runs in the server. A timer gets its turn once in each round of the loop. The time of its thread since the last turn, less the time of
 * waits, is at least one round. Sorted by tenths of a millisecond; what is rarer than that is not looked at.
 */
function measureTurns(): () => Turns {
  const everyMs = 5
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage()
    return (user + system) / 1000
  }
  const clockUs = (): number => Number(process.hrtime.bigint() / 1000n)
  const turns: number[] = []
  let last = usedMs()
  let before = clockUs()
  const longest = { longest: 0, from: before, to: before }
  const timer = setInterval(() => {
    const now = usedMs()
    const at = clockUs()
    turns.push(now - last)
    if (now - last > longest.longest) Object.assign(longest, { longest: now - last, from: before, to: at })
    last = now
    before = at
  }, everyMs)
  return () => {
    clearInterval(timer)
    turns.sort((a, b) => a - b)
    return { ...longest, p99: turns[Math.floor(turns.length * 0.99)] ?? 0 }
  }
}
