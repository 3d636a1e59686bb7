/**
 * The one door to threads. A thread has a name. Only this table gives the file that runs in it, because a bundle has other files: `npm run
 * build` makes an entry of each.
 */
import { getCompileCacheDir } from 'node:module'
import { dirname, join } from 'node:path'
import { getAsset, isSea } from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { ENTRY_ASSET } from './parts.ts'
import { PROGRAM_ROOT } from './programRoot.ts'

/** By name, the source of what runs in the thread, from the program's root. */
export const THREADS = {
  jobs: 'src/apiserver/jobThread.ts',
  api: 'src/apiserver/apiThread.ts',
  rows: 'src/storage/level/rowsThread.ts',
} as const satisfies Readonly<Record<string, string>>

type ThreadName = keyof typeof THREADS

/** Where the bundle has its threads, from the program's root. */
export const BUNDLED_THREADS = 'dist/threads'

/** Sources run as they were written; the bundle is JavaScript. */
const FROM_SOURCES = import.meta.filename.endsWith('.ts')

export function startThread(name: ThreadName, options: WorkerOptions = {}): Worker {
  // A thread does not find its script in the file that runs: it is given the text, which finds the part of the thread's name.
  if (isSea()) return new Worker(getAsset(ENTRY_ASSET, 'utf8'), { eval: true, name, ...options })
  const file = FROM_SOURCES ? THREADS[name] : `${BUNDLED_THREADS}/${name}.js`
  return new Worker(join(PROGRAM_ROOT, file), { name, env: { ...process.env, ...compileCache() }, ...options })
}

/** A thread keeps compiled code only by its own setting, apart from its process: that saves half of its start. */
function compileCache(): { NODE_COMPILE_CACHE?: string } {
  const folder = getCompileCacheDir()
  // that of this release of Node stands in the one that was named
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) }
}
