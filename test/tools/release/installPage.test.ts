/** docs/install.md: its names are those of the built files, and its quotes those of the programs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { addonName, loadAddonFrom } from '../../../src/program/addon.ts'
import { programVersion } from '../../../src/program/programVersion.ts'
import { LINKS } from '../../../tools/release/links.ts'
import { ENGINES } from '../../../tools/release/npmPackage.ts'
import { RELEASED } from '../../../tools/release/released.ts'

const ENGINE = Buffer.from('an engine')
const ROOT = join(import.meta.dirname, '../../..')
const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const page = text('docs/install.md').replace(/\s+/g, ' ')
const load = (): never => {
  throw new Error('failed to map segment from shared object')
}

t.test('files, releases and links are named as they are', async t => {
  const { version } = programVersion()
  const named = [...page.matchAll(/\borrery(?:-syncer)?[-:](\d+\.\d+\.\d+)/g)].map(([, release]) => release)
  t.ok(named.length > 5)
  t.strictSame(new Set(named), new Set([version]))
  const [old = '', current = ''] = [...ENGINES.matchAll(/(\d+\.\d+)\.\d+/g)].map(([, release]) => release!)
  t.match(page, `runs on Node.js ${old} and later, and on ${current} and later`)
  for (const name of LINKS) t.match(page, `\`${name}\``)
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> }
  for (const [, script] of page.matchAll(/(?:`|&& |`sh )npm run (\w+)/g)) t.ok(script! in scripts, `npm run ${script}`)
})

t.test('what the program says where it cannot run is what it says', async t => {
  const root = t.testdir({ noexec: {}, changed: { [addonName(ENGINE)]: 'another' }, taken: 'no folder' })
  const refusal = (folder: string): Error | undefined => {
    try {
      loadAddonFrom({ bytes: ENGINE, besideProgram: join(root, 'program'), folder: join(root, folder), load })
    } catch (error) {
      return error as Error
    }
  }
  for (const [folder, words] of [
    ['noexec', 'its file system is mounted noexec'],
    ['changed', 'is not the one that this program brings'],
    ['taken', 'the database engine cannot be written'],
  ] as const) {
    t.match(page, words)
    t.match(refusal(folder)?.message, words)
  }
  t.match(page, `# a part: ${RELEASED.join(', ')}`)
})
