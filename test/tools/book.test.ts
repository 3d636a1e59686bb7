/** The book: each page is of one kind, short enough, and found from its index. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { wordsOf } from '../../tools/english/sentences.ts'
import { referencePages } from '../../tools/pages/reference.ts'

const ROOT = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8')
const markdownIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.md'))
const pagesIn = (folder: string): string[] =>
  markdownIn(folder)
    .filter(file => !file.includes('/') && file !== 'README.md')
    .sort()
const KINDS = ['Tutorial', 'How-to', 'Reference', 'Explanation'] as const
const PAGES = pagesIn('docs')
const DECISIONS = pagesIn('docs/decisions')
const INDEX = read('docs/README.md')
const MAX_BYTES = 30 * 1024
/** Written by hand, commands and tables included. */
const MAX_WORDS = 40_000

t.test('each page names its kind and its readers, and stands in the index under that kind', async t => {
  const byKind = new Map(
    [...INDEX.matchAll(/^\| (tutorial|how-to|reference|explanation) \| (.*) \|$/gm)].map(
      ([, kind, pages]) => [kind!, pages!] as const,
    ),
  )
  for (const page of PAGES) {
    const [, kind = ''] = /^# .+\n\n\*([\w-]+), for people who [^*]+\.\* /.exec(read(`docs/${page}`)) ?? []
    t.ok((KINDS as readonly string[]).includes(kind), `docs/${page} begins with its kind and its readers`)
    t.ok(byKind.get(kind.toLowerCase())?.includes(`](${page})`), `docs/${page} is in the index as ${kind}`)
  }
})

t.test('no page is too long to be read', async t => {
  for (const page of PAGES) t.ok(Buffer.byteLength(read(`docs/${page}`)) <= MAX_BYTES, `docs/${page}`)
  t.ok(Buffer.byteLength(read('docs/architecture.md')) <= 20 * 1024)
  t.ok(Buffer.byteLength(read('docs/performance.md')) <= 15 * 1024)
  t.ok(read('README.md').trimEnd().split('\n').length <= 200, 'README.md')
})

t.test('what is written by hand can be read; generated pages lie under docs/reference and count apart', async t => {
  const generated = await referencePages()
  const byHand = markdownIn('docs').filter(file => {
    const page = file.startsWith('reference/') ? generated.get(file.slice('reference/'.length)) : undefined
    return page !== read(`docs/${file}`)
  })
  const count = ['README.md', ...byHand.map(file => `docs/${file}`)].reduce((sum, file) => sum + wordsOf(read(file)), 0)
  t.ok(count <= MAX_WORDS, `${count} words, of at most ${MAX_WORDS}`)
})

t.test('decisions have one form, rising numbers and a place in their index', async t => {
  const index = read('docs/decisions/README.md')
  DECISIONS.forEach((page, i) => {
    const text = read(`docs/decisions/${page}`)
    const number = String(i + 1).padStart(3, '0')
    t.ok(page.startsWith(`${number}-`) && text.startsWith(`# ${number} `), page)
    t.match(text, /\n## Context\n[\s\S]+\n## Decision\n[\s\S]+\n## Cost\n[\s\S]+\n## Look again\n/, page)
    t.ok(text.split('\n').length <= 41, `${page} has at most 40 lines`)
    t.ok(index.includes(`](${page})`), `${page} is in the index`)
  })
})
