/** Connections that another server accepts, answered by the listeners of the front one. */
import type { EventEmitter } from 'node:events'

const EVENTS = ['request', 'checkContinue', 'checkExpectation', 'upgrade', 'clientError'] as const

/** @param before called with each request, before the front one has it */
export function passEvents(
  server: Pick<EventEmitter, 'on'>,
  front: Pick<EventEmitter, 'emit'>,
  before?: (request: unknown) => void,
): void {
  for (const event of EVENTS)
    server.on(event, (...given: unknown[]) => {
      if (event !== 'clientError') before?.(given[0])
      front.emit(event, ...given)
    })
}
