/**
 * Body of a thread that reads and checks rows while a store is opened. Texts are put into memory that it shares with the store's thread, so
 * that nothing is copied again.
 */
import { dirname } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { keepAddonIn } from '../../program/addon.ts'
import { BlockMaker } from '../blockMaker.ts'
import type { LoadedBlock } from '../loadedBlock.ts'
import { StorageError } from '../store.ts'
import { openDatabase, readAll } from './database.ts'
import { BLOCKS_AHEAD, type RowsMessage, type RowsOrder } from './rowsOrder.ts'
import { emptyTally, type Tally, tallyRows } from './tally.ts'

const port = parentPort
if (port === null) throw new Error('rows are read in a thread')
let ahead = 0
let wake: (() => void) | undefined
port.on('message', () => {
  ahead--
  wake?.()
})

function post(message: RowsMessage, moved: ArrayBuffer[] = []): void {
  port!.postMessage(message, moved)
}

function give(block: LoadedBlock): void {
  ahead++
  const moved = [block.words.buffer, block.revisions.buffer, block.runs.buffer]
  post({ block }, moved as ArrayBuffer[])
}

async function untilTaken(): Promise<void> {
  while (ahead >= BLOCKS_AHEAD)
    await new Promise<void>(resolve => {
      wake = resolve
    })
}

async function read({ folder, ranges }: RowsOrder): Promise<Tally> {
  keepAddonIn(dirname(folder))
  const db = await openDatabase(folder, { create: false, threads: true })
  try {
    const tally = emptyTally()
    const maker = new BlockMaker({ give })
    const visit = tallyRows(tally, { each: stored => maker.add(stored) })
    const room = (): Promise<void> | undefined => (ahead < BLOCKS_AHEAD ? undefined : untilTaken())
    for (const range of ranges) tally.unreadable.push(...(await readAll(db, visit, { range, room })))
    maker.end()
    return tally
  } finally {
    await db.close()
  }
}

try {
  post({ tally: await read(workerData as RowsOrder) })
} catch (error) {
  const code = error instanceof StorageError ? error.code : undefined
  const { message, stack } = error as Error
  post({ failure: { code, text: code === undefined ? (stack ?? message) : message } })
} finally {
  port.unref()
}
