/** The reference of commands is what the commands say of themselves. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandTree, type DescribedCommand } from '../../../tools/commands/commandTree.ts'
import { manPages } from '../../../tools/commands/manPage.ts'
import { commandPages } from '../../../tools/commands/page.ts'

const programs = commandTree()
const all = (command: DescribedCommand): DescribedCommand[] => [command, ...command.commands.flatMap(all)]

t.test('pages of docs/reference are of these commands; "npm run pages" writes them anew', async t => {
  const pages = commandPages(programs)
  t.strictSame([...pages.keys()], ['orrery.md', 'kubectl-ws.md', 'kubectl-kubestellar.md'])
  for (const [file, page] of pages)
    t.equal(readFileSync(join(import.meta.dirname, '../../../docs/reference', file), 'utf8'), page, file)
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
