/** The printer of pods: how the states of many containers become one word. */
import { at, type Fields, has, list, num, record, records, str } from '../../apimachinery/fields.ts'
import { humanDuration } from './duration.ts'
import { NONE, orNone } from './format.ts'
import { column, type Printer, printerWith, type RowCondition, text } from './printer.ts'

interface PodSummary {
  status: string
  ready: number
  total: number
  restarts: number
  /** Milliseconds since 1970; `undefined` when no container ever restarted. */
  lastRestart: number | undefined
}

const base = printerWith(
  [
    column(
      'Ready',
      pod => {
        const { ready, total } = summarize(pod)
        return `${ready}/${total}`
      },
      { description: 'How many of the containers are ready to serve.' },
    ),
    column('Status', pod => summarize(pod).status, { description: 'The state of the containers, in one word.' }),
    column('Restarts', (pod, now) => restartsCell(summarize(pod), now), {
      description: 'How often containers were restarted, and when last.',
    }),
  ],
  [
    column('IP', pod => orNone(str(pod, 'status', 'podIPs', 0, 'ip') || str(pod, 'status', 'podIP')), {
      wide: true,
      field: 'status.podIP',
    }),
    text('Node', 'spec.nodeName', { absent: NONE, wide: true }),
    text('Nominated Node', 'status.nominatedNodeName', { absent: NONE, wide: true }),
    column('Readiness Gates', readinessGates, { wide: true, field: 'spec.readinessGates' }),
  ],
)
export const podPrinter: Printer = { ...base, conditions: completed }

function completed(pod: Fields): RowCondition[] {
  const phase = str(pod, 'status', 'phase')
  const message =
    phase === 'Succeeded' ? 'The pod has completed successfully.' : phase === 'Failed' ? 'The pod failed.' : ''
  return message === '' ? [] : [{ type: 'Completed', status: 'True', reason: phase, message }]
}

function restartsCell({ restarts, lastRestart }: PodSummary, now: Date): string {
  if (restarts === 0 || lastRestart === undefined) return String(restarts)
  return `${restarts} (${humanDuration(now.getTime() - lastRestart)} ago)`
}

function readinessGates(pod: Fields): string {
  const gates = records(pod, 'spec', 'readinessGates')
  if (gates.length === 0) return NONE
  const passed = gates.filter(gate => conditionStatus(pod, str(gate, 'conditionType')) === 'True')
  return `${passed.length}/${gates.length}`
}

function conditionStatus(pod: Fields, type: string): string {
  return str(
    records(pod, 'status', 'conditions').find(c => c.type === type),
    'status',
  )
}

function summarize(pod: Fields): PodSummary {
  const gated = records(pod, 'status', 'conditions').some(
    c => c.type === 'PodScheduled' && c.reason === 'SchedulingGated',
  )
  const summary: PodSummary = {
    status: gated ? 'SchedulingGated' : str(pod, 'status', 'reason') || str(pod, 'status', 'phase'),
    ready: 0,
    total: list(pod, 'spec', 'containers').length,
    restarts: 0,
    lastRestart: undefined,
  }
  const sidecars = { restarts: 0, lastRestart: undefined as number | undefined }
  const initializing = summarizeInit(pod, summary, sidecars)
  if (!initializing || conditionStatus(pod, 'Initialized') === 'True') {
    summary.restarts = sidecars.restarts
    summary.lastRestart = sidecars.lastRestart
    summarizeContainers(pod, summary)
  }
  if (has(pod, 'metadata', 'deletionTimestamp')) {
    const phase = str(pod, 'status', 'phase')
    if (str(pod, 'status', 'reason') === 'NodeLost') summary.status = 'Unknown'
    else if (phase !== 'Succeeded' && phase !== 'Failed') summary.status = 'Terminating'
  }
  return summary
}

/** The first init container that has not done its part names the state. */
function summarizeInit(
  pod: Fields,
  summary: PodSummary,
  sidecars: { restarts: number; lastRestart: number | undefined },
): boolean {
  const specs = new Map(records(pod, 'spec', 'initContainers').map(c => [str(c, 'name'), c]))
  const isSidecar = (name: string) => at(specs.get(name), 'restartPolicy') === 'Always'
  for (const name of specs.keys()) if (isSidecar(name)) summary.total++
  for (const [i, status] of records(pod, 'status', 'initContainerStatuses').entries()) {
    addRestarts(summary, status)
    const sidecar = isSidecar(str(status, 'name'))
    if (sidecar) addRestarts(sidecars, status)
    const terminated = record(status, 'state', 'terminated')
    const waiting = str(status, 'state', 'waiting', 'reason')
    if (has(status, 'state', 'terminated')) {
      if (num(terminated, 'exitCode') === 0) continue
      summary.status = `Init:${terminationReason(terminated)}`
      return true
    }
    if (sidecar && status.started === true) {
      if (status.ready === true) summary.ready++
      continue
    }
    const init = waiting !== '' && waiting !== 'PodInitializing'
    summary.status = init ? `Init:${waiting}` : `Init:${i}/${specs.size}`
    return true
  }
  return false
}

function summarizeContainers(pod: Fields, summary: PodSummary): void {
  let running = false
  for (const status of records(pod, 'status', 'containerStatuses').reverse()) {
    addRestarts(summary, status)
    const waiting = str(status, 'state', 'waiting', 'reason')
    if (waiting !== '') summary.status = waiting
    else if (has(status, 'state', 'terminated'))
      summary.status = terminationReason(record(status, 'state', 'terminated'))
    else if (status.ready === true && has(status, 'state', 'running')) {
      running = true
      summary.ready++
    }
  }
  if (summary.status === 'Completed' && running) {
    summary.status = conditionStatus(pod, 'Ready') === 'True' ? 'Running' : 'NotReady'
  }
}

function terminationReason(terminated: Fields): string {
  const signal = num(terminated, 'signal')
  return str(terminated, 'reason') || (signal !== 0 ? `Signal:${signal}` : `ExitCode:${num(terminated, 'exitCode')}`)
}

function addRestarts(to: { restarts: number; lastRestart: number | undefined }, status: Fields): void {
  to.restarts += num(status, 'restartCount')
  const finished = Date.parse(str(status, 'lastState', 'terminated', 'finishedAt'))
  if (!Number.isNaN(finished) && finished > (to.lastRestart ?? 0)) to.lastRestart = finished
}
