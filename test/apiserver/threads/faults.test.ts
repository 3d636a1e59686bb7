/** API threads of a real server that end, break, or stand still: who is on them loses a connection, and nobody else anything. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { Api, type Watch, type WatchEvent } from '../../support/api.ts'
import { apiThreadsSeen } from '../../support/apiThreadsSeen.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const THREADS = 2
/** Connections enough that none of the threads has none: the kernel deals them out. */
const CONNECTIONS = 16
const WATCH = `${CONFIGMAPS}?watch=1`

const seen = apiThreadsSeen(t)

const more = { apiThreads: THREADS, apiThreadPulseMs: 1000 }

t.test('one server', async t => {
  const { api, faults } = await startTestServer(t, { more })

  t.test('a thread that is killed, and one that fails', async t => {
    const ends = { killed: (thread: Worker) => thread.terminate(), failed: fail }
    let ended = 0
    for (const [how, end] of Object.entries(ends)) {
      await t.test(how, async t => {
        const watches = await openAll(t, api)
        const [one, other] = seen as [Worker, Worker]
        await end(one)
        await api.ok(api.post(CONFIGMAPS, configMap(how)))
        const went = await Promise.all(watches.map(tellsOf))
        const cut = went.filter(event => event === undefined).length
        t.ok(cut > 0, 'its connections end')
        t.ok(cut < CONNECTIONS, 'others go on')
        const names = new Set(went.map(event => event?.object.metadata.name))
        t.strictSame(names, new Set([undefined, how]))
        const again = await openAll(t, api)
        t.equal(again.length, CONNECTIONS, 'who comes anew is answered')
        await api.ok(api.delete(`${CONFIGMAPS}/${how}`))
        const told = await Promise.all(again.map(watch => watch.until(({ type }) => type === 'DELETED')))
        t.equal(told.length, CONNECTIONS)
        t.ok(seen.includes(other))
        while ((await metric(api, 'orrery_api_threads')) < THREADS) await setTimeout(50)
        t.equal(await metric(api, 'orrery_api_threads_ended_total{reason="failed"}'), ++ended)
      })
    }
    t.match(faults, [
      'an API thread has ended; another one is started',
      'an API thread failed',
      'an API thread has ended; another one is started',
    ])
  })
})

t.test('threads that stand still are replaced; the main thread takes connections meanwhile', async t => {
  const { api, faults, dataDir } = await startTestServer(t, { more: { ...more, apiThreadPulseMs: 100 } })
  await openAll(t, api)
  const ended = Promise.all([...seen].map(thread => occupyToItsEnd(thread, dataDir)))
  // those that the kernel gave to the other threads hang until these are ended
  const asked = Array.from({ length: CONNECTIONS }, () => {
    const client = new Api(api.access)
    t.teardown(() => client.close())
    return client.get(CONFIGMAPS).then(
      ({ code }) => code,
      () => 'cut' as const,
    )
  })
  t.equal(await Promise.any(asked.map(answer => answer.then(needs200))), 200, 'somebody is served')
  await ended
  const answers = await Promise.all(asked)
  t.ok(answers.every(answer => answer === 200 || answer === 'cut'))
  t.ok(faults.includes('an API thread stands still; it is ended'))
})

/** Its message is nothing that it could have foreseen. */
async function fail(thread: Worker): Promise<void> {
  const ended = exitOf(thread)
  thread.postMessage({ watches: undefined })
  await ended
}

/** Has a thread read keys so many times, a millisecond or so each. Messages of one moment are handled in one turn of its loop. */
function occupy(thread: Worker, dataDir: string, times: number): void {
  const [cert, key, ca] = ['apiserver.crt', 'apiserver.key', 'ca.crt'].map(file =>
    readFileSync(join(dataDir, 'pki', file), 'utf8'),
  )
  for (let i = 0; i < times; i++) thread.postMessage({ keys: { cert, key, ca } })
}

/** However slowly the main thread looks after it. */
async function occupyToItsEnd(thread: Worker, dataDir: string): Promise<void> {
  let hasEnded = false
  const ended = exitOf(thread).then(() => {
    hasEnded = true
  })
  for (let times = 5000; !hasEnded; times *= 2) {
    occupy(thread, dataDir, times)
    await Promise.race([ended, figuresOf(thread)])
  }
}

/** Figures that it sends when it comes to that. */
function figuresOf(thread: Worker): Promise<void> {
  return new Promise(resolve => {
    const heard = (message: object): void => {
      if (!('figures' in message)) return
      thread.off('message', heard)
      resolve()
    }
    thread.on('message', heard)
    thread.postMessage({ tell: 'figures' })
  })
}

function exitOf(thread: Worker): Promise<void> {
  return new Promise(resolve => thread.once('exit', () => resolve()))
}

/** Watches, each over a connection of its own. */
async function openAll(t: Test, { access }: Api): Promise<Watch[]> {
  const watches = await Promise.all(Array.from({ length: CONNECTIONS }, () => openOne(access)))
  t.teardown(() => {
    for (const watch of watches) watch.close()
  })
  return watches
}

/** As clients do: again, where the connection comes to a thread that ends. */
async function openOne(access: Api['access']): Promise<Watch> {
  for (;;) {
    try {
      return await new Api(access).watch(WATCH)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error
    }
  }
}

/** `undefined` when its connection has ended. */
function tellsOf(watch: Watch): Promise<WatchEvent | undefined> {
  return watch.next().catch(() => undefined)
}

function needs200(code: number | 'cut'): number {
  if (code !== 200) throw new Error(String(code))
  return code
}

async function metric(api: Api, name: string): Promise<number> {
  const { text } = await api.get('/metrics')
  return Number(
    text
      .split('\n')
      .find(line => line.startsWith(`${name} `))
      ?.slice(name.length),
  )
}
