/** The other side of `ThreadPool`: what a thread of the pool does with the jobs that it is given, one after the other. */
import { getHeapStatistics } from 'node:v8'
import { parentPort } from 'node:worker_threads'

/** By name, what does the work. Loaded on use, so that a thread knows no more than its work. */
type JobTable = Readonly<Record<string, () => Promise<(input: never) => unknown>>>

export interface JobCall {
  name: string
  input: unknown
}

/**
 * That the work itself begins, with what the thread has used till then, and its result, with what its heap takes since. A failure
 * is one of the program: what users do wrong is a result.
 */
export type JobMessage = { begun: NodeJS.CpuUsage } | { result: unknown; heapBytes: number } | { failure: string }

export function serveJobs(jobs: JobTable): void {
  const port = parentPort
  if (port === null) throw new Error('jobs are served in a thread')
  const post = (message: JobMessage): void => port.postMessage(message)
  port.on('message', async ({ name, input }: JobCall) => {
    try {
      const load = jobs[name]
      if (load === undefined) throw new Error(`there is no job ${name}`)
      const work = await load()
      post({ begun: process.threadCpuUsage() })
      const result = work(input as never)
      post({ result, heapBytes: getHeapStatistics().total_heap_size })
    } catch (error) {
      post({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
}
