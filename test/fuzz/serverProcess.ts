/** Starts the server under attack, and collects its faults and its state. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Question, State, Telling } from './server.ts'

export interface Started {
  url: string
  kubeconfigPath: string
}

export class ServerProcess {
  readonly #child: ChildProcess
  readonly #waiting: ((state: State | null) => void)[] = []
  #isClosing = false

  /** `onFault` gets the server's logged errors, its uncaught ones, and its end. */
  static async start(
    dataDir: string,
    tokens: string,
    onFault: (fault: string) => void,
  ): Promise<[ServerProcess, Started]> {
    const child = fork(join(import.meta.dirname, 'server.ts'), [dataDir, tokens])
    let isReady: (started: Started) => void = () => {}
    let isOver: (error: Error) => void = () => {}
    const ready = new Promise<Started>((resolve, reject) => {
      isReady = resolve
      isOver = reject
    })
    const process = new ServerProcess(child)
    child.on('message', (telling: Telling) => {
      if ('fault' in telling) onFault(telling.fault)
      else if ('ready' in telling) isReady(telling.ready)
      else process.#waiting.shift()?.(telling.done)
    })
    child.on('exit', (code, signal) => {
      if (!process.#isClosing) onFault(`the server ended with ${code ?? signal}`)
      isOver(new Error(`the server ended with ${code ?? signal} before it was ready`))
      for (const tell of process.#waiting.splice(0)) tell(null)
    })
    return [process, await ready]
  }

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Names the present request, for when the server stands still. */
  note(what: string): void {
    if (this.#child.connected) this.#child.send({ note: what } satisfies Question, () => {})
  }

  /** Resolves when all faults so far have arrived. */
  async faultsTold(): Promise<void> {
    await this.#ask('faults')
  }

  /** After a collection. Nothing when the server has ended. */
  async state(): Promise<State | null> {
    return await this.#ask('state')
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (!this.#child.connected) return
    await this.#ask('close')
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }

  #ask(question: Question): Promise<State | null> {
    if (!this.#child.connected) return Promise.resolve(null)
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.#child.send(question)
    })
  }
}
