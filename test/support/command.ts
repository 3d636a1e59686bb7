/** Commands of `orrery`, in the test's own process or as one of their own, and their output line by line. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { orreryProgram } from '../../src/cli/orrery/main.ts'
import { PATIENCE_MS } from './patience.ts'

export const ORRERY = join(import.meta.dirname, '../../bin/orrery')

/** Whatever ends what a test, or another program, began. */
export interface Ends {
  teardown(end: () => unknown): unknown
}

/** A command of `orrery` that runs, as a process or in the test's own, and its output line by line. */
export abstract class Running {
  readonly #lines: string[] = []
  readonly #listeners = new Set<() => void>()

  /** Everything that was printed so far. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** The first line that has `text`, printed already or later. @throws Error when the program ends without it */
  async said(text: string): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const look = (): void => {
      const line = this.#lines.find(each => each.includes(text))
      if (line !== undefined) resolve(line)
      else if (this.hasEnded) reject(new Error(`ended without saying "${text}":\n${this.#lines.join('\n')}`))
    }
    const timer = setTimeout(() => reject(new Error(`never said "${text}":\n${this.#lines.join('\n')}`)), PATIENCE_MS)
    this.#listeners.add(look)
    try {
      look()
      return await promise
    } finally {
      clearTimeout(timer)
      this.#listeners.delete(look)
    }
  }

  /** Resolves to the exit code of a program that ends by itself. */
  abstract exited(): Promise<number | string | null>
  protected abstract readonly hasEnded: boolean

  protected add(line: string): void {
    this.#lines.push(line)
    this.notify()
  }

  protected notify(): void {
    for (const listen of [...this.#listeners]) listen()
  }
}

/** A command that runs in the test's process: it starts in a tenth of the time, and cannot be killed. */
export class Command extends Running {
  readonly #end = Promise.withResolvers<void>()
  readonly #code: Promise<number>
  protected hasEnded = false

  /** Ended in order with the test at the latest. */
  constructor(t: Ends, args: readonly string[]) {
    super()
    const { program, result } = orreryProgram({
      out: text => this.#addAll(text),
      err: text => this.#addAll(text),
      log: lines => this.#addAll(lines.trimEnd()),
      terminated: () => this.#end.promise,
    })
    // threads that come and go with load would cut connections, and this process is always busy
    const threads = args[0] === 'start' && !args.includes('--api-threads') ? ['--api-threads', '0'] : []
    const ended = program.parseAsync([...args, ...threads], { from: 'user' }).finally(() => {
      this.hasEnded = true
      this.notify()
    })
    this.#code = ended.then(() => result.code)
    t.teardown(() => this.#endSoon(args))
  }

  /** As by SIGTERM; resolves to the exit code. */
  async end(): Promise<number> {
    this.#end.resolve()
    return await this.#code
  }

  exited(): Promise<number> {
    return this.#code
  }

  /** @throws Error with all that it printed when it does not end */
  async #endSoon(args: readonly string[]): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>()
    const late = () => reject(new Error(`orrery ${args.join(' ')} does not end:\n${this.lines.join('\n')}`))
    const timer = setTimeout(late, PATIENCE_MS)
    try {
      await Promise.race([this.end(), promise])
    } finally {
      clearTimeout(timer)
    }
  }

  #addAll(text: string): void {
    for (const line of text.split('\n')) this.add(line)
  }
}

/** A program as a process of its own, which may be frozen and killed. */
export class Program extends Running {
  readonly #child: ChildProcess

  private constructor(child: ChildProcess) {
    super()
    this.#child = child
    for (const stream of [child.stdout!, child.stderr!])
      createInterface({ input: stream }).on('line', line => this.add(line))
    child.on('exit', () => this.notify())
  }

  /** Killed at the end of the test at the latest. */
  static orrery(t: Ends, args: readonly string[]): Program {
    return Program.spawned(t, ORRERY, args)
  }

  static spawned(t: Ends, command: string, args: readonly string[], env = process.env): Program {
    const program = new Program(spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env }))
    t.teardown(() => program.end('SIGKILL'))
    return program
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Resolves to the exit code, or to the name of the signal that ended it. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | string | null> {
    if (!this.hasEnded) {
      const gone = once(this.#child, 'exit')
      this.#child.kill(signal)
      await gone
    }
    return this.#child.exitCode ?? this.#child.signalCode
  }

  /** It neither reads nor writes until it is thawed, as on a machine that swaps. */
  freeze(): void {
    this.#child.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child.kill('SIGCONT')
  }

  async exited(): Promise<number | string | null> {
    if (!this.hasEnded) await once(this.#child, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) })
    return this.#child.exitCode ?? this.#child.signalCode
  }

  protected get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}
