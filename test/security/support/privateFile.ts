/** A file that nobody else may read, as credentials are kept. */
import { writeFileSync } from 'node:fs'

/** Its path. */
export function privateFile(path: string, text: string): string {
  writeFileSync(path, text, { mode: 0o600 })
  return path
}
