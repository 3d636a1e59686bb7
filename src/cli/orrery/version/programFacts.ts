/** Output of `orrery version`: the program, its commit and its platform. */
import { isSea } from 'node:sea'
import { UNKNOWN_BUILD } from '../../../apiserver/pages/versionInfo.ts'
import { programVersion } from '../../../program/programVersion.ts'
import { buildInfo } from './buildInfo.ts'

/** An unknown field is empty, as at `/version` of the server. */
interface ProgramFacts {
  name: string
  version: string
  gitCommit: string
  gitTreeState: string
  buildDate: string
  /** Whether the program is one file with its own Node, or runs on one beside it. */
  form: 'one file' | 'files'
  node: string
  platform: string
}

export async function programFacts(): Promise<ProgramFacts> {
  const { commit, date, treeState } = buildInfo()
  return {
    ...programVersion(),
    gitCommit: commit,
    gitTreeState: await treeState(),
    buildDate: date === UNKNOWN_BUILD.date ? '' : date,
    form: isSea() ? 'one file' : 'files',
    node: process.version,
    platform: `${process.platform}/${process.arch}`,
  }
}

/** As `orrery 1.2.3 (commit 0123…, clean, 2026-01-31T10:20:30Z)`: what is not known is left out. */
export function factsLine({ name, version, gitCommit, gitTreeState, buildDate }: ProgramFacts): string {
  const facts = [gitCommit && `commit ${gitCommit}`, gitTreeState, buildDate].filter(Boolean)
  return facts.length > 0 ? `${name} ${version} (${facts.join(', ')})` : `${name} ${version}`
}
