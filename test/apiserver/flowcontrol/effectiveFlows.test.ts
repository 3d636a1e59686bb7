/** FlowSchemas that the server did not bring along are named at the start. */
import t from 'tap'
import { bootstrapLevels, bootstrapSchemas } from '../../../src/apiserver/flowcontrol/bootstrapConfiguration.ts'
import { logOwnFlows } from '../../../src/apiserver/flowcontrol/effectiveFlows.ts'
import { readFlowSchema, readPriorityLevel } from '../../../src/apiserver/flowcontrol/flowConfiguration.ts'
import { FlowControl } from '../../../src/apiserver/flowcontrol/flowControl.ts'
import { SteppedClock } from './steppedClock.ts'

function told(own: { name: string; level: string }[]): object[] {
  const control = new FlowControl({
    clock: new SteppedClock(),
    seats: 600,
    root: 'root',
    isSyncer: () => false,
    lineageOf: space => [space],
  })
  const schemas = own.map(({ name, level }) => ({
    metadata: { name, uid: name },
    spec: { matchingPrecedence: 700, priorityLevelConfiguration: { name: level }, rules: [] },
  }))
  const all = [...bootstrapSchemas(), ...schemas] as Parameters<typeof readFlowSchema>[0][]
  control.configure(all.map(readFlowSchema), bootstrapLevels().map(readPriorityLevel))
  const lines: object[] = []
  logOwnFlows(control, { info: (fields: object) => void lines.push(fields) } as never)
  return lines
}

t.test('one that the server did not bring along is named, with its level', async t => {
  const own = [
    { name: 'batch', level: 'workload-low' },
    { name: 'dangling', level: 'nowhere' },
  ]
  t.strictSame(told(own), [{ count: 1, flowSchemas: ['batch (precedence 700, level workload-low)'] }])
})

t.test('many are counted, and not all named', async t => {
  const own = Array.from({ length: 50 }, (_, n) => ({ name: `own-${n}`, level: 'system' }))
  const [line] = told(own) as [{ count: number; flowSchemas: string[] }]
  t.equal(line.count, 50)
  t.equal(line.flowSchemas.length, 20)
})

t.test('those of the server are no news', async t => t.strictSame(told([]), []))
