/**
 * A terminal in which a test types the commands of a page. Our own run in the test's process, where the program is loaded once.
 * Everything else, and all that needs a shell, runs in bash.
 */
import { join } from 'node:path'
import { Command, type Ends } from '../../support/command.ts'
import { type Ran, run } from '../../support/orrery.ts'
import { orreryHere, pluginHere } from '../../support/runHere.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** Where they are found first. */
export const PATH = [join(ROOT, 'bin'), join(ROOT, 'node_modules/.bin'), process.env.PATH].join(':')

/** Later commands of a script see these. */
const STATE = /^\s*(?:(?:cd|export|for|if|while|set) |\w+=)/m
/** Commands with their here documents; quotes, a backslash or a pipe continue one on the next line. */
const COMMAND =
  /^.*<<'?END'?.*\n(?:.*\n)*?END$|(?:(?<!\S)#.*|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\\[\s\S]|[|&] *\n|[^\n'"\\])+/gm
const WORD = /(?:'[^']*'|"[^"$`\\]*"|[\w@%+=:,./-])+/y
const BLANK = /(?:\s|\\\n|#.*)*/y

export interface TerminalOptions {
  /** Its folder. */
  dir: string
  /** Beside what the test's process has. */
  env?: Record<string, string>
}

/** One command is typed at a time: the environment and the folder of the test's process are the terminal's. */
export class Terminal {
  readonly env: Record<string, string>
  readonly #t: Ends

  constructor(t: Ends, { dir, env = {} }: TerminalOptions) {
    this.env = env
    this.#t = t
    const before = process.cwd()
    process.chdir(dir)
    t.teardown(() => process.chdir(before))
  }

  /** Types a script up to its first command that fails. */
  async run(script: string): Promise<Ran> {
    const ran = { code: 0, out: '', err: '' }
    const commands = STATE.test(script) ? [script] : (script.match(COMMAND) ?? [])
    for (const command of commands) {
      const { code, out, err } = await this.#one(command)
      ran.out += out
      ran.err += err
      if (code !== 0) return { ...ran, code }
    }
    return ran
  }

  /** Its output. @throws Error with all of it when a command fails */
  async ok(script: string): Promise<string> {
    const { code, out, err } = await this.run(script)
    if (code !== 0) throw new Error(`${script}\nended with ${code}\n${out}\n${err}`)
    return out + err
  }

  /** Starts an `orrery` that runs until the test ends; resolves at its line with `text`. */
  async start(command: string, text: string): Promise<Command> {
    const [program, ...args] = wordsOf(command) ?? []
    if (program !== 'orrery') throw new Error(`${command} is no plain command of orrery`)
    return await this.#here(async () => {
      const started = new Command(this.#t, args)
      await started.said(text)
      return started
    })
  }

  async #one(command: string): Promise<Ran> {
    const words = wordsOf(command)
    if (words?.length === 0) return { code: 0, out: '', err: '' } // a comment
    const [program, name, ...args] = words ?? []
    if (program === 'kubectl' && (name === 'ws' || name === 'kubestellar'))
      return await this.#here(() => pluginHere(name, ...args))
    if (program === 'orrery' && name !== undefined) return await this.#here(() => orreryHere(name, ...args))
    return await run('bash', ['-ec', command], { env: { PATH, ...this.env } })
  }

  async #here<Result>(act: () => Promise<Result>): Promise<Result> {
    const before = Object.keys(this.env).map(name => [name, process.env[name]] as const)
    Object.assign(process.env, this.env)
    try {
      return await act()
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      }
    }
  }
}

/** Words of a command that needs no shell; undefined for others. */
function wordsOf(command: string): string[] | undefined {
  const words: string[] = []
  for (let at = 0; ; ) {
    BLANK.lastIndex = at
    at += BLANK.exec(command)![0].length
    if (at === command.length) return words
    WORD.lastIndex = at
    const [word] = WORD.exec(command) ?? []
    if (word === undefined) return undefined
    words.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'))
    at += word.length
  }
}
