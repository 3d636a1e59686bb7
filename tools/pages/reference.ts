/** The generated pages of docs/reference: every page there that this list lacks is written by hand. */
import { join } from 'node:path'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { commandPages } from './commands.ts'
import { commandTree } from './commandTree.ts'
import { keysPage } from './keys.ts'
import { kindPages, kindsOf } from './kinds.ts'
import { limitsPage } from './limits.ts'
import { metricsPage } from './metrics.ts'
import { priorityLevelsPage } from './priorityLevels.ts'
import { servedPage } from './served.ts'
import { statesPage } from './states.ts'

/** By path below docs/reference. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const kinds = kindPages(kindsOf(join(PROGRAM_ROOT, 'openapi/groups')))
  return new Map([
    ...commandPages(commandTree()),
    ...Array.from(kinds, ([file, text]) => [`kinds/${file}`, text] as const),
    ['limits.md', limitsPage()],
    ['metrics.md', await metricsPage()],
    ['annotations.md', keysPage()],
    ['states.md', statesPage()],
    ['served.md', servedPage()],
    ['priority-levels.md', priorityLevelsPage()],
  ])
}
