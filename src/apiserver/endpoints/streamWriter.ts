/** Writes frames to a chunked response with back-pressure, and ends it cleanly from either side. */
import type { ServerResponse } from 'node:http'
import type { WriteTurns } from './writeTurns.ts'

export interface FrameSink {
  /** Resolves when the sink can take more; false once the other side is gone. Frames leave in the order of the calls. */
  write(frames: readonly Buffer[]): Promise<boolean>
  end(): void
  /** True while a write waits for the other side. */
  readonly busy: boolean
}

/** Frames that wait for their turn, or for a slow reader, before the watch has to wait too. */
const WAITING_LIMIT_BYTES = 64 * 1024

/** Frames that come before the response's turn to write leave together. */
export function responseSink(raw: ServerResponse, turns: WriteTurns): FrameSink {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let scheduled = false
  /** Room for more frames, when somebody waits for it. */
  let room: PromiseWithResolvers<void> | undefined
  const gone = (): boolean => raw.destroyed || raw.writableEnded
  const makeRoom = (): void => {
    room?.resolve()
    room = undefined
  }
  const schedule = (): void => {
    if (scheduled || raw.writableNeedDrain || waiting.length === 0) return
    scheduled = true
    turns.take(flush)
  }
  const flush = (): void => {
    scheduled = false
    if (gone() || waiting.length === 0) return
    const chunk = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting, waitingBytes)
    waiting = []
    waitingBytes = 0
    if (raw.write(chunk)) makeRoom()
  }
  raw.on('close', makeRoom)
  raw.on('drain', () => {
    makeRoom()
    schedule()
  })
  return {
    get busy() {
      return room !== undefined
    },
    async write(frames) {
      if (gone()) return false
      for (const frame of frames) {
        waiting.push(frame)
        waitingBytes += frame.length
      }
      schedule()
      if (waitingBytes <= WAITING_LIMIT_BYTES) return true
      room ??= Promise.withResolvers()
      await room.promise
      return !gone()
    },
    end() {
      flush()
      if (!gone()) raw.end()
    },
  }
}
