/** The process that makes the load. One job at a time. */
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Job, Result } from './loadGenerator.ts'

export class Generator {
  readonly #process: ChildProcess = fork(join(import.meta.dirname, 'loadGenerator.ts'))

  /** @param cores the only ones that it may use, as `taskset` writes them */
  constructor(cores?: string) {
    if (cores !== undefined)
      execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', cores, `${this.#process.pid}`])
  }

  async run(job: Job): Promise<Result> {
    this.#process.send(job)
    const [answer] = (await once(this.#process, 'message')) as [{ result?: Result; error?: string }]
    if (answer.result === undefined) throw new Error(answer.error)
    return answer.result
  }

  close(): void {
    this.#process.kill()
  }
}
