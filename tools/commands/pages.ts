/** `npm run pages`: writes docs/commands.md, the limits of docs/operations.md, and the manual pages to release/man. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programVersion } from '../../src/cli/orrery/version/programVersion.ts'
import { commandTree } from './commandTree.ts'
import { withLimits } from './limits.ts'
import { writeManual } from './manual.ts'
import { commandsPage } from './page.ts'

const ROOT = join(import.meta.dirname, '../..')
writeFileSync(join(ROOT, 'docs/commands.md'), commandsPage(commandTree()))
const OPERATIONS = join(ROOT, 'docs/operations.md')
writeFileSync(OPERATIONS, withLimits(readFileSync(OPERATIONS, 'utf8')))
writeManual(join(ROOT, 'release/man'), { version: programVersion().version, date: new Date() })
