/** A replica in a thread of its own, which does one of a few things. */
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { openReplica } from '../../../src/storage/replica/replicaStore.ts'
import type { ReplicaLink } from '../../../src/storage/replica/sharedLog.ts'
import type { Stored } from '../../../src/storage/store.ts'
import { key } from '../support.ts'

export interface ThreadTask {
  link: ReplicaLink
  does: 'answers' | 'watches' | 'nothing'
  /** Counters of the answering thread: questions and answers; then the read and the projected revision. */
  turns: SharedArrayBuffer
}

const { link, does, turns } = workerData as ThreadTask
const logger = { error: (_: object, message: string) => process.emitWarning(message) }
const store = await openReplica(link, { logger })

/** Until turn -1, without ever going back to its loop: nothing but the question makes it catch up. */
function answer(): void {
  const words = new Int32Array(turns, 0, 2)
  const answers = new Float64Array(turns, 8, 2)
  let projected = 0
  const know = (stored: Stored | undefined): void => {
    projected = stored?.revision ?? 0
  }
  store.project(key('access'), {
    reset: items => know([...items][0]),
    apply: event => know(event.type === 'put' ? event.stored : undefined),
  })
  parentPort!.postMessage('ready')
  for (let turn = 1; ; turn++) {
    while (Atomics.load(words, 0) === turn - 1) Atomics.wait(words, 0, turn - 1)
    if (Atomics.load(words, 0) < 0) return
    answers[0] = (store.get(key('access')) as Stored | undefined)?.revision ?? 0
    answers[1] = projected
    Atomics.store(words, 1, turn)
    Atomics.notify(words, 1)
  }
}

async function watch(): Promise<void> {
  const end = new AbortController()
  const told = once(parentPort!, 'message')
  const watched = (async () => {
    for await (const events of store.watch({}, { after: store.revision, signal: end.signal }))
      parentPort!.postMessage(events.map(({ revision }) => revision))
  })()
  parentPort!.postMessage('ready')
  await told
  end.abort()
  await watched
}

if (does === 'answers') answer()
else if (does === 'watches') await watch()
else parentPort!.postMessage('ready')
