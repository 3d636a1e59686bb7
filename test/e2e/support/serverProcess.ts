/** `orrery start` as a process that a test may kill, and HTTP requests to it as its administrator. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface Answer {
  code: number
  body: Record<string, unknown>
}

export class ServerProcess {
  readonly #child: ChildProcess
  readonly #agent: Agent
  readonly #url: string

  private constructor(child: ChildProcess, agent: Agent, url: string) {
    this.#child = child
    this.#agent = agent
    this.#url = url
  }

  /** Resolves when the server says that it is ready. `connections` limits what is open at once. */
  static async start(dataDir: string, connections: number): Promise<ServerProcess> {
    const bin = join(import.meta.dirname, '../../../bin/orrery')
    const child = spawn(bin, ['start', '--data-dir', dataDir, '--secure-port', '0'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said: string[] = []
    child.stderr.on('data', (text: Buffer) => said.push(text.toString()))
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(`${line}\n`)
      const url = /^orrery ready: (https:.*)$/.exec(line)?.[1]
      if (url === undefined) continue
      child.stdout.resume()
      const [ca, cert, key] = await Promise.all(
        ['ca.crt', 'admin.crt', 'admin.key'].map(file => readFile(join(dataDir, 'pki', file), 'utf8')),
      )
      return new ServerProcess(child, new Agent({ keepAlive: true, maxSockets: connections, ca, cert, key }), url)
    }
    throw new Error(`the server ended before it was ready:\n${said.join('')}`)
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
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const gone = once(this.#child, 'exit')
      this.#child.kill('SIGKILL')
      await gone
    }
    this.#agent.destroy()
  }

  async #send(method: string, path: string, body?: object) {
    const text = body && JSON.stringify(body)
    const sent = request(this.#url + path, {
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
