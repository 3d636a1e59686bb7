/**
 * What a package says about itself at `/version`: `npm pack` runs this before and after, as `node src/cli/writeBuildInfo.ts`
 * and with `--remove`. In a checkout the file is not needed, and not looked at. The date is now, or SOURCE_DATE_EPOCH
 * (seconds), for those who want to pack the same twice.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_ROOT } from '../program/programRoot.ts'
import { BUILD_FILE, buildInfo, dateText } from './buildInfo.ts'

const path = join(PROGRAM_ROOT, BUILD_FILE)
if (process.argv[2] === '--remove') rmSync(path, { force: true })
else {
  const seconds = process.env.SOURCE_DATE_EPOCH
  const date = seconds ? new Date(Number(seconds) * 1000) : new Date()
  const { commit, treeState } = buildInfo()
  const build = { gitCommit: commit, gitTreeState: await treeState(), buildDate: dateText(date) }
  writeFileSync(path, `${JSON.stringify(build)}\n`)
}
