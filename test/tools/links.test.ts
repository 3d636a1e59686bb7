/** Each relative link of a Markdown file names a file or folder of the tree, each anchor a heading. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const PAGES = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter(page => page !== '' && existsSync(join(ROOT, page)))

/** Code is no link, and a heading in a block of code is none. */
const withoutBlocks = (text: string): string => text.replaceAll(/^ *```.*?^ *```$/gms, '')
const withoutCode = (text: string): string => withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '')

/** Anchors of a page as GitHub makes them: repeated headings get a number. */
function anchorsOf(text: string): Set<string> {
  const counts = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, title] of withoutBlocks(text).matchAll(/^#+ (.*)$/gm)) {
    const slug = title!
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, '')
      .replaceAll(' ', '-')
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  for (const [, id] of text.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id!)
  return anchors
}

/** Dead targets of a page. */
function deadLinks(page: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const targets = [...withoutCode(text).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)|(?:href|src|srcset)="([^"]+)"/g)]
  return targets
    .map(([, inline, html]) => (inline ?? html)!)
    .filter(target => !/^[a-z]+:/.test(target))
    .filter(target => {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)))
      const absolute = join(ROOT, file)
      if (!existsSync(absolute)) return true
      if (anchor === undefined) return false
      if (statSync(absolute).isDirectory() || !file.endsWith('.md')) return true
      return !anchorsOf(readFileSync(absolute, 'utf8')).has(anchor)
    })
}

t.test('an anchor is what GitHub makes of a heading', async t => {
  t.same(
    [...anchorsOf('# A `b_c`, d: e\n\n## Run\n```sh\n# no heading\n```\n## Run\n### [Link](x.md) & more\n')],
    ['a-b_c-d-e', 'run', 'run-1', 'link--more'],
  )
})

t.ok(PAGES.includes('README.md'))
for (const page of PAGES) t.test(page, async t => t.same(deadLinks(page), [], `${page} has no dead link`))
