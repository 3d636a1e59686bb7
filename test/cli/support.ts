/** A real `orrery start` and real plugin processes. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { PATIENCE_MS } from '../support/patience.ts'

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
  const dir = mkdtempSync(join(tmpdir(), 'orrery-cli-'))
  const dataDir = join(dir, 'data')
  const server = spawn(join(BIN, 'orrery'), ['start', '--data-dir', dataDir, '--secure-port', '0', ...flags], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ORRERY_LOG_LEVEL: 'error' },
  })
  const exited = once(server, 'exit')
  t.teardown(async () => {
    server.kill('SIGTERM')
    await exited
    rmSync(dir, { recursive: true, force: true })
  })
  const url = await Promise.race([
    readyUrl(server.stdout),
    exited.then(([code]): never => {
      throw new Error(`orrery start ended with ${code}`)
    }),
  ])
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

async function readyUrl(stdout: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stdout })) {
    const match = /^orrery ready: (.*)$/.exec(line)
    if (match) return match[1]!
  }
  throw new Error('orrery start never said that it is ready')
}
