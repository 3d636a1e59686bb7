/**
 * Settings of the C library and V8 that precede a long-running process, as `bin/orrery` and `bin/run.sh` give them (with the reasons). The
 * process replaces itself by one that has them. Where that fails, it runs as it is, and takes more memory.
 */
import { isSea } from 'node:sea'

export const ENVIRONMENT = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
  UV_THREADPOOL_SIZE: '8',
} as const
export const FLAGS: readonly string[] = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=4',
  '--concurrent-turbofan-max-threads=1',
]
export const SERVER_FLAGS: readonly string[] = ['--min-semi-space-size=4']
export const FRUGAL_FLAGS: readonly string[] = [
  '--max-semi-space-size=2',
  '--optimize-for-size',
  '--no-opt',
  '--no-maglev',
]
const LASTING = new Set(['start', 'syncer', 'simulate-wec'])

/** Whether a command's process runs until it is ended. */
export function isLasting(command: string | undefined): boolean {
  return command !== undefined && LASTING.has(command)
}

/** Says, by its id, which process is the second one already: it keeps the id. */
const DONE = 'ORRERY_TUNED'

/** Returns where all settings are in place, or none can be. */
export function becomeTuned(args: readonly string[]): void {
  const isDone = process.env[DONE] === String(process.pid)
  // Names that begin so are settings.
  delete process.env[DONE]
  const [command = ''] = args
  if (isDone || !isLasting(command)) return
  if (process.platform === 'win32' || process.execve === undefined) {
    // This much is still to be had: libuv has not looked yet.
    process.env.UV_THREADPOOL_SIZE ??= ENVIRONMENT.UV_THREADPOOL_SIZE
    return
  }
  const flags = flagsOf(command).filter(flag => !process.execArgv.includes(flag))
  const environment = Object.entries(ENVIRONMENT).filter(([name]) => process.env[name] === undefined)
  // The one file takes flags from nowhere but its command line; people give them as they do to any program of Node.
  const given = isSea() ? (process.env.NODE_OPTIONS ?? '') : ''
  if (flags.length === 0 && environment.length === 0 && given === '') return
  const env = { ...process.env, ...Object.fromEntries(environment), [DONE]: String(process.pid) }
  const options = [given, ...flags].filter(Boolean).join(' ')
  const forOneFile = [process.argv0, ...(options === '' ? [] : [`--node-options=${options}`]), ...args]
  const forNode = [process.argv0, ...process.execArgv, ...flags, process.argv[1]!, ...args]
  try {
    process.execve(process.execPath, isSea() ? forOneFile : forNode, env)
  } catch (error) {
    // Without /proc a program does not know where it is.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function flagsOf(command: string): readonly string[] {
  if (command === 'syncer') return [...FLAGS, ...FRUGAL_FLAGS]
  // the one file cannot get them: Node reads no environment for it
  return command === 'start' && !isSea() ? [...FLAGS, ...SERVER_FLAGS] : FLAGS
}
