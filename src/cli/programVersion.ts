/** The name and release of this program, as its package says. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM_ROOT } from '../program/programRoot.ts'

export function programVersion(): { readonly name: string; readonly version: string } {
  const { name = '', version = '' } = JSON.parse(readFileSync(join(PROGRAM_ROOT, 'package.json'), 'utf8')) as Record<
    string,
    string
  >
  return { name, version }
}
