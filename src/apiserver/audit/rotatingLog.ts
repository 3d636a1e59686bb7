/**
 * The audit log as a file that is put aside when it is full, or as the standard output.
 *
 * Lines of one turn of the event loop are written together, and before the next turn. Order is kept, nothing piles up, and a slow disk
 * slows the server down instead of losing lines (upstream's mode `blocking`).
 * @see https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/#log-backend
 */
import { closeSync, existsSync, fstatSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import type { LogFields } from '../../apimachinery/logFields.ts'
import type { AuditSink } from './auditor.ts'

interface RotatingLogOptions {
  /** In a folder that is there. */
  path: string
  /** Megabytes (2^20) at which the file is put aside. 0: 100. */
  maxSizeMb: number
  /** Files put aside that are kept at most. 0: all. */
  maxBackups: number
  /** Days for which they are kept. 0: for ever. */
  maxAgeDays: number
  /** Logs lines that cannot be written. */
  log: { error(fields: LogFields, text: string): void }
  /** Milliseconds since the epoch. */
  clock: () => number
}

const MEGABYTE = 2 ** 20
const DEFAULT_MEGABYTES = 100
const DAY_MS = 86_400_000

export class RotatingLog implements AuditSink {
  readonly #options: Required<RotatingLogOptions>
  readonly #limitBytes: number
  #file: number
  #size: number
  #lines: string[] = []
  #lost = 0

  /** @throws Error when the file cannot be opened */
  constructor(options: RotatingLogOptions) {
    this.#options = options
    this.#limitBytes = (options.maxSizeMb || DEFAULT_MEGABYTES) * MEGABYTE
    this.#file = openSync(options.path, 'a', 0o600)
    this.#size = fstatSync(this.#file).size
    this.#prune()
  }

  write(line: string): void {
    if (this.#lines.length === 0) setImmediate(() => this.#flush())
    this.#lines.push(line)
  }

  async close(): Promise<void> {
    this.#flush()
    closeSync(this.#file)
  }

  #flush(): void {
    if (this.#lines.length === 0) return
    const count = this.#lines.length
    const batch = Buffer.from(`${this.#lines.join('\n')}\n`)
    this.#lines = []
    try {
      if (this.#size > 0 && this.#size + batch.length > this.#limitBytes) this.#rotate()
      for (let at = 0; at < batch.length; ) at += writeSync(this.#file, batch, at)
      this.#size += batch.length
      if (this.#lost > 0)
        this.#options.log.error({ lost: this.#lost }, 'the audit log is written again; lines were lost')
      this.#lost = 0
    } catch (error) {
      if (this.#lost === 0) {
        this.#options.log.error({ err: error, path: this.#options.path }, 'the audit log cannot be written')
      }
      this.#lost += count
    }
  }

  #rotate(): void {
    const { path, clock } = this.#options
    let at = clock()
    while (existsSync(this.#backup(at))) at++
    renameSync(path, this.#backup(at))
    const next = openSync(path, 'a', 0o600)
    closeSync(this.#file)
    this.#file = next
    this.#size = 0
    this.#prune()
  }

  /** `audit-2026-01-31T10-20-30.400.log` beside `audit.log`. */
  #backup(ms: number): string {
    const { path } = this.#options
    const extension = extname(path)
    const time = new Date(ms).toISOString().replaceAll(':', '-').slice(0, -1)
    return join(dirname(path), `${basename(path, extension)}-${time}${extension}`)
  }

  #prune(): void {
    const { path, maxBackups, maxAgeDays, clock } = this.#options
    if (maxBackups === 0 && maxAgeDays === 0) return
    const extension = extname(path)
    const prefix = `${basename(path, extension)}-`
    const backups = readdirSync(dirname(path))
      .filter(name => name.startsWith(prefix) && name.endsWith(extension))
      .map(name => ({ name, time: name.slice(prefix.length, name.length - extension.length) }))
      .filter(({ time }) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}$/.test(time))
      .sort((a, b) => (a.time < b.time ? 1 : -1))
    const oldest = new Date(clock() - maxAgeDays * DAY_MS).toISOString().replaceAll(':', '-').slice(0, -1)
    for (const [i, { name, time }] of backups.entries()) {
      const tooMany = maxBackups > 0 && i >= maxBackups
      const tooOld = maxAgeDays > 0 && time < oldest
      if (tooMany || tooOld) unlinkSync(join(dirname(path), name))
    }
  }
}

/** `--audit-log-path -`. */
export function streamLog(stream: NodeJS.WritableStream): AuditSink {
  return {
    write: line => void stream.write(`${line}\n`),
    close: () => new Promise(resolve => stream.write('', () => resolve())),
  }
}
