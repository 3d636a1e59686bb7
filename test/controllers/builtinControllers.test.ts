/** Work of all controllers on the loop is in one slice of each of its turns. */
import t from 'tap'
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
