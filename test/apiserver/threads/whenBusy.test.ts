/** API threads of a real server that begin when it has too much to do, and end when it has not any more. */
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { Api } from '../../support/api.ts'
import { apiThreadsSeen } from '../../support/apiThreadsSeen.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const CONNECTIONS = 16

const seen = apiThreadsSeen(t)

t.test('a thread begins while the main loop is busy, answers, and ends; nobody is refused meanwhile', async t => {
  // the test sets how busy both loops are: other programs on this machine decide nothing
  const loads = { main: 1, thread: 0 }
  const useOf = (loop: keyof typeof loads) => () => ({ idle: 0, active: 0, utilization: loads[loop] })
  t.capture(performance, 'eventLoopUtilization', useOf('main'))
  t.capture(process, 'threadCpuUsage', () => ({ user: performance.now() * 1000, system: 0 }))
  const more = { apiThreads: 1, apiThreadsWhenBusy: true, apiThreadPulseMs: 5 }
  const { api, faults } = await startTestServer(t, { more })
  await api.ok(api.post(CONFIGMAPS, configMap('a')))
  const watching = () => {
    const client = new Api(api.access)
    t.teardown(() => client.close())
    return client.watch(`${CONFIGMAPS}?watch=1&resourceVersion=0`)
  }

  let begun = false
  const codes = new Set<number>()
  const asking = async (): Promise<void> => {
    while (!begun) codes.add((await api.get(CONFIGMAPS)).code)
  }
  const before = await watching()
  const asked = asking()
  while (seen.length === 0) await setImmediate()
  const [thread] = seen as [Worker]
  t.capture(thread.performance, 'eventLoopUtilization', useOf('thread'))
  // none has too much to do, and none is spare
  loads.main = loads.thread = 0.5
  while ((await size(api)) === 0);
  begun = true
  await asked
  t.strictSame([...codes], [200])

  const watches = await Promise.all([before, ...Array.from({ length: CONNECTIONS }, watching)])
  const told = watches.map(watch =>
    watch
      .until(({ object }) => object.metadata.name === 'b')
      .then(
        () => 'goes on',
        () => 'ends',
      ),
  )
  loads.main = loads.thread = 0
  await once(thread, 'exit')
  // a connection that went with the thread may not be known to be closed yet
  const later = new Api(api.access)
  t.teardown(() => later.close())
  t.equal(await size(later), 0)
  await later.ok(later.post(CONFIGMAPS, configMap('b')))
  const [first, ...others] = await Promise.all(told)
  t.equal(first, 'goes on', 'it was open before the thread')
  t.ok(others.includes('ends'), 'those of the thread end')
  t.same(faults, [])
})

async function size(api: Api): Promise<number> {
  return Number(/^orrery_api_threads (\d+)$/m.exec((await api.get('/metrics')).text)?.[1])
}
