/** Files with fast-check properties, one after the other, with many more cases than `npm test` plays, and of other seeds. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import type { Finding } from './run.ts'

export const PROPERTIES = 'properties'
/** So many times those of `npm test`. */
const CASES = 20
const FILE_LIMIT_SECONDS = 600

export interface PropertyOptions {
  seed: number
  ms: number
  onFinding: (finding: Finding) => void
}

/** Until the time is over, at least one file. The seed decides the first one, so that short calls begin with different ones. */
export async function playProperties({ seed, ms, onFinding }: PropertyOptions): Promise<Finding[]> {
  const until = performance.now() + ms
  // the store's are in a suite that its engines share; walks of real processes are too long to be played so often
  const marks = ["/fastCheck.ts'", 'storeConformance']
  const imports = (file: string): string => readFileSync(join(PROGRAM_ROOT, file), 'utf8')
  const files = globSync('test/!(e2e)/**/*.test.ts', { cwd: PROGRAM_ROOT })
    .filter(file => marks.some(mark => imports(file).includes(mark)))
    .sort()
  const findings: Finding[] = []
  let next = seed
  do {
    const file = files[next % files.length]!
    const failure = await play(file, next)
    if (failure !== undefined) {
      const again = `CASES=${CASES} SEED=${next} node ${file}`
      const finding = { target: PROPERTIES, seed: next, path: file, text: `${again}\n${failure}` }
      findings.push(finding)
      onFinding(finding)
    }
    next++
  } while (performance.now() < until)
  console.log(`${next - seed} files with properties, of ${files.length}`)
  return findings
}

/** @returns its output, when it fails */
async function play(file: string, seed: number): Promise<string | undefined> {
  const env = { ...process.env, CASES: `${CASES}`, SEED: `${seed}`, TAP_TIMEOUT: `${FILE_LIMIT_SECONDS}` }
  const hook = join(PROGRAM_ROOT, 'src/program/sourceImports.js')
  const child = spawn(process.execPath, ['--require', hook, file], {
    cwd: PROGRAM_ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (child.exitCode === 0) return undefined
  const from = output.search(/^ *not ok/m)
  return output.slice(Math.max(from, 0))
}
