/**
 * The load generator: a process of its own, the same for every server. It takes jobs over IPC, one at a time, and answers
 * each with a result.
 */
import { once } from 'node:events'
import { connect } from 'node:tls'
import { HttpConnection } from './httpConnection.ts'
import { cpuSecondsOf, type Endpoint, mainThreadSecondsOf } from './servers.ts'

/** Runs until `count` requests are answered, or for `seconds`. */
interface Run {
  connections: number
  count?: number
  seconds?: number
}
export type Task =
  | ({ kind: 'create'; namespace: string } & Run)
  /** Each request replaces one of the objects that `create` made. */
  | ({ kind: 'update'; namespace: string; objects: number } & Run)
  | ({ kind: 'get'; namespace: string; objects: number } & Run)
  | ({ kind: 'list'; namespace: string; limit: number } & Run)
  /** Each writer updates one object, waiting for each answer; `watchers` connections watch their (new) namespace. */
  | { kind: 'watch'; namespace: string; watchers: number; seconds: number; writers: number }
/**
 * `pids`: processes whose processor time is measured, from when all connections are open. `probe`: another client requests this path all
 * the while, some 50 times a second, and its longest wait is reported.
 */
export type Job = { endpoint: Endpoint; pids?: readonly number[]; probe?: string } & Task

export interface Result {
  /** Requests answered, or events delivered, per second. */
  perSecond: number
  count: number
  /** Processor time of the job's `pids`. */
  cpuSeconds?: number
  /** Part of the first thread of the first process in that. */
  mainThreadSeconds?: number
  /** Longest wait of the job's `probe`. */
  longestWaitMs?: number
}

/** A ConfigMap of about one kilobyte. */
const FILLER = 'x'.repeat(900)
const objectName = (i: number): string => `object-${String(i).padStart(7, '0')}`
const configMap = (namespace: string, name: string, turn = 0): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace, labels: { app: 'bench' } },
    data: { turn: String(turn), text: FILLER },
  })

function request(endpoint: Endpoint, method: string, path: string, body?: string): Buffer {
  const head = [
    `${method} ${path} HTTP/1.1`,
    `Host: ${endpoint.host}:${endpoint.port}`,
    'User-Agent: bench/1.0',
    'Accept: application/json',
    ...(endpoint.token ? [`Authorization: Bearer ${endpoint.token}`] : []),
    ...(body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body ?? ''}`)
}

const tlsOf = ({ host, port, cert, key }: Endpoint) => ({
  host,
  port,
  rejectUnauthorized: false,
  ALPNProtocols: ['http/1.1'],
  ...(cert && { cert, key }),
})

const collection = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`

async function run(job: Job): Promise<Result> {
  const { endpoint } = job
  switch (job.kind) {
    case 'create':
      return await closedLoop(job, 201, i =>
        request(endpoint, 'POST', collection(job.namespace), configMap(job.namespace, objectName(i))),
      )
    case 'update':
      return await closedLoop(job, 200, i => {
        const name = objectName((i * 7919) % job.objects)
        const path = `${collection(job.namespace)}/${name}`
        return request(endpoint, 'PUT', path, configMap(job.namespace, name, i + 1))
      })
    case 'get':
      return await closedLoop(job, 200, i =>
        request(endpoint, 'GET', `${collection(job.namespace)}/${objectName((i * 7919) % job.objects)}`),
      )
    case 'list': {
      const list = request(endpoint, 'GET', `${collection(job.namespace)}?limit=${job.limit}`)
      return await closedLoop(job, 200, () => list)
    }
    case 'watch':
      return await fanOut(job)
  }
}

/** Every connection sends its next request when the last one is answered. */
async function closedLoop(job: Job & Run, expected: number, make: (i: number) => Buffer): Promise<Result> {
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => HttpConnection.open(tlsOf(job.endpoint))),
  )
  let next = 0
  let answered = 0
  const start = performance.now()
  const end = job.seconds === undefined ? Infinity : start + job.seconds * 1000
  const count = job.count ?? Infinity
  const loop = async (connection: HttpConnection): Promise<void> => {
    while (next < count && performance.now() < end) {
      const status = await connection.send(make(next++))
      if (status !== expected) throw new Error(`${job.kind}: expected ${expected}, the server answered ${status}`)
      answered++
    }
  }
  try {
    const beside = await measured(job, () => Promise.all(connections.map(loop)))
    return { perSecond: (answered * 1000) / (performance.now() - start), count: answered, ...beside }
  } finally {
    for (const connection of connections) connection.close()
  }
}

