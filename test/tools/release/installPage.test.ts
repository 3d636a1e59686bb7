/** docs/install.md: what it names is what is made, and what it quotes is what is said. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { programVersion } from '../../../src/cli/programVersion.ts'
import { LINKS } from '../../../tools/release/links.ts'
import { ENGINES } from '../../../tools/release/npmPackage.ts'

const ROOT = join(import.meta.dirname, '../../..')
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const page = text('docs/install.md').replace(/\s+/g, ' ')

t.test('files, releases and links are named as they are', async t => {
  const { version } = programVersion()
  const named = [...page.matchAll(/\borrery(?:-syncer)?[-:](\d+\.\d+\.\d+)/g)].map(([, release]) => release)
  t.ok(named.length > 5)
  t.strictSame(new Set(named), new Set([version]))
  const [old = '', current = ''] = [...ENGINES.matchAll(/(\d+\.\d+)\.\d+/g)].map(([, release]) => release!)
  t.match(page, `It runs on ${old} and later, and on ${current} and later`)
  for (const name of LINKS) t.match(page, `\`${name}\``)
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> }
  for (const [, script] of page.matchAll(/(?:`|&& |`sh )npm run (\w+)/g)) t.ok(script! in scripts, `npm run ${script}`)
})

t.test('what the program says where it cannot run is what it says', async t => {
  const said = text('src/program/addon.ts').replace(/['`] \+\s+['`]/g, '')
  for (const words of [
    'its file system is mounted noexec',
    'is not the one that this program brings',
    'the database engine cannot be written',
  ]) {
    t.match(page, words)
    t.match(said, words)
  }
  const parts = /const PARTS = \[(.*)\]/.exec(text('tools/release/release.ts'))?.[1]?.replaceAll("'", '')
  t.match(page, `# a part: ${parts}`)
})
