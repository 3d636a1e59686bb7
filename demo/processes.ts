/** Starts what the demo needs as processes of their own, and ends every one of them again. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** Programs that run: those of this clone, or of an installation. */
export const BIN = process.env.DEMO_PROGRAMS ?? join(import.meta.dirname, '..', 'bin')

export class Processes {
  readonly #logDir: string
  readonly #bin: string
  readonly #running: { name: string; child: ChildProcess; ended: Promise<void> }[] = []

  /** `logDir` gets a file of stderr for each process. `bin`: whose programs are run. */
  constructor(logDir: string, bin: string = BIN) {
    this.#logDir = logDir
    this.#bin = bin
  }

  get pids(): string[] {
    return this.#running.map(({ name, child }) => `${name}=${child.pid}`)
  }

  /** Starts `bin/orrery <args>`; resolves to the first line of its stdout. @throws Error when it ends before that */
  async start(name: string, args: readonly string[]): Promise<string> {
    const child = this.#spawn(name, args)
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout! }).once('line', resolve)
      child.once('exit', code =>
        reject(
          new Error(`${name} ended with code ${code} before it was ready; see ${join(this.#logDir, `${name}.log`)}`),
        ),
      )
    })
    return line
  }

  /** Starts a process that says nothing on stdout; its id. */
  launch(name: string, args: readonly string[]): number {
    const child = this.#spawn(name, args)
    child.stdout?.resume()
    return child.pid!
  }

  /** Ends one. */
  async end(name: string): Promise<void> {
    const at = this.#running.findIndex(one => one.name === name)
    const [one] = this.#running.splice(at, 1)
    one?.child.kill('SIGTERM')
    await one?.ended
  }

  /** Lets everything run on after this process has ended. */
  abandon(): void {
    for (const { child } of this.#running) {
      child.unref()
      child.stdout?.destroy()
      child.stderr?.destroy()
    }
  }

  /** Ends all, the last started first. */
  async stop(): Promise<void> {
    for (const { child, ended } of this.#running.reverse()) {
      child.kill('SIGTERM')
      await ended
    }
    this.#running.length = 0
  }

  #spawn(name: string, args: readonly string[]): ChildProcess {
    const log = createWriteStream(join(this.#logDir, `${name}.log`), { flags: 'a' })
    const child = spawn(join(this.#bin, 'orrery'), [...args], { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    child.stderr!.pipe(log)
    const ended = new Promise<void>(resolve => child.once('exit', () => resolve()))
    this.#running.push({ name, child, ended })
    return child
  }
}

export interface Ran {
  code: number
  output: string
}

/** Runs one command to its end, with Orrery's plugins on the PATH. `output` is stdout and stderr. */
export function runCommand(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const child = spawn(command, [...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}`, ...env },
  })
  let output = ''
  const take = (data: Buffer): void => {
    output += data.toString()
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ code: code ?? 1, output }))
  })
}

export function hasKubectl(): boolean {
  return spawnSync('kubectl', ['version', '--client'], { stdio: 'ignore' }).status === 0
}