/** Events are counted by their line ends: no other newline is in a frame, and only chunk ends look alike (`\r\n`). */
async function fanOut(job: Extract<Job, { kind: 'watch' }>): Promise<Result> {
  const { endpoint, namespace } = job
  const maker = await HttpConnection.open(tlsOf(endpoint))
  const made = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }
  await maker.send(request(endpoint, 'POST', '/api/v1/namespaces', JSON.stringify(made)))
  maker.close()
  let events = 0
  const open = async () => {
    const socket = connect(tlsOf(endpoint))
    await once(socket, 'secureConnect')
    socket.write(request(endpoint, 'GET', `${collection(namespace)}?watch=1`))
    await once(socket, 'data')
    let last = 0
    socket.on('data', (data: Buffer) => {
      if (last === 0x7d && data[0] === 0x0a) events++
      for (let at = data.indexOf('}\n', 0, 'latin1'); at >= 0; at = data.indexOf('}\n', at + 2, 'latin1')) events++
      last = data[data.length - 1]!
    })
    return socket
  }
  const sockets: Awaited<ReturnType<typeof open>>[] = []
  // A few at a time: handshakes are not what is measured.
  for (let i = 0; i < job.watchers; i += 25)
    sockets.push(...(await Promise.all(Array.from({ length: Math.min(25, job.watchers - i) }, open))))
  // not before: who connects and says nothing for long is sent away
  const writers = await Promise.all(Array.from({ length: job.writers }, () => HttpConnection.open(tlsOf(endpoint))))
  try {
    for (const [w, writer] of writers.entries())
      await writer.send(request(endpoint, 'POST', collection(namespace), configMap(namespace, `watched-${w}`)))
    events = 0
    const start = performance.now()
    const write = async (writer: HttpConnection, w: number): Promise<void> => {
      const path = `${collection(namespace)}/watched-${w}`
      for (let turn = 1; performance.now() - start < job.seconds * 1000; turn++) {
        const status = await writer.send(request(endpoint, 'PUT', path, configMap(namespace, `watched-${w}`, turn)))
        if (status !== 200) throw new Error(`watch: expected 200 for an update, the server answered ${status}`)
      }
    }
    const beside = await measured(job, () => Promise.all(writers.map(write)))
    return { perSecond: (events * 1000) / (performance.now() - start), count: events, ...beside }
  } finally {
    for (const socket of sockets) socket.destroy()
    for (const writer of writers) writer.close()
  }
}

async function measured(
  { pids, probe, endpoint }: Job,
  work: () => Promise<unknown>,
): Promise<Pick<Result, 'cpuSeconds' | 'mainThreadSeconds' | 'longestWaitMs'>> {
  const prober = probe === undefined ? undefined : await Prober.start(endpoint, probe)
  const mainThread = async () => pids?.[0] && (await mainThreadSecondsOf(pids[0]))
  const [before, mainBefore] = [pids && (await cpuSecondsOf(pids)), await mainThread()]
  await work()
  const [after, mainAfter] = [pids && (await cpuSecondsOf(pids)), await mainThread()]
  const longestWaitMs = await prober?.stop()
  return {
    ...(before !== undefined && after !== undefined && { cpuSeconds: after - before }),
    ...(mainBefore !== undefined && mainAfter !== undefined && { mainThreadSeconds: mainAfter - mainBefore }),
    ...(longestWaitMs !== undefined && { longestWaitMs }),
  }
}

const PROBE_PAUSE_MS = 20

/** Somebody who asks for little while others ask for much. */
class Prober {
  readonly #connection: HttpConnection
  readonly #done: Promise<void>
  #longest = 0
  #stopped = false

  static async start(endpoint: Endpoint, path: string): Promise<Prober> {
    const connection = await HttpConnection.open(tlsOf(endpoint))
    return new Prober(connection, request(endpoint, 'GET', path))
  }

  private constructor(connection: HttpConnection, message: Buffer) {
    this.#connection = connection
    this.#done = this.#ask(message)
  }

  async #ask(message: Buffer): Promise<void> {
    while (!this.#stopped) {
      const start = performance.now()
      const status = await this.#connection.send(message)
      if (status !== 200) throw new Error(`probe: expected 200, the server answered ${status}`)
      this.#longest = Math.max(this.#longest, performance.now() - start)
      await new Promise(resolve => setTimeout(resolve, PROBE_PAUSE_MS))
    }
  }

  async stop(): Promise<number> {
    this.#stopped = true
    await this.#done
    this.#connection.close()
    return this.#longest
  }
}

process.on('message', (job: Job) => {
  run(job).then(
    result => process.send?.({ result }),
    error => process.send?.({ error: String(error) }),
  )
})
