/** `node tools/pictures/recording.ts`: runs the demo and keeps its outage and its refusal in docs/pictures/demo.txt. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Picture } from './svg.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILE = join(ROOT, 'docs/pictures/demo.txt')
/** Chapters of the demo, from the first to the one that is left out. */
const [FIRST, END] = ['# An outage', '# A rollout'] as const
const LINE = 16
const COLUMNS = 112

/** The recording as a picture of a terminal; each line has a class by its meaning. */
export function recorded(): Picture {
  const lines = readFileSync(FILE, 'utf8').trimEnd().split('\n')
  const picture = new Picture(
    COLUMNS * 7.3 + 24,
    lines.length * LINE + 24,
    'The demo: an outage, its end, a refusal and its reason',
  )
  picture.box({ x: 4, y: 4, width: picture.width - 8, height: picture.height - 8, title: '' })
  for (const [i, line] of lines.entries())
    picture.text([14, 24 + i * LINE], line, /^#|\$ /.test(line) ? 'mono title' : 'mono')
  return picture
}

/** @returns the part that is kept, cut to the width of a page */
export function kept(output: string): string {
  const from = output.indexOf(FIRST)
  const to = output.indexOf(END)
  if (from < 0 || to < from) throw new Error(`the demo has no chapters "${FIRST}" to "${END}"`)
  const lines = output.slice(from, to).trimEnd().split('\n')
  return `${lines.map(line => (line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line)).join('\n')}\n`
}

if (import.meta.main) {
  const output = execFileSync(process.execPath, [join(ROOT, 'demo/demo.ts')], { encoding: 'utf8', maxBuffer: 1 << 24 })
  writeFileSync(FILE, kept(output))
}
