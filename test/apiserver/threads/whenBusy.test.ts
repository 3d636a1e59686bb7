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
  const more = { apiThreads: 1, apiThreadsWhenBusy: true, apiThreadPulseMs: 5 }
  const { api, faults } = await startTestServer(t, { more })
  await api.ok(api.post(CONFIGMAPS, configMap('a')))

  let begun = false
  const asking = async (): Promise<void> => {
    while (!begun) t.equal((await api.get(CONFIGMAPS)).code, 200)
  }
  const asked = asking()
  while (seen.length === 0) {
    const until = performance.now() + 10
    while (performance.now() < until);
    await setImmediate()
  }
  while ((await size(api)) === 0);
  begun = true
  await asked

  const [thread] = seen as [Worker]
  const watches = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const client = new Api(api.access)
      t.teardown(() => client.close())
      return await client.watch(`${CONFIGMAPS}?watch=1&resourceVersion=0`)
    }),
  )
  const told = watches.map(watch =>
    watch
      .until(({ object }) => object.metadata.name === 'b')
      .then(
        () => 'goes on',
        () => 'ends',
      ),
  )
  // nothing may be done meanwhile
  await once(thread, 'exit')
  t.equal(await size(api), 0)
  await api.ok(api.post(CONFIGMAPS, configMap('b')))
  t.same(new Set(await Promise.all(told)), new Set(['goes on', 'ends']), 'only those of the thread end')
  t.same(faults, [])
})

async function size(api: Api): Promise<number> {
  return Number(/^orrery_api_threads (\d+)$/m.exec((await api.get('/metrics')).text)?.[1])
}
