/** `npm run pages`: writes docs/reference, states where other pages and openapi/groups have them, and the manual pages to release/man. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programVersion } from '../../src/program/programVersion.ts'
import { commandTree } from './commandTree.ts'
import { kindPages, kindsOf } from './kinds.ts'
import { withLimits } from './limits.ts'
import { writeManual } from './manual.ts'
import { commandPages } from './page.ts'
import { withStates, withSums } from './states.ts'

const ROOT = join(import.meta.dirname, '../..')
for (const [file, page] of commandPages(commandTree())) writeFileSync(join(ROOT, 'docs/reference', file), page)
rewrite('docs/reference/limits.md', withLimits)
rewrite('docs/reference/states.md', withSums)
rewrite('openapi/groups/edge.kubestellar.io.yaml', withStates)
for (const [file, page] of kindPages(kindsOf(join(ROOT, 'openapi/groups'))))
  writeFileSync(join(ROOT, 'docs/reference/kinds', file), page)
writeManual(join(ROOT, 'release/man'), { version: programVersion().version, date: new Date() })

function rewrite(file: string, anew: (page: string) => string): void {
  const path = join(ROOT, file)
  writeFileSync(path, anew(readFileSync(path, 'utf8')))
}
