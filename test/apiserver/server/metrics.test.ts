/** What runs, as a scrape sees it. */
import t from 'tap'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { InFlight } from '../../../src/apiserver/server/inFlight.ts'
import { Metrics } from '../../../src/apiserver/server/metrics.ts'
import { PRIORITY_LEVELS } from '../../../src/apiserver/server/priorityLevels.ts'

t.test('requests that run are told by priority level, all levels at any time', async t => {
  const inFlight = new InFlight({ clock: () => 0 })
  const metrics = new Metrics({ revision: () => 1, spaces: () => 1, setAside: () => new Map([['where-resolver', 2]]) })
  metrics.follow(inFlight)
  const user = { name: 'ann', groups: ['system:authenticated'] }
  const enter = (method: string, url: string) =>
    inFlight.enter({ info: parseRequest(method, url), user, space: 'root' }, () => {})
  const shown = async (): Promise<Record<string, number>> => {
    const { body } = await metrics.render()
    const lines = body.matchAll(/^apiserver_flowcontrol_current_executing_requests\{priority_level="(.+)"\} (\d+)$/gm)
    return Object.fromEntries(Array.from(lines, ([, level, count]) => [level, Number(count)]))
  }
  const none = Object.fromEntries(Object.keys(PRIORITY_LEVELS).map(level => [level, 0]))
  t.same(await shown(), none)
  const reading = enter('GET', '/api/v1/pods')
  enter('POST', '/api/v1/namespaces/a/pods')
  enter('GET', '/api/v1/pods?watch=1')
  t.same(await shown(), { ...none, 'global-default': 2 }, 'reading and changing together, no watches')
  inFlight.leave(reading)
  t.same(await shown(), { ...none, 'global-default': 1 })
  t.match((await metrics.render()).body, /^orrery_controller_keys_set_aside\{controller="where-resolver"\} 2$/m)
})
