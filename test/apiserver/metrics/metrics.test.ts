/** A running server, as a scrape sees it. */
import t from 'tap'
import { bootstrapLevels, bootstrapSchemas } from '../../../src/apiserver/flowcontrol/bootstrapConfiguration.ts'
import { readFlowSchema, readPriorityLevel } from '../../../src/apiserver/flowcontrol/flowConfiguration.ts'
import { FlowControl } from '../../../src/apiserver/flowcontrol/flowControl.ts'
import { flowMetrics } from '../../../src/apiserver/flowcontrol/flowMetrics.ts'
import { InFlight } from '../../../src/apiserver/flowcontrol/inFlight.ts'
import { ONE_SEAT } from '../../../src/apiserver/flowcontrol/seats.ts'
import type { Ticket } from '../../../src/apiserver/flowcontrol/ticket.ts'
import { RequestMetrics } from '../../../src/apiserver/http/requestMetrics.ts'
import { gauge } from '../../../src/apiserver/metrics/metric.ts'
import { Metrics } from '../../../src/apiserver/metrics/metrics.ts'
import { parseRequest } from '../../../src/apiserver/request/requestInfo.ts'
import { startTestServer } from '../../support/server.ts'
import { SteppedClock } from '../flowcontrol/steppedClock.ts'

t.test('requests are told by priority level and schema; nothing that a client says makes a series', async t => {
  const clock = new SteppedClock()
  const flowControl = new FlowControl({
    clock,
    seats: 12,
    root: 'root',
    isSyncer: () => false,
    lineageOf: () => ['root'],
  })
  flowControl.configure(bootstrapSchemas().map(readFlowSchema), bootstrapLevels().map(readPriorityLevel))
  const inFlight = new InFlight({ flowControl, estimate: () => ONE_SEAT, isSyncer: () => false, clock: clock.now })
  const metrics = new Metrics(flowMetrics(flowControl))
  const user = { name: 'ann', groups: ['system:authenticated'] }
  const answer = { destroy() {}, once() {}, headersSent: false, writableLength: 0 }
  const enter = (method: string, url: string) => {
    const request = { info: parseRequest(method, url), user, space: 'root' }
    return inFlight.enter(request, { flow: inFlight.flowOf(request), answer })
  }
  const shown = async (name: string): Promise<Record<string, number>> => {
    const { body } = await metrics.render()
    const lines = body.matchAll(/^apiserver_flowcontrol_(\w+)(?:\{(.*)\})? (\S+)$/gm)
    const found = Array.from(lines, ([, metric, labels = '', value]) => [metric, labels, Number(value)] as const)
    return Object.fromEntries(found.flatMap(([metric, labels, value]) => (metric === name ? [[labels, value]] : [])))
  }
  const schema = 'priority_level="global-default",flow_schema="global-default"'
  t.equal((await shown('current_executing_requests'))[schema], 0)
  const reading = (await enter('GET', '/api/v1/pods')) as Ticket
  const second = enter('POST', '/api/v1/namespaces/a/pods')
  t.ok(second instanceof Promise)
  t.equal((await shown('current_executing_requests'))[schema], 1)
  t.equal((await shown('current_inqueue_requests'))[schema], 1)
  t.equal((await shown('current_limit_seats'))['priority_level="global-default"'], 1)
  clock.pass(2000)
  inFlight.leave(reading)
  inFlight.leave(await second)
  t.equal((await shown('dispatched_requests_total'))[schema], 2)
  t.equal((await shown('request_wait_duration_seconds_bucket'))[`${schema},execute="true",le="1"`], 1)
  t.equal((await shown('request_wait_duration_seconds_sum'))[`${schema},execute="true"`], 2)
  t.equal((await shown('request_execution_seconds_count'))[`${schema},type="regular"`], 2)
})

t.test('each commit of the store is told with its time', async t => {
  const { api } = await startTestServer(t)
  const commits = async (): Promise<number> => {
    const { text } = await api.get('/metrics')
    return Number(/^orrery_store_commit_duration_seconds_count (\d+)$/m.exec(text)?.[1])
  }
  const before = await commits()
  t.ok(before > 0, 'its first objects')
  for (const name of ['a', 'b', 'c'])
    await api.ok(api.post('/api/v1/namespaces/default/configmaps', { metadata: { name } }))
  t.ok((await commits()) >= before + 3)
})

t.test(
  'requests are told by verb, kind and code, as often as somebody looks; their times by verb, watches excluded',
  async t => {
    const requests = new RequestMetrics()
    const metrics = new Metrics(requests.metrics())
    const { body: empty } = await metrics.render()
    t.match(empty, /^# TYPE apiserver_request_duration_seconds histogram$/m)
    requests.observe({ verb: 'get', type: undefined, code: 200, seconds: 0.002 })
    requests.observe({ verb: 'get', type: undefined, code: 200, seconds: 100 })
    requests.observe({ verb: 'get', type: undefined, code: 404, seconds: 0.0005 })
    requests.observe({ verb: 'watch', type: undefined, code: 200, seconds: 3 })
    requests.observe({ verb: 'whatever', type: undefined, code: 405, seconds: 0 })
    const shown = async (metric: string): Promise<string[]> => {
      const lines = (await metrics.render()).body.split('\n')
      return lines.filter(line => line.startsWith(`${metric}{`)).map(line => line.slice(metric.length))
    }
    const counts = [
      '{verb="GET",group="",resource="",code="200"} 2',
      '{verb="GET",group="",resource="",code="404"} 1',
      '{verb="WATCH",group="",resource="",code="200"} 1',
      '{verb="other",group="",resource="",code="405"} 1',
    ]
    t.same((await shown('apiserver_request_total')).sort(), counts)
    t.same((await shown('apiserver_request_total')).sort(), counts, 'again')
    t.same(await shown('apiserver_request_duration_seconds_count'), ['{verb="GET"} 3', '{verb="other"} 1'])
    const buckets = await shown('apiserver_request_duration_seconds_bucket')
    t.same(buckets.slice(0, 3), [
      '{verb="GET",le="0.0005"} 1',
      '{verb="GET",le="0.001"} 1',
      '{verb="GET",le="0.0025"} 2',
    ])
    t.equal(buckets[13], '{verb="GET",le="+Inf"} 3')
  },
)

t.test('each part brings its own; those of threads are summed, and a label breaks no line', async t => {
  const metrics = new Metrics([gauge('orrery_first', 'One.', () => 1)])
  metrics.add([
    {
      name: 'orrery_seen_total',
      help: 'Seen.',
      type: 'counter',
      labels: {},
      isOfThreads: true,
      samples: () => [[{}, 2]],
    },
    {
      name: 'orrery_named',
      help: 'By name.',
      type: 'gauge',
      labels: { name: [] },
      samples: () => [[{ name: 'a"b\\c\nd' }, 3]],
    },
  ])
  t.equal(
    metrics.renderOwn(),
    '# HELP orrery_seen_total Seen.\n# TYPE orrery_seen_total counter\norrery_seen_total 2\n',
  )
  metrics.sumWith(async () => [metrics.renderOwn()])
  const { body } = await metrics.render()
  t.match(body, /^orrery_first 1$/m)
  t.match(body, /^orrery_seen_total 4$/m)
  t.ok(body.includes('\norrery_named{name="a\\"b\\\\c\\nd"} 3\n'))
})
