/**
 * Identity of a release at `/version`, as text of `build.json`. The date is that of the commit, or SOURCE_DATE_EPOCH (seconds): a commit's
 * release has the same bytes for all makers.
 */
import { execFileSync } from 'node:child_process'
import { buildInfo, dateText } from '../../src/cli/orrery/version/buildInfo.ts'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'

export async function buildText(root = PROGRAM_ROOT): Promise<string> {
  const { commit, treeState } = buildInfo(root)
  const build = { gitCommit: commit, gitTreeState: await treeState(), buildDate: dateText(releaseDate(root)) }
  return `${JSON.stringify(build)}\n`
}

/** Without git and without a date given it is 1970. */
export function releaseDate(root = PROGRAM_ROOT): Date {
  const given = process.env.SOURCE_DATE_EPOCH
  return new Date(Number(given === undefined || given === '' ? commitSeconds(root) : given) * 1000)
}

function commitSeconds(root: string): string {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')))
  try {
    const args = ['show', '--no-patch', '--format=%ct', 'HEAD']
    return execFileSync('git', args, { cwd: root, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return '0'
  }
}
