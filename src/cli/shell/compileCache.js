/**
 * Keeps the code that V8 compiled from one run to the next, in a folder of the user's own: what lies there is run, so never
 * in a shared one like /tmp, where anybody may put something first. Beside the program if that is theirs, else below their
 * home; without either every run compiles anew. Plain JavaScript, as the entries that import it.
 * @see https://nodejs.org/api/module.html#module-compile-cache
 */
import { mkdirSync, statSync } from 'node:fs'
import { enableCompileCache, findPackageJSON } from 'node:module'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

const WRITABLE_BY_OTHERS = 0o022

/** NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE hold, as with any program of Node. */
export function keepCompiledCode() {
  if (process.env.NODE_COMPILE_CACHE) return
  const folder = folders().find(isOwn)
  if (folder !== undefined) enableCompileCache(folder)
}

function folders() {
  const root = findPackageJSON(import.meta.url)
  const caches = process.env.XDG_CACHE_HOME ?? ''
  return [
    ...(root === undefined ? [] : [join(dirname(root), 'node_modules/.cache/orrery')]),
    join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'orrery/compiled'),
  ]
}

/** Makes it if need be. A folder that cannot be is not worth a word: without it all is as well, and 0.1 s slower. */
function isOwn(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    // Windows knows neither; there a user's own folders are nobody else's.
    if (process.getuid === undefined) return folder.startsWith(homedir())
    return uid === process.getuid() && (mode & WRITABLE_BY_OTHERS) === 0
  } catch {
    return false
  }
}
