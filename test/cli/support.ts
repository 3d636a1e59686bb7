/** `orrery start` in the test's process, and real plugin processes. */
import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { Command } from '../support/command.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { temporaryDir } from '../support/server.ts'

const BIN = join(import.meta.dirname, '../../bin')

export interface Result {
  code: number
  out: string
  err: string
}

export interface Harness {
  /** A folder of this test, removed in the end; the working folder of the commands. */
  readonly dir: string
  /** `https://host:port`. */
  readonly url: string
  /** A fresh copy of the administrator's kubeconfig; its path. */
  kubeconfig(name: string): string
  /** Runs a program of `bin/` with `KUBECONFIG` set. */
  run(program: string, args: readonly string[], kubeconfig: string): Promise<Result>
}

/** Starts a server, with further flags; everything ends with the test. */
export async function startHarness(t: Test, flags: readonly string[] = []): Promise<Harness> {
  const dir = temporaryDir(t)
  const dataDir = join(dir, 'data')
  const server = new Command(t, ['start', '--data-dir', dataDir, '--secure-port', '0', ...flags])
  const url = (await server.said('orrery ready: ')).slice('orrery ready: '.length)
  return {
    dir,
    url,
    kubeconfig: name => {
      const path = join(dir, name)
      copyFileSync(join(dataDir, 'admin.kubeconfig'), path)
      return path
    },
    run: (program, args, kubeconfig) =>
      new Promise(resolve => {
        const options = { cwd: dir, env: { ...process.env, KUBECONFIG: kubeconfig }, timeout: PATIENCE_MS }
        execFile(join(BIN, program), [...args], options, (error, out, err) => {
          resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, out, err })
        })
      }),
  }
}
