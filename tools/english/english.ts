/**
 * `npm run english [-- --write | --list RULE]`: counts the sentences that break a rule of CONTRIBUTING.md, by where they stand. More than
 * counts.json allows is an error; `--write` records fewer; `--list` prints each with its file.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { commentsOf, documentOf, textsOf, wordsOf } from './sentences.ts'

const MAX_WORDS = 25
const RULES: Readonly<Record<string, (sentence: string) => boolean>> = {
  /** A noun of the domain comes first. */
  opening: sentence => /^["'(`*[]*(?:What|Of|Who|Whose|Whoever)\b/.test(sentence),
  long: sentence => wordsOf(sentence) > MAX_WORDS,
  /** Programs report, retain, release; verbs of speech are for people. */
  speech: sentence => /\b(?:told|hears?|heard|said|asked)\b/i.test(sentence),
}
const ROOT = join(import.meta.dirname, '../..')
const COUNTS = join(import.meta.dirname, 'counts.json')

/** By place, the sentences with their files. */
function sentences(): Map<string, { file: string; sentence: string }[]> {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.md'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  const found = files.flatMap(file => {
    const content = readFileSync(join(ROOT, file), 'utf8')
    const at = (place: string, texts: string[]) => texts.map(sentence => ({ place, file, sentence }))
    if (file.endsWith('.md')) return at('documents', documentOf(content))
    if (!file.startsWith('src/')) return at('comments of tests and tools', commentsOf(content))
    // the texts there are Kubernetes' own
    const texts = file.startsWith('src/kinds/') ? [] : textsOf(content)
    return [...at('comments', commentsOf(content)), ...at('messages', texts)]
  })
  return Map.groupBy(found, ({ place }) => place)
}

const { values } = parseArgs({ options: { write: { type: 'boolean' }, list: { type: 'string' } } })
const counts: Record<string, Record<string, number>> = {}
for (const [place, list] of sentences()) {
  const broken = (breaks: (sentence: string) => boolean) => list.filter(({ sentence }) => breaks(sentence))
  counts[place] = Object.fromEntries(Object.entries(RULES).map(([rule, breaks]) => [rule, broken(breaks).length]))
  const listed = RULES[values.list ?? '']
  if (listed !== undefined) for (const { file, sentence } of broken(listed)) console.log(`${file}: ${sentence}`)
}
if (values.write) writeFileSync(COUNTS, `${JSON.stringify(counts, null, 2)}\n`)

const allowed: typeof counts = JSON.parse(readFileSync(COUNTS, 'utf8'))
for (const [place, rules] of Object.entries(counts)) {
  for (const [rule, count] of Object.entries(rules)) {
    const limit = allowed[place]?.[rule] ?? 0
    if (count <= limit) continue
    console.error(
      `${count} sentences break the rule "${rule}" in ${place}, ${limit} may: npm run english -- --list ${rule}`,
    )
    process.exitCode = 1
  }
}
