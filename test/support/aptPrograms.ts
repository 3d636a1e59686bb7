/**
 * Programs that a test needs beside Orrery: found, or installed with apt where this user is root and there is one. Otherwise the reason why
 * they are missing, for `skip`. CI with a clean image so runs what a plain machine skips.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Lists and packages come over a network that may be slow, or not there. */
const APT_MS = 120_000
/** Where there is no network it is to say so soon. */
const SOON = ['-o', 'Acquire::Retries=0', '-o', 'Acquire::http::Timeout=10', '-o', 'Acquire::https::Timeout=10']
/** No prompts, and no service starts: a test starts its own with its own configuration. */
const QUIET = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }

export interface AptOptions {
  /** Default: whether this user is root. */
  isRoot?: boolean
  /** Default: apt-get. */
  apt?: string
}

/** `programs`: the package of each program, by its path. `false` when all are there now. */
export function lacking(
  programs: Readonly<Record<string, string>>,
  { isRoot = process.getuid?.() === 0, apt = 'apt-get' }: AptOptions = {},
): string | false {
  const missing = (): string[] => Object.keys(programs).filter(path => !existsSync(path))
  const before = missing()
  if (before.length === 0) return false
  const lacks = `this machine has no ${before.join(', ')}`
  const packages = [...new Set(before.map(path => programs[path]!))]
  if (!isRoot) return `${lacks}, and only root can run: apt-get install ${packages.join(' ')}`
  const run = (...args: string[]): void => {
    execFileSync(apt, ['-qq', ...SOON, ...args], { env: { ...process.env, ...QUIET }, timeout: APT_MS, stdio: 'pipe' })
  }
  const install = (): void => run('install', '--yes', '--no-install-recommends', ...packages)
  try {
    try {
      install()
    } catch {
      // an image comes without lists, or with old ones
      run('update')
      install()
    }
  } catch (error) {
    return `${lacks}, and apt could not install ${packages.join(' ')}: ${(error as Error).message.split('\n')[0]}`
  }
  const after = missing()
  return after.length > 0 && `the packages ${packages.join(', ')} have no ${after.join(', ')}`
}
