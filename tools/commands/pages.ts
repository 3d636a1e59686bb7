/** `npm run pages`: writes docs/commands.md, and the manual pages to release/man. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programVersion } from '../../src/cli/programVersion.ts'
import { commandTree } from './commandTree.ts'
import { writeManual } from './manual.ts'
import { commandsPage } from './page.ts'

const ROOT = join(import.meta.dirname, '../..')
writeFileSync(join(ROOT, 'docs/commands.md'), commandsPage(commandTree()))
writeManual(join(ROOT, 'release/man'), { version: programVersion().version, date: new Date() })
