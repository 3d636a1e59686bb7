/** Writes frames to a chunked response with back-pressure, and ends it cleanly from either side. */
import type { ServerResponse } from 'node:http'

export interface FrameSink {
  /** Resolves when the sink can take more; false once the other side is gone. */
  write(frames: readonly Buffer[]): Promise<boolean>
  end(): void
  /** True while a write waits for the other side. */
  readonly busy: boolean
}

export function responseSink(raw: ServerResponse): FrameSink {
  let busy = false
  return {
    get busy() {
      return busy
    },
    async write(frames) {
      if (raw.destroyed || raw.writableEnded) return false
      if (raw.write(frames.length === 1 ? frames[0]! : Buffer.concat(frames))) return true
      busy = true
      await new Promise<void>(resolve => {
        const done = (): void => {
          raw.off('drain', done)
          raw.off('close', done)
          resolve()
        }
        raw.on('drain', done)
        raw.on('close', done)
      })
      busy = false
      return !raw.destroyed
    },
    end() {
      if (!raw.destroyed && !raw.writableEnded) raw.end()
    },
  }
}
