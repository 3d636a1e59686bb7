/** Requests in flight over a flow control as a server starts it, on a clock that steps. */
import type { AuthorizedRequest } from '../../../src/apiserver/access/accessControl.ts'
import { bootstrapLevels, bootstrapSchemas } from '../../../src/apiserver/flowcontrol/bootstrapConfiguration.ts'
import { readFlowSchema, readPriorityLevel } from '../../../src/apiserver/flowcontrol/flowConfiguration.ts'
import { FlowControl } from '../../../src/apiserver/flowcontrol/flowControl.ts'
import type { HeldRequests } from '../../../src/apiserver/flowcontrol/heldRequests.ts'
import { InFlight } from '../../../src/apiserver/flowcontrol/inFlight.ts'
import { ONE_SEAT } from '../../../src/apiserver/flowcontrol/seats.ts'
import type { AnswerSide, InFlightLimits, Ticket } from '../../../src/apiserver/flowcontrol/ticket.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { SteppedClock } from './steppedClock.ts'

export const PODS = '/api/v1/namespaces/default/pods'
export const KNOWN = ['system:authenticated']
export const request = (method: string, url: string, groups: string[] = KNOWN, space = 'root'): AuthorizedRequest => ({
  info: parseRequest(method, url),
  user: { name: 'u', groups },
  space,
})
export const answerTo = (name: string, ended: string[] = []) => ({
  destroy: () => void ended.push(name),
  once() {},
  headersSent: false,
  writableLength: 0,
})
export const TOO_MANY = {
  reason: 'TooManyRequests',
  code: 429,
  message: 'Too many requests, please try again later.',
  details: { retryAfterSeconds: 1 },
}

/** Spaces that nobody knows are tenants. */
const lineageOf = (space: string): string[] => (space === 'root' ? ['root'] : ['root', ...space.split('/')])

interface Setting {
  limits?: InFlightLimits
  held?: HeldRequests
  unread?: HeldRequests
}

export function setUp({ limits, held, unread }: Setting = {}) {
  const clock = new SteppedClock()
  const seats = limits ? limits.reading + limits.mutating : 600
  const flowControl = new FlowControl({
    clock,
    seats,
    root: 'root',
    isSyncer: ({ name }) => name === 'syncer',
    lineageOf,
  })
  flowControl.configure(bootstrapSchemas().map(readFlowSchema), bootstrapLevels().map(readPriorityLevel))
  const inFlight = new InFlight({
    limits,
    flowControl,
    estimate: () => ONE_SEAT,
    isSyncer: ({ name }) => name === 'syncer',
    ...(held && { held }),
    ...(unread && { unread }),
    clock: clock.now,
  })
  const enter = (asked: AuthorizedRequest, answer: AnswerSide = answerTo('')): Ticket | Promise<Ticket> =>
    inFlight.enter(asked, { flow: inFlight.flowOf(asked), answer })
  /** Asks until somebody would have to wait, who then leaves. */
  const fill = (asked: AuthorizedRequest): Ticket[] => {
    const tickets: Ticket[] = []
    for (;;) {
      // closes as soon as it waits
      const answer = { ...answerTo(''), once: (_event: 'close', left: () => void) => left() }
      const entered = enter(asked, answer)
      if (entered instanceof Promise) {
        entered.catch(() => {})
        return tickets
      }
      tickets.push(entered)
    }
  }
  return { clock, inFlight, enter, fill }
}
