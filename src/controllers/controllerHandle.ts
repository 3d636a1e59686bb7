/** Controllers as their server starts and stops them. */
import type { Controller } from '../client/controller.ts'

export interface ControllerHandle {
  /** Pieces of work that wait or run; what waits for a timer does not count. */
  depth(): number
  /** Resolves when no work waits or runs; what waits for a timer (a retry, a deadline) does not count. */
  idle(): Promise<void>
  /** Resolves when streams and running work have ended. */
  stop(): Promise<void>
}

export type Startable = Pick<Controller<unknown>, 'start' | 'stop'> & {
  readonly queue: Pick<Controller<unknown>['queue'], 'size' | 'idle'>
}

/** Starts a controller. `ended` is called once it has stopped. */
export function startController(controller: Startable, ended: () => void = () => {}): ControllerHandle {
  controller.start()
  return {
    depth: () => controller.queue.size,
    idle: () => controller.queue.idle(),
    async stop() {
      await controller.stop()
      ended()
    },
  }
}
