/** `npm run pictures`: writes docs/pictures. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { consents } from './consents.ts'
import { cutOff } from './cutOff.ts'
import { recorded } from './recording.ts'
import { road } from './road.ts'
import { rooms } from './rooms.ts'
import { states } from './states.ts'
import type { Picture } from './svg.ts'

/** By file name, without its ending. */
export const PICTURES: Readonly<Record<string, () => Picture>> = {
  consents,
  'cut-off': cutOff,
  demo: recorded,
  road,
  rooms,
  states,
}

if (import.meta.main)
  for (const [name, picture] of Object.entries(PICTURES))
    writeFileSync(join(import.meta.dirname, '../../docs/pictures', `${name}.svg`), `${picture()}`)
