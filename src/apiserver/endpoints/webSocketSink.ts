/**
 * Frames as WebSocket text messages, one each. When the peer reads slower than the server writes, the watcher waits; its
 * queue in the store is bounded, so it is dropped there in the end and resumes from its resourceVersion.
 */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { FrameSink } from './streamWriter.ts'
import type { WriteTurns } from './writeTurns.ts'

/** Bytes on their way to one peer before its watcher has to wait. */
const WAITING_LIMIT_BYTES = 256 * 1024
const TEXT = { binary: false, compress: false } as const

export interface WebSocketSinkOptions {
  /** What carries the WebSocket: the messages of one batch leave it together. */
  transport: Duplex
  turns: WriteTurns
  /** Status code of an orderly end, asked for at the end. */
  closeCode: () => number
}

export function webSocketSink(socket: WebSocket, { transport, turns, closeCode }: WebSocketSinkOptions): FrameSink {
  let busy = false
  const open = (): boolean => socket.readyState === socket.OPEN
  return {
    get busy() {
      return busy
    },
    async write(frames) {
      await new Promise<void>(resolve => turns.take(resolve))
      if (!open()) return false
      const last = frames.length - 1
      transport.cork()
      for (const frame of frames.slice(0, last)) socket.send(frame, TEXT)
      const { promise: flushed, resolve } = Promise.withResolvers<void>()
      socket.send(frames[last]!, TEXT, () => resolve())
      transport.uncork()
      if (socket.bufferedAmount <= WAITING_LIMIT_BYTES) return true
      busy = true
      // A peer that goes away lets the write fail, which calls back too.
      await flushed
      busy = false
      return open()
    },
    end() {
      if (open()) socket.close(closeCode())
    },
  }
}
