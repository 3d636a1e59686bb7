/**
 * The one door to threads. A thread has a name; which file runs in it is told here and nowhere else, because that file is
 * another one in a bundle: `npm run build` makes an entry of each.
 */
import { join } from 'node:path'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { PROGRAM_ROOT } from './programRoot.ts'

/** By name, the source of what runs in the thread, from the program's root. */
export const THREADS = {
  jobs: 'src/apiserver/jobThread.ts',
} as const satisfies Readonly<Record<string, string>>

export type ThreadName = keyof typeof THREADS

/** Where the bundle has its threads, from the program's root. */
export const BUNDLED_THREADS = 'dist/threads'

/** Sources run as they were written; the bundle is JavaScript. */
const FROM_SOURCES = import.meta.filename.endsWith('.ts')

export function startThread(name: ThreadName, options: WorkerOptions = {}): Worker {
  const file = FROM_SOURCES ? THREADS[name] : `${BUNDLED_THREADS}/${name}.js`
  return new Worker(join(PROGRAM_ROOT, file), { name, ...options })
}
