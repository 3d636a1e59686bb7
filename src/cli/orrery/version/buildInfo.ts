/**
 * Identity of this program: commit and date in a checkout, which runs without a build. A package and the one file have the release's
 * `build.json` (see tools/release/). Otherwise it is unknown.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSea } from 'node:sea'
import { type BuildInfo, type TreeState, UNKNOWN_BUILD } from '../../../apiserver/pages/versionInfo.ts'
import { programFile } from '../../../program/programFile.ts'
import { PROGRAM_ROOT } from '../../../program/programRoot.ts'
import { readCheckout } from './checkout.ts'

export const BUILD_FILE = 'build.json'

/** Parts of the program; notes and tests beside it do not count. */
const PROGRAM = ['bin', 'src', 'openapi', 'tools', 'package.json', 'package-lock.json']
const GIT_TIMEOUT_MS = 5000

/** Reads a few small files. A `.git` in a folder above is another project's. */
export function buildInfo(root?: string): BuildInfo {
  if (root === undefined && isSea()) return parsed(programFile(BUILD_FILE), process.execPath)
  return ofFolder(root ?? PROGRAM_ROOT)
}

function ofFolder(root: string): BuildInfo {
  const checkout = readCheckout(root)
  if (checkout === undefined) return recorded(join(root, BUILD_FILE)) ?? UNKNOWN_BUILD
  let state: Promise<TreeState> | undefined
  return {
    commit: checkout.commit,
    date: checkout.since ? dateText(checkout.since) : UNKNOWN_BUILD.date,
    treeState() {
      state ??= askGit(root)
      return state
    },
  }
}

/** RFC 3339, whole seconds. */
export function dateText(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}

/** Runs git once, beside everything else; without it nobody knows. */
function askGit(root: string): Promise<TreeState> {
  // A hook of another repository may start the program.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  const args = ['--no-optional-locks', 'status', '--porcelain', '--', ...PROGRAM]
  return new Promise(resolve => {
    execFile('git', args, { cwd: root, env, timeout: GIT_TIMEOUT_MS }, (error, changes) => {
      if (error) resolve('')
      else resolve(changes === '' ? 'clean' : 'dirty')
    })
  })
}

/** @throws Error when the file is there and the release did not write it */
function recorded(path: string): BuildInfo | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  return parsed(text, path)
}

function parsed(text: string, path: string): BuildInfo {
  const { gitCommit, gitTreeState, buildDate } = JSON.parse(text) as Record<string, unknown>
  if (typeof gitCommit !== 'string' || !isTreeState(gitTreeState) || typeof buildDate !== 'string')
    throw new Error(`${path} is broken: install the package again`)
  return { commit: gitCommit, date: buildDate, treeState: async () => gitTreeState }
}

function isTreeState(value: unknown): value is TreeState {
  return value === 'clean' || value === 'dirty' || value === ''
}
