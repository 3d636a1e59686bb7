/**
 * What flow control does at the moment, as tables of text.
 * @see https://kubernetes.io/docs/reference/debug-cluster/flow-control/
 */
import type { FlowControl } from './flowControl.ts'
import { seatsOf } from './seats.ts'

export const DUMP_PATHS: readonly string[] = ['priority_levels', 'queues', 'requests'].map(
  what => `/debug/api_priority_and_fairness/dump_${what}`,
)

type Row = readonly (string | number | boolean)[]

/** `undefined` when there is no such path. */
export function flowDump(control: FlowControl, path: string, query: URLSearchParams): string | undefined {
  const index = DUMP_PATHS.indexOf(path)
  if (index < 0) return undefined
  const details = query.get('includeRequestDetails') === '1'
  return [priorityLevels, queues, requests][index]!(control, details)
}

function priorityLevels(control: FlowControl): string {
  const rows = [...control.levels].map(({ spec, set }): Row => {
    const busy = [...set.queues].filter(queue => queue.waiting + queue.executing > 0).length
    const isIdle = set.executing + set.waiting === 0
    const counts = [set.waiting, set.executing, set.seatsInUse, set.limit]
    return [spec.name, spec.exempt ? '<none>' : busy, isIdle, false, ...counts]
  })
  const columns = ['ActiveQueues', 'IsIdle', 'IsQuiescing', 'WaitingRequests', 'ExecutingRequests']
  return table(['PriorityLevelName', ...columns, 'SeatsInUse', 'CurrentLimit'], rows)
}

function queues(control: FlowControl): string {
  const rows = [...control.levels].flatMap(({ spec, set }) =>
    [...set.queues].map((queue): Row => {
      const next = `${(queue.nextR / 1000).toFixed(8)}ss`
      return [spec.name, queue.index, queue.waiting, queue.executing, queue.seatsInUse, next]
    }),
  )
  const columns = ['Index', 'PendingRequests', 'ExecutingRequests', 'SeatsInUse', 'NextDispatchR']
  return table(['PriorityLevelName', ...columns], rows)
}

/** Those that wait. */
function requests(control: FlowControl, details: boolean): string {
  const rows = [...control.levels].flatMap(({ spec, set }) =>
    [...set.queues].flatMap(queue => {
      const found: Row[] = []
      for (let seat = queue.oldest; seat !== undefined; seat = seat.newer) {
        const arrived = new Date(performance.timeOrigin + seat.arrivedMs).toISOString()
        const { initialSeats, finalSeats, extraMs } = seat.work
        const more = details ? [initialSeats, finalSeats, `${extraMs}ms`, seatsOf(seat.work)] : []
        found.push([spec.name, queue.index, found.length, arrived, ...more])
      }
      return found
    }),
  )
  const more = details ? ['InitialSeats', 'FinalSeats', 'AdditionalLatency', 'Seats'] : []
  return table(['PriorityLevelName', 'QueueIndex', 'RequestIndexInQueue', 'ArriveTime', ...more], rows)
}

function table(head: readonly string[], rows: readonly Row[]): string {
  const lines = [head, ...rows.map(row => row.map(String))]
  const widths = head.map((_, column) => Math.max(...lines.map(line => (line[column] ?? '').length)))
  return lines.map(line => `${line.map((cell, column) => `${cell},`.padEnd(widths[column]! + 2)).join('')}\n`).join('')
}
