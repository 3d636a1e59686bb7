/** `npm run pages`: writes docs/commands.md, and the manual pages to release/man. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandTree } from './commandTree.ts'
import { manPages } from './manPage.ts'
import { commandsPage } from './page.ts'

const ROOT = join(import.meta.dirname, '../..')
const programs = commandTree()
writeFileSync(join(ROOT, 'docs/commands.md'), commandsPage(programs))
const folder = join(ROOT, 'release/man/man1')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
const [date = ''] = new Date().toISOString().split('T')
for (const program of programs)
  for (const [file, text] of manPages(program, { version, date })) writeFileSync(join(folder, file), text)
