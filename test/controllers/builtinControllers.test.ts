/** Work of all controllers on the loop is in one slice of each of its turns. */
import t from 'tap'
import { NAMESPACES } from '../../src/apimachinery/resources.ts'
import { CarryBoard } from '../../src/apiserver/metrics/carryMetrics.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { startBuiltinControllers } from '../../src/controllers/builtinControllers.ts'
import { UNIVERSAL } from '../../src/placement/spaces/spaceTypes.ts'
import { type WorkOptions, WorkTurns } from '../../src/program/workTurns.ts'
import { realTime } from '../support/time.ts'
import { FakeServer } from './placement/fakeServer.ts'

t.test('a start tells all controllers of everything in slices that they share', async t => {
  const server = new FakeServer()
  const places = Object.assign(server, { typeOf: () => UNIVERSAL })
  const begun = new Set<WorkTurns>()
  const { begin } = WorkTurns.prototype
  t.intercept(WorkTurns.prototype, 'begin', {
    value(this: WorkTurns, options: WorkOptions) {
      begun.add(this)
      return begin.call(this, options)
    },
  })
  const controllers = startBuiltinControllers({
    ...realTime(),
    clientFor: () => server,
    places,
    caPem: '',
    logger: silentLogger,
  })
  await controllers.stop()
  t.equal(begun.size, 1)
})

t.test('the figures have the work at hand of each controller until it stops', async t => {
  const server = new FakeServer()
  const figures = new CarryBoard()
  const samples = () => [
    ...figures
      .metrics()
      .find(({ name }) => name === 'orrery_controller_queue')!
      .samples(),
  ]
  const atWork = new Map<string, unknown>()
  const controllers = startBuiltinControllers({
    ...realTime(),
    clientFor: () => server,
    places: Object.assign(server, { typeOf: () => UNIVERSAL }),
    caPem: '',
    logger: silentLogger,
    desks: { figures },
    guardFor: queue => ({
      holds: () => undefined,
      begin: () => atWork.set(queue, samples().find(([{ controller }]) => controller === queue)?.[1]).size,
      end() {},
      intake: () => ({ ticket: 0, isCareful: false }),
    }),
  })
  await server.in('root').create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  await server.until(() => atWork.size > 0)
  for (const [controller, depth] of atWork) t.ok(Number(depth) > 0, controller)
  await controllers.stop()
  t.strictSame(samples(), [])
})
