/** What a server may run short of: the process's memory, and the disk of its store. */
import { statfs } from 'node:fs/promises'
import type { Logger } from '../request/logger.ts'
import { DiskRoom } from './diskRoom.ts'
import { MemoryRoom, memoryFigures } from './memoryRoom.ts'
import type { Room } from './room.ts'

export interface ServerRoomsOptions {
  dataDir: string
  diskReserveBytes?: number | undefined
  log: Logger
}

export interface ServerRooms {
  readonly rooms: readonly Room[]
  stop(): void
}

/** Resolves when the disk was looked at. */
export async function serverRooms({ dataDir, diskReserveBytes, log }: ServerRoomsOptions): Promise<ServerRooms> {
  const elapsed = (): number => performance.now()
  const figures = memoryFigures()
  const disk = new DiskRoom({
    async look() {
      const { bavail, bsize, blocks } = await statfs(dataDir)
      return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
    },
    reserveBytes: diskReserveBytes,
    elapsed,
    log,
  })
  await disk.look()
  return { rooms: [new MemoryRoom({ figures: figures.read, elapsed, log }), disk], stop: figures.stop }
}
