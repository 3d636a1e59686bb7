/**
 * All rows of a database, read and checked by threads beside this one: each of some has a part of the objects, one what happened. So
 * this one only takes what they have found, and LevelDB's own work has the processors that there are.
 */
import type { Worker } from 'node:worker_threads'
import { startThread } from '../../program/startThread.ts'
import type { LoadedObjects } from '../journal.ts'
import type { LoadedBlock } from '../loadedBlock.ts'
import { StorageError } from '../store.ts'
import { dividersIn } from './dividers.ts'
import type { RowsMessage, RowsOrder } from './rowsOrder.ts'
import { type Tally, togetherOf } from './tally.ts'

const OBJECTS = { gte: 'o/', lt: 'o0' }
/** Rows of a damaged store beside Orrery's own belong here. */
const OTHERS: RowsOrder['ranges'] = [{ lt: OBJECTS.gte }, { gte: OBJECTS.lt }]

/** Garbage of a read of objects is large and dies at once. */
const LIMITS = { maxYoungGenerationSizeMb: 32 }

interface ReadInThreadsOptions {
  taker: LoadedObjects['taker']
  /** Number of threads for objects, at least one. */
  readers: number
}

/**
 * `folder`: of a database that this thread has open for threads.
 * @throws StorageError
 */
export async function readInThreads(folder: string, { taker, readers }: ReadInThreadsOptions): Promise<Tally> {
  const parts: RowsOrder['ranges'][] = [...(await objectParts(folder, readers)), OTHERS]
  // each to its end: it closes what it has open
  const read = await Promise.allSettled(
    parts.map(ranges => {
      const order: RowsOrder = { folder, ranges }
      return tallyOf(startThread('rows', { workerData: order, resourceLimits: LIMITS }), taker())
    }),
  )
  return togetherOf(
    read.map(part => {
      if (part.status === 'rejected') throw part.reason
      return part.value
    }),
  )
}

/** One behind the other, of about the same size each. */
async function objectParts(folder: string, readers: number): Promise<RowsOrder['ranges'][]> {
  const between = readers === 1 ? [] : await dividersIn(folder, OBJECTS, readers)
  const bounds = [OBJECTS.gte, ...between, OBJECTS.lt]
  return between.concat(OBJECTS.lt).map((lt, i) => [{ gte: bounds[i]!, lt }])
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
