/**
 * The other tenant, in a process of its own, so that its figures are the server's and not those of the attacker's client. It sends GETs,
 * POSTs and /livez at a steady pace, whether or not the ones before were answered, and a watch sees the created objects. Beside them a
 * timer that has to fire every few milliseconds: how late it is says what the machine does to everybody.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { Agent, request } from 'node:https'
import { createInterface } from 'node:readline'
import { type Figures, figuresOf } from './figures.ts'

export interface NeighbourSetup {
  url: string
  token: string
  /** Path of the space: `/clusters/<id>`. */
  prefix: string
  /** So many times slower than usual, where only refusals count. */
  slower?: number
}

/** Measurements between `begin` and `end`, in milliseconds. */
export interface Measured {
  get: Figures
  post: Figures
  /** From the sending of a POST to the arrival of its event. */
  event: Figures
  livez: Figures
  /** How late the timer was. */
  machine: Figures
  /** Refusals, ended connections and ended watches. */
  refused: readonly string[]
}

export type Order = { setup: NeighbourSetup } | 'begin' | 'end'

const EVERY_MS = { get: 20, post: 50, livez: 100, timer: 10 } as const
/** A request without an answer by then counts as late as it is, and as refused. */
const LIMIT_MS = 150_000
const SAID = 20

type What = 'get' | 'post' | 'event' | 'livez'

class Neighbour {
  readonly #setup: NeighbourSetup
  /** Made anew for each measurement: connections that were idle meanwhile may be about to be ended. */
  #agent = new Agent()
  /** A connection for each, as kubelets and balancers do it. */
  readonly #probes = new Agent({ rejectUnauthorized: false })
  readonly #timers: NodeJS.Timeout[] = []
  readonly #open = new Set<Promise<void>>()
  /** Send time of each object without an event so far. */
  readonly #sent = new Map<string, number>()
  #samples: Record<What | 'machine', number[]> = empty()
  #refused: string[] = []
  #refusals = 0
  #count = 0
  #endWatch: () => void = () => {}
  #seen: () => void = () => {}

  constructor(setup: NeighbourSetup) {
    this.#setup = setup
  }

