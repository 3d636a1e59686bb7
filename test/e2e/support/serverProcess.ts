/** `orrery start` as a process that a test may kill, and HTTP requests to it as its administrator. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Orrery, startOrrery } from '../../support/orrery.ts'

export interface Answer {
  code: number
  body: Record<string, unknown>
}

export class ServerProcess {
  readonly #server: Orrery
  readonly #agent: Agent

  private constructor(server: Orrery, agent: Agent) {
    this.#server = server
    this.#agent = agent
  }

  /** Killed when the test ends. Resolves when the server says that it is ready. `connections` limits what is open at once. */
  static async start(t: Test, dataDir: string, connections: number): Promise<ServerProcess> {
    const server = await startOrrery(t, dataDir)
    const [ca, cert, key] = await Promise.all(
      ['ca.crt', 'admin.crt', 'admin.key'].map(file => readFile(join(dataDir, 'pki', file), 'utf8')),
    )
    const agent = new Agent({ keepAlive: true, maxSockets: connections, ca, cert, key })
    t.teardown(() => agent.destroy())
    return new ServerProcess(server, agent)
  }

  /** @throws Error when the connection ends before the whole answer is here */
  async ask(method: string, path: string, body?: object): Promise<Answer> {
    const chunks: Buffer[] = []
    const response = await this.#send(method, path, body)
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return { code: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) as Answer['body'] }
  }

  /** Whole lines of a watch, until either side ends it. A line that the end cuts short is left out. */
  async *lines(path: string): AsyncGenerator<string> {
    const response = await this.#send('GET', path)
    let rest = ''
    response.setEncoding('utf8')
    try {
      for await (const text of response) {
        const lines = (rest + text).split('\n')
        rest = lines.pop()!
        yield* lines
      }
    } catch (error) {
      if (!isCutOff(error)) throw error
    }
  }

  /** `kill -9`; resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.#server.kill()
    this.#agent.destroy()
  }

  async #send(method: string, path: string, body?: object) {
    const text = body && JSON.stringify(body)
    const sent = request(this.#server.url + path, {
      ...{ method, agent: this.#agent },
      headers:
        text === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) },
    })
    sent.end(text)
    const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage]
    return response
  }
}

/** Whether an error only says that the other side is gone. */
export function isCutOff(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : ''
  return ['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(code))
}
