/** Resources of a server that may run short: the process's memory, and the disk of its store. */
import { statfs } from 'node:fs/promises'
import type { Logger } from '../request/logger.ts'
import { DiskRoom } from './diskRoom.ts'
import { MemoryRoom, memoryFigures } from './memoryRoom.ts'
import type { Room } from './room.ts'

interface DiskFigures {
  /** For this process. */
  readonly freeBytes: number
  readonly sizeBytes: number
}

interface ServerRoomsOptions {
  dataDir: string
  diskReserveBytes?: number | undefined
  log: Logger
  /** Default: what the system says. */
  lookAtDisk?: ((dataDir: string) => Promise<DiskFigures>) | undefined
  /** Calls `run` again and again; the answer ends that. Default: a timer that keeps no process alive. */
  every?: ((periodMs: number, run: () => void) => () => void) | undefined
}

interface ServerRooms {
  readonly rooms: readonly Room[]
  stop(): void
}

/** The disk may fill up without any write: the next look reports it. */
const WATCH_EVERY_MS = 5000
const MIB = 1024 ** 2

/** Resolves when the disk was looked at. @throws Error when more of it is to be kept free than there is */
export async function serverRooms(options: ServerRoomsOptions): Promise<ServerRooms> {
  const { dataDir, diskReserveBytes: reserveBytes, log, lookAtDisk = diskFigures, every = unrefInterval } = options
  const elapsed = (): number => performance.now()
  let sizeBytes: number | undefined
  const look = async (): Promise<DiskFigures> => {
    const figures = await lookAtDisk(dataDir)
    sizeBytes = figures.sizeBytes
    return figures
  }
  const disk = new DiskRoom({ look, reserveBytes, elapsed, log })
  await disk.look()
  if (sizeBytes !== undefined && reserveBytes !== undefined && reserveBytes >= sizeBytes) {
    const [reserve, size] = [reserveBytes, sizeBytes].map(bytes => Math.floor(bytes / MIB))
    throw new Error(
      `--disk-reserve-mib ${reserve}: the disk of ${dataDir} has ${size} MiB in all, so everything would be refused; give less, or 0 for no reserve`,
    )
  }
  const figures = memoryFigures()
  const rooms = [new MemoryRoom({ figures: figures.read, elapsed, log }), disk]
  const stopWatching = every(WATCH_EVERY_MS, () => void disk.look())
  return {
    rooms,
    stop() {
      stopWatching()
      figures.stop()
    },
  }
}

async function diskFigures(dataDir: string): Promise<DiskFigures> {
  const { bavail, bsize, blocks } = await statfs(dataDir)
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
}

function unrefInterval(periodMs: number, run: () => void): () => void {
  const timer = setInterval(run, periodMs).unref()
  return () => clearInterval(timer)
}
