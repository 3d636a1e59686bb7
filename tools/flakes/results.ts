/** Results of many runs of test files: kept as lines of JSON in a folder, which shards and days share, and summed. */
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Run {
  readonly file: string
  readonly seed: number
  /** Busy loops beside it. */
  readonly load: number
  readonly seconds: number
  /** The commit of the sources; ends in `+` where they differ from it. */
  readonly commit: string
  /** Names of the tests that failed, outermost first; empty: it passed. */
  readonly failed: readonly string[]
  /** Path of the file with the output of a run that failed. */
  readonly output?: string | undefined
}

const FILE = 'runs.jsonl'

export function keepRun(dir: string, run: Run): void {
  appendFileSync(join(dir, FILE), `${JSON.stringify(run)}\n`)
}

export function runsIn(dir: string): Run[] {
  const path = join(dir, FILE)
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : []
  return lines.filter(line => line !== '').map(line => JSON.parse(line) as Run)
}

/** Names of the tests that failed, in the order of a TAP output; `how` it ended where no test says it failed. */
export function failedIn(tap: string, how: string): string[] {
  const names = new Set<string>()
  for (const [, name = ''] of tap.matchAll(/^ *not ok \d+(?: - (.*?))?(?: # time=.*)?(?: \{)?$/gm))
    names.add(name === '' ? 'a test without a name' : name)
  return names.size > 0 ? [...names] : [how]
}

/** The `shard`th of `of` parts, from 1. Each file is in one part, and neighbours, which often cost alike, are in different ones. */
export function inShard<T>(files: readonly T[], shard: number, of: number): T[] {
  return files.filter((_, i) => i % of === shard - 1)
}

/** One line for each file that ever failed, with its seeds, and one with the sums. */
export function summary(runs: readonly Run[]): string[] {
  const lines: string[] = []
  const byFile = Map.groupBy(runs, ({ file }) => file)
  for (const [file, own] of [...byFile].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const bad = own.filter(({ failed }) => failed.length > 0)
    if (bad.length === 0) continue
    lines.push(`${file}: ${bad.length} of ${own.length} runs failed`)
    for (const { seed, load, commit, failed, output } of bad)
      lines.push(`  --seed ${seed} --load ${load} at ${commit}: ${failed.join('; ')}`, `    ${output}`)
  }
  const bad = runs.filter(({ failed }) => failed.length > 0).length
  const hours = runs.reduce((all, { seconds }) => all + seconds, 0) / 3600
  return [...lines, `${runs.length} runs of ${byFile.size} files in ${hours.toFixed(1)} hours: ${bad} failed`]
}
