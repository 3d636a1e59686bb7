/** The YAML library, which takes 7 ms and 2 MB and which most processes never need. */
import { createRequire } from 'node:module'

/** Loads the library when it is called for the first time. */
export function yaml(): typeof import('yaml') {
  return createRequire(import.meta.url)('yaml') as typeof import('yaml')
}
