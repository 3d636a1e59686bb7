/**
 * All rows of a database, read and checked by two threads beside this one: one has the objects, the other what happened. So this one
 * only takes what they have found, and LevelDB's own work has the processors that there are.
 */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../program/startThread.ts'
import type { LoadedBlock } from '../loadedBlock.ts'
import { StorageError } from '../store.ts'
import type { RowsMessage, RowsOrder } from './rowsOrder.ts'
import { type Tally, togetherOf } from './tally.ts'

/** In the order of keys: what a damaged store holds beside rows of ours belongs to one of them. */
const PARTS: readonly RowsOrder['ranges'][] = [[{ gte: 'o/', lt: 'o0' }], [{ lt: 'o/' }, { gte: 'o0' }]]

/** Of objects that are read the garbage is large and dies at once. */
const LIMITS = { maxYoungGenerationSizeMb: 32 }

/**
 * `folder`: of a database that this thread has open for threads. `take`: gets blocks of one reader, in order.
 * @throws StorageError
 */
export async function readInThreads(folder: string, take: (block: LoadedBlock) => void): Promise<Tally> {
  // each to its end: it closes what it has open
  const read = await Promise.allSettled(
    PARTS.map(ranges => {
      const order: RowsOrder = { folder, ranges }
      return tallyOf(startThread('rows', { workerData: order, resourceLimits: LIMITS }), take)
    }),
  )
  return togetherOf(
    read.map(part => {
      if (part.status === 'rejected') throw part.reason
      return part.value
    }),
  )
}

function tallyOf(worker: Worker, take: (block: LoadedBlock) => void): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void =>
      reject(new StorageError('Failed', `the store cannot be read: ${why}`, { cause }))
    worker.on('message', (message: RowsMessage) => {
      if ('block' in message) {
        try {
          take(message.block)
          worker.postMessage('taken')
        } catch (error) {
          reject(error)
          // it would wait for us
          void worker.terminate()
        }
      } else if ('tally' in message) resolve(message.tally)
      else if (message.failure.code === undefined) fail(message.failure.text)
      else reject(new StorageError(message.failure.code, message.failure.text))
    })
    worker.on('error', error => fail('its thread failed', error))
    worker.on('exit', () => fail('its thread ended'))
  })
}