  get #maps(): string {
    return `${this.#setup.prefix}/api/v1/namespaces/default/configmaps`
  }

  async begin(): Promise<void> {
    this.#agent.destroy()
    this.#agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 256 })
    this.#samples = empty()
    this.#refused = []
    this.#refusals = 0
    this.#sent.clear()
    const names = `${this.#maps}/read`
    await this.#ask('POST', this.#maps, { metadata: { name: 'read' }, data: { a: 'b' } })
    await this.#watch()
    const { slower = 1 } = this.#setup
    const timerMs = slower * EVERY_MS.timer
    let expected = performance.now() + timerMs
    this.#timers.push(
      setInterval(() => {
        const now = performance.now()
        this.#samples.machine.push(Math.max(0, now - expected))
        expected = now + timerMs
      }, timerMs),
      this.#every(slower * EVERY_MS.get, () => this.#timed('get', () => this.#ask('GET', names))),
      this.#every(slower * EVERY_MS.livez, () => this.#timed('livez', () => this.#ask('GET', '/livez'))),
      this.#every(slower * EVERY_MS.post, () => {
        const name = `seen-${process.pid}-${this.#count++}`
        this.#sent.set(name, performance.now())
        return this.#timed('post', () => this.#ask('POST', this.#maps, { metadata: { name }, data: { a: 'b' } }))
      }),
    )
  }

  /** Asks nothing more, and waits for what is under way. */
  async end(): Promise<Measured> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer)
    await Promise.all(this.#open)
    await this.#lastEvents()
    this.#endWatch()
    const { get, post, event, livez, machine } = this.#samples
    return {
      get: figuresOf(get),
      post: figuresOf(post),
      event: figuresOf(event),
      livez: figuresOf(livez),
      machine: figuresOf(machine),
      refused:
        this.#refusals > this.#refused.length
          ? [...this.#refused, `and ${this.#refusals - this.#refused.length} more`]
          : this.#refused,
    }
  }

  async #lastEvents(): Promise<void> {
    if (this.#sent.size === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>(resolve => {
      timer = setTimeout(resolve, LIMIT_MS)
      this.#seen = () => {
        if (this.#sent.size === 0) resolve()
      }
    })
    clearTimeout(timer)
    if (this.#sent.size > 0) this.#refuse(`${this.#sent.size} objects of which no event told`)
  }

  #every(ms: number, ask: () => Promise<void>): NodeJS.Timeout {
    return setInterval(() => {
      const asked = ask().finally(() => this.#open.delete(asked))
      this.#open.add(asked)
    }, ms)
  }

  async #timed(what: What, ask: () => Promise<unknown>): Promise<void> {
    const started = performance.now()
    try {
      await ask()
    } catch (error) {
      this.#refuse(`${what}: ${error instanceof Error ? error.message : String(error)}`)
    }
    this.#samples[what].push(performance.now() - started)
  }

  #refuse(why: string): void {
    this.#refusals++
    if (this.#refused.length < SAID) this.#refused.push(why)
  }

  async #ask(method: string, path: string, body?: object): Promise<string> {
    const data = body && JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', ...body })
    const probe = path === '/livez'
    const sent = request(this.#setup.url + path, {
      method,
      agent: probe ? this.#probes : this.#agent,
      headers: {
        ...(!probe && { Authorization: `Bearer ${this.#setup.token}` }),
        ...(data && { 'Content-Type': 'application/json', 'Content-Length': `${data.length}` }),
      },
    })
    // what comes after the head is the response's
    sent.on('error', () => {})
    sent.end(data)
    const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${LIMIT_MS / 1000} s`)), LIMIT_MS)
    try {
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      let text = ''
      for await (const part of response) text += part
      if (response.statusCode === 409 && body) {
        // sent again by the client of an ended connection, or from the run before
        const { name } = (body as { metadata: { name: string } }).metadata
        this.#sent.delete(name)
      } else if ((response.statusCode ?? 0) >= 300) throw new Error(`${response.statusCode} ${text.slice(0, 300)}`)
      return text
    } finally {
      clearTimeout(timer)
    }
  }

  /** From now on: it is not to wait for thousands that were made in earlier measurements. */
  async #watch(): Promise<void> {
    const list = JSON.parse(await this.#ask('GET', `${this.#maps}?limit=1`)) as {
      metadata: { resourceVersion: string }
    }
    const query = `watch=1&timeoutSeconds=3600&resourceVersion=${list.metadata.resourceVersion}`
    const sent = request(`${this.#setup.url}${this.#maps}?${query}`, {
      agent: false,
      rejectUnauthorized: false,
      headers: { Authorization: `Bearer ${this.#setup.token}` },
    })
    sent.end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    if (response.statusCode !== 200) throw new Error(`the watch was refused: ${response.statusCode}`)
    let wanted = false
    this.#endWatch = () => {
      wanted = true
      sent.destroy()
    }
    sent.on('error', () => {})
    response.on('error', () => {})
    response.on('close', () => {
      if (!wanted) this.#refuse('the watch ended')
    })
    const lines = createInterface({ input: response })
    // it repeats the response's
    lines.on('error', () => {})
    lines.on('line', line => {
      const { object } = JSON.parse(line) as { object: { metadata: { name: string } } }
      const at = this.#sent.get(object.metadata.name)
      if (at === undefined) return
      this.#sent.delete(object.metadata.name)
      this.#samples.event.push(performance.now() - at)
      this.#seen()
    })
  }
}

function empty(): Record<What | 'machine', number[]> {
  return { get: [], post: [], event: [], livez: [], machine: [] }
}

let neighbour: Neighbour | undefined
let orders = Promise.resolve()
async function obey(order: Order): Promise<void> {
  if (typeof order === 'object') {
    neighbour = new Neighbour(order.setup)
    process.send!({ done: true })
  } else if (order === 'begin') {
    await neighbour!.begin()
    process.send!({ done: true })
  } else {
    process.send!({ measured: await neighbour!.end() })
  }
}
process.on('message', (order: Order) => {
  orders = orders.then(() =>
    obey(order).catch((error: unknown) => {
      process.send!({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }),
  )
})
process.on('disconnect', () => process.exit())
