/**
 * An API thread that is killed under load: no acknowledged write is lost, and watchers resume. Each request ends with an answer or with
 * its connection, and leaves no seat taken.
 */
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { connect } from 'node:tls'
import t, { type Test } from 'tap'
import { Api, type Watch, type WatchEvent } from '../../support/api.ts'
import { apiThreadsSeen } from '../../support/apiThreadsSeen.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const THREADS = 1
/** Connections of each sort: the kernel deals them out, so the thread has some. */
const CONNECTIONS = 6
const LOAD = '/api/v1/namespaces/default/configmaps?labelSelector=load'

const seen = apiThreadsSeen(t)
const { api, faults } = await startTestServer(t, { more: { apiThreads: THREADS } })

let isOver = false
const acknowledged: string[] = []

t.test('no acknowledged write is lost, and watchers miss none', async t => {
  const after = (await api.ok(api.get(`${CONFIGMAPS}?limit=1`))).metadata.resourceVersion!
  const load = [...each(write), ...each(read)]
  const watching = each(client => follow(client, after))
  const holding = await Promise.all(each(() => hold(t)))
  while (acknowledged.length < 100) await setTimeout(1)
  await seen[0]!.terminate()
  while ((await figure('orrery_api_threads')) < THREADS) await setTimeout(20)
  isOver = true
  t.strictSame(new Set((await Promise.all(load)).flat()), new Set([200, 201]), 'no other answers')
  const { body } = await api.get(LOAD)
  const stored = new Set((body as unknown as { items: { metadata: { name: string } }[] }).items.map(nameOf))
  t.strictSame(
    acknowledged.filter(name => !stored.has(name)),
    [],
  )
  await api.ok(api.post(CONFIGMAPS, loadMap('end')))
  for (const told of await Promise.all(watching)) {
    t.strictSame(
      acknowledged.filter(name => !told.includes(name)),
      [],
    )
    t.equal(new Set(told).size, told.length, 'nothing is told twice')
  }
  for (const socket of holding) socket.destroy()
  while ((await figure('apiserver_current_inflight_requests{request_kind="mutating"}')) > 0) await setTimeout(20)
  t.pass('no request of the killed thread has a seat')
  t.equal(await figure('orrery_api_threads_ended_total{reason="failed"}'), 1)
  t.strictSame(faults, ['an API thread has ended; another one is started'])
})

/** A run with each of so many clients of their own. */
function each<T>(run: (client: Api, of: number) => Promise<T>): Promise<T>[] {
  return Array.from({ length: CONNECTIONS }, (_, of) => run(new Api(api.access), of))
}

function loadMap(name: string): object {
  return { ...configMap(name), metadata: { name, labels: { load: '' } } }
}

async function write(client: Api, of: number): Promise<number[]> {
  return await repeated(async i => {
    const name = `c-${of}-${i}`
    const { code } = await client.post(CONFIGMAPS, loadMap(name))
    if (code === 201) acknowledged.push(name)
    return code
  }, client)
}

async function read(client: Api): Promise<number[]> {
  return await repeated(async () => (await client.get(`${CONFIGMAPS}?limit=3`)).code, client)
}

/** Codes of all answers until all is over. */
async function repeated(ask: (i: number) => Promise<number>, client: Api): Promise<number[]> {
  const codes = new Set<number>()
  for (let i = 0; !isOver; i++) {
    try {
      codes.add(await ask(i))
    } catch (error) {
      if (!isEndOfConnection(error)) throw error
    }
  }
  client.close()
  return [...codes]
}

/** Watches as clients do, again when the connection ends. Resolves to the names that came, once the last is among them. */
async function follow(client: Api, after: string): Promise<string[]> {
  const told: string[] = []
  let at = after
  while (told.at(-1) !== 'end') {
    let watch: Watch | undefined
    try {
      watch = await client.watch(`${LOAD}&watch=1&resourceVersion=${at}`)
      for (;;) {
        const [{ object }] = (await watch.take(1)) as [WatchEvent]
        at = object.metadata.resourceVersion!
        told.push(nameOf(object))
        if (told.at(-1) === 'end') break
      }
    } catch {
      // its thread is gone
    }
    watch?.close()
  }
  client.close()
  return told
}

/** A write of which the client reads no answer. */
async function hold(t: Test) {
  const { hostname, port } = new URL(api.access.url)
  const { cert, key } = api.access
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false, cert: cert!, key: key! })
  socket.on('error', () => {}).pause()
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  const body = JSON.stringify(configMap('held', { text: 'x'.repeat(900_000) }))
  const head = `POST ${CONFIGMAPS}?dryRun=All HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
  return socket
}

function nameOf({ metadata }: { metadata: { name?: string } }): string {
  return metadata.name!
}

function isEndOfConnection(error: unknown): boolean {
  const { code, message } = error as NodeJS.ErrnoException
  return code === 'ECONNRESET' || code === 'EPIPE' || message === 'aborted'
}

/** Value of the first metric with this start. */
async function figure(start: string): Promise<number> {
  for (;;) {
    // a connection of its own each time: it may come to a thread that is killed
    const client = new Api(api.access)
    try {
      const { text } = await client.get('/metrics')
      const line = text.split('\n').find(each => each.startsWith(`${start} `))
      return Number(line?.slice(start.length))
    } catch (error) {
      if (!isEndOfConnection(error)) throw error
    } finally {
      client.close()
    }
  }
}
