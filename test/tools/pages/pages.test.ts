/** The reference is what the code says of itself. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandTree, type DescribedCommand } from '../../../tools/pages/commandTree.ts'
import { manPages } from '../../../tools/pages/manPage.ts'
import { referencePages } from '../../../tools/pages/reference.ts'

const REFERENCE = join(import.meta.dirname, '../../../docs/reference')
const programs = commandTree()
const all = (command: DescribedCommand): DescribedCommand[] => [command, ...command.commands.flatMap(all)]

t.test('pages of docs/reference are of this code; "npm run pages" writes them anew', async t => {
  const pages = await referencePages()
  const kinds = readdirSync(join(REFERENCE, 'kinds')).map(file => `kinds/${file}`)
  t.strictSame([...pages.keys()].filter(file => file.startsWith('kinds/')).sort(), kinds.sort(), 'each kind has a page')
  const index = readFileSync(join(REFERENCE, 'README.md'), 'utf8')
  for (const [file, page] of pages) {
    t.equal(readFileSync(join(REFERENCE, file), 'utf8'), page, file)
    t.match(index, new RegExp(`\\(${file}[#)]`), `the index leads to ${file}`)
  }
})

t.test('each command has a manual page that says all of its flags', async t => {
  for (const program of programs) {
    const pages = manPages(program, { version: '1', date: new Date('2026-11-22') })
    for (const { path, options } of all(program)) {
      const page = pages.get(`${path.replaceAll(' ', '-')}.1`) ?? ''
      for (const { flags } of options) t.ok(page.includes(`.B ${flags.replaceAll('-', '\\-')}\n`), `${path} ${flags}`)
    }
  }
})

const groff = '/usr/bin/groff'
t.test('groff finds nothing wrong with them', { skip: !existsSync(groff) && 'there is no groff' }, async t => {
  const text = programs
    .flatMap(program => [...manPages(program, { version: '1', date: new Date('2026-11-22') }).values()])
    .join('')
  const shown = execFileSync(groff, ['-man', '-Tutf8', '-ww', '-z'], { input: text, encoding: 'utf8', stdio: 'pipe' })
  t.equal(shown, '')
})
