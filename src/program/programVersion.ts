/** The name and release of this program, as its package says. */
import { programFile } from './programFile.ts'

export function programVersion(): { readonly name: string; readonly version: string } {
  const { name = '', version = '' } = JSON.parse(programFile('package.json')) as Record<string, string>
  return { name, version }
}
