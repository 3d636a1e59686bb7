/**
 * Frames as WebSocket messages, one each. When the peer reads slower than the server writes, the watcher waits. Its queue in the store is
 * bounded, so it is dropped there in the end and resumes from its resourceVersion.
 */
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { FrameSink } from './streamWriter.ts'
import type { Turns } from './writeTurns.ts'

/** Bytes on their way to one peer before its watcher has to wait. */
export const WAITING_LIMIT_BYTES = 256 * 1024
const TEXT = { binary: false, compress: false } as const
const BINARY = { binary: true, compress: false } as const
/** A protobuf frame starts with its length, which a message has already. */
const LENGTH_BYTES = 4

export interface WebSocketSinkOptions {
  /** Transport of the WebSocket: the messages of one batch leave it together. */
  transport: Duplex
  turns: Turns
  /** Status code of an orderly end, read at the end. */
  closeCode: () => number
  /** Whether frames are protobuf; else JSON lines. */
  protobuf?: boolean
}

export function webSocketSink(socket: WebSocket, options: WebSocketSinkOptions): FrameSink {
  const { transport, turns, closeCode, protobuf = false } = options
  const send = (frame: Buffer, done?: () => void): void => {
    if (protobuf) socket.send(frame.subarray(LENGTH_BYTES), BINARY, done)
    else socket.send(frame, TEXT, done)
  }
  let busy = false
  const open = (): boolean => socket.readyState === socket.OPEN
  return {
    get busy() {
      return busy
    },
    async write(frames) {
      await new Promise<void>(resolve => turns.schedule(resolve))
      if (!open()) return false
      const last = frames.length - 1
      transport.cork()
      for (const frame of frames.slice(0, last)) send(frame)
      const { promise: flushed, resolve } = Promise.withResolvers<void>()
      send(frames[last]!, () => resolve())
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
