/** `npm run pages`: writes the generated pages of docs/reference, states in openapi/groups, and the manual pages to release/man. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_ROOT } from '../../src/program/programRoot.ts'
import { programVersion } from '../../src/program/programVersion.ts'
import { writeManual } from './manual.ts'
import { referencePages } from './reference.ts'
import { withStates } from './states.ts'

const group = join(PROGRAM_ROOT, 'openapi/groups/edge.kubestellar.io.yaml')
writeFileSync(group, withStates(readFileSync(group, 'utf8')))
for (const [file, page] of await referencePages()) writeFileSync(join(PROGRAM_ROOT, 'docs/reference', file), page)
writeManual(join(PROGRAM_ROOT, 'release/man'), { version: programVersion().version, date: new Date() })
