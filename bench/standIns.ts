/** Loops that behave as syncers do towards a server (a stream of the mailbox, reports), and have no cluster behind them. */
import { randomUUID } from 'node:crypto'
import { str } from '../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../src/apimachinery/object.ts'
import { atMost } from '../src/client/atMost.ts'
import type { Client, SpaceClient } from '../src/client/client.ts'
import { type Clock, systemClock } from '../src/client/clock.ts'
import { httpClient } from '../src/client/http/httpClient.ts'
import { silentLogger } from '../src/client/logger.ts'
import { WorkTurns } from '../src/program/workTurns.ts'
import { MailboxFeed } from '../src/syncer/mailbox/mailboxFeed.ts'
import { SyncerState } from '../src/syncer/mailbox/syncerState.ts'
import { ConfigReport } from '../src/syncer/tells/configReport.ts'
import { OutcomeReporter } from '../src/syncer/tells/outcomeReporter.ts'
import { Outcomes } from '../src/syncer/tells/outcomes.ts'
import { Refusals } from '../src/syncer/tells/refusals.ts'
import { AT_ONCE, addCluster, eventually, mailboxesOf } from './ground.ts'
import { clientOf, type RunningServer } from './servers.ts'

const ACCOUNTS: GroupVersionResource = { group: '', version: 'v1', resource: 'serviceaccounts' }

interface StandInOptions {
  readonly name: string
  readonly mailbox: string
  /** The kind of the objects that it holds. */
  readonly carried: GroupVersionResource
  readonly server: string
  readonly token: string
}

/** One cluster: it takes the content of its mailbox for done, and reports so. */
export class StandIn {
  /** The name of its SyncTarget. */
  readonly name: string
  readonly mailbox: string
  readonly space: SpaceClient
  /** By name. */
  readonly held = new Map<string, KubeObject>()
  onChange: (name: string) => void | Promise<void> = () => {}
  readonly #end = new AbortController()

  constructor({ name, mailbox, carried, ...options }: StandInOptions) {
    this.name = name
    this.mailbox = mailbox
    const client = httpClient({ ...options, insecure: true, watchIdleMs: 600_000 })
    const space = client.in(mailbox)
    this.space = space
    const clock: Clock = systemClock
    const outcomes = new Outcomes(clock, () => reporter.news())
    const session = randomUUID()
    const feed: MailboxFeed = new MailboxFeed({
      client,
      space: mailbox,
      session,
      state: new SyncerState(undefined, silentLogger),
      clock,
      random: Math.random,
      turns: new WorkTurns({ clock: () => performance.now() }),
      logger: silentLogger,
      onChange: ({ key, object }) => {
        if (key.resource !== carried.resource) return
        if (object) this.held.set(key.name, object)
        else this.held.delete(key.name)
        void this.onChange(key.name)
      },
      onProgress: () => reporter.news(),
      onComplete: () => {
        outcomes.whole([])
        if (!reporting) reporting = config.run(this.#end.signal)
      },
    })
    let reporting: Promise<void> | undefined
    const everyMs = 60_000
    const common = { mailbox: space, session, logger: silentLogger, clock }
    const reporter: OutcomeReporter = new OutcomeReporter({
      ...common,
      outcomes,
      position: () => feed.position,
      everyMs,
    })
    const config: ConfigReport = new ConfigReport({
      ...common,
      mirror: feed.mirror,
      refusals: new Refusals(silentLogger, () => config.soon()),
      orders: () => ({}),
      associated: () => undefined,
    })
    void feed.run(mailbox, this.#end.signal)
    void reporter.run(this.#end.signal)
  }

  /** It is silent from now on. */
  end(): void {
    this.#end.abort()
  }
}

/** Clusters of `root:imw1`: each has a SyncTarget and a Location with the labels `env` and `id`. */
export class Fleet {
  readonly #server: string
  readonly #admin: Client
  readonly #carried: GroupVersionResource
  /** Names of SyncTargets by uid. */
  readonly #names = new Map<string, string>()
  readonly #connected = new Set<string>()

  constructor({ endpoint }: RunningServer, carried: GroupVersionResource) {
    this.#server = `https://${endpoint.host}:${endpoint.port}`
    this.#admin = clientOf(endpoint)
    this.#carried = carried
  }

  async create(names: readonly string[], env = 'fleet'): Promise<void> {
    await atMost(AT_ONCE, names, async name => {
      this.#names.set((await addCluster(this.#admin, name, env)).metadata.uid!, name)
    })
  }

  /** Names of mailboxes without a stand-in, once all are ready. */
  async mailboxes(): Promise<readonly string[]> {
    const ready = await mailboxesOf(this.#admin, this.#names.size)
    return ready.map(({ metadata }) => metadata.name!).filter(name => !this.#connected.has(name))
  }

  async connect(mailboxes: readonly string[]): Promise<StandIn[]> {
    const found: StandIn[] = []
    await atMost(AT_ONCE, mailboxes, async mailbox => {
      const space = `root:espw:${mailbox}`
      const request: KubeObject = {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        metadata: { name: 'kubestellar-syncer', namespace: 'default' },
        spec: {},
      }
      const issued = await eventually(() =>
        this.#admin
          .in(space)
          .create(ACCOUNTS, request, { subresource: 'token' })
          .catch(() => undefined),
      )
      this.#connected.add(mailbox)
      const name = [...this.#names].find(([uid]) => mailbox.endsWith(uid))?.[1] ?? mailbox
      const token = str(issued, 'status', 'token')
      found.push(new StandIn({ name, mailbox: space, carried: this.#carried, server: this.#server, token }))
    })
    return found
  }
}

export function say(what: string, figure: string): void {
  console.log(`${what.padEnd(40)} ${figure}`)
}
