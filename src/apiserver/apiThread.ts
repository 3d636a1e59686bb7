/**
 * An API thread: TLS, HTTP, access, reads and watches by the same code as in the main thread, over a replica of the store. Each other
 * request crosses whole to the main thread.
 */
import type { Server as TlsServer } from 'node:tls'
import { parentPort, workerData } from 'node:worker_threads'
import { parseJsonSafely } from '../apimachinery/jsonParse.ts'
import type { LogFields } from '../apimachinery/logFields.ts'
import { messageOf } from '../apimachinery/messageOf.ts'
import { systemClock } from '../client/clock.ts'
import { keepPoolsSmall } from '../program/bufferPool.ts'
import { collectSoon } from '../program/garbage.ts'
import { PAUSE_LIMIT_MS, WorkTurns } from '../program/workTurns.ts'
import { openEngine } from '../storage/openEngine.ts'
import type { ApiServerOptions } from './apiServerOptions.ts'
import { assemble } from './assembly.ts'
import { joinPort } from './connections/sharedPort.ts'
import { showKeys } from './connections/tls.ts'
import { httpFront } from './httpFront.ts'
import type { Pki } from './pki/ensurePki.ts'
import type { Logger } from './request/logger.ts'
import { SpaceBudgets } from './spaces/spaceBudgets.ts'
import { type FromThread, PULSE_MS, type ThreadStart, type ToThread } from './threads/apiThreads.ts'
import { ForwardedDocuments } from './threads/forwardedDocuments.ts'
import { Forwarder } from './threads/forwarder.ts'
import { OwnReads } from './threads/ownReads.ts'
import { routeRequests } from './threads/routeRequests.ts'
import { WatchTidings } from './threads/watchTidings.ts'

/** Facts of the main thread that this one needs. */
export interface ApiThreadData {
  options: Omit<ApiServerOptions, 'log'>
  pki: Pki
  epoch: string
  url: string
  at: { host: string; port: number }
  /** Nothing is answered here: all requests are recorded, in one place. */
  forwardsAll: boolean
}

const data = workerData as ApiThreadData & ThreadStart
const main = parentPort!
const post = (message: FromThread): void => main.postMessage(message)
const logTo =
  (log: keyof Logger) =>
  (fields: LogFields, text: string): void => {
    const { err, ...rest } = fields as { err?: unknown }
    post({ log, fields: { ...rest, ...(err !== undefined && { err: messageOf(err) }) }, text })
  }
const log: Logger = { info: logTo('info'), warn: logTo('warn'), error: logTo('error') }

/** A script of the one file has no `await` of its own. */
async function serve(): Promise<void> {
  keepPoolsSmall()
  parseJsonSafely()
  const store = await openEngine('replica', {
    link: data.link,
    logger: log,
    packed: collectSoon,
    onLost(why) {
      log.error({ err: why }, 'an API thread cannot go on')
      process.exit(1)
    },
  })
  const options: ApiServerOptions = { ...data.options, log }
  const draining = new AbortController()
  const { url, pki, epoch } = data
  const assembly = await assemble(options, {
    store,
    work: new WorkTurns({ clock: () => performance.now(), pauseLimitMs: PAUSE_LIMIT_MS }),
    budgets: new SpaceBudgets(),
    pki,
    // nothing is worked on here
    guardFor: () => undefined,
    url: () => url,
    draining: draining.signal,
    follows: epoch,
  })
  const { watches } = assembly.inFlight
  watches.add(data.watches)
  const tidings = new WatchTidings({
    budget: watches,
    send: changed => post({ watches: changed }),
    after: systemClock.after,
  })
  const { types } = assembly.services
  const documents = new ForwardedDocuments({ types, ask: asks => post({ asks }) })
  const { app, road, metrics, strangers } = httpFront(options, assembly, {
    store,
    documents,
    tls: data.keys,
    url: () => url,
    // it begins when all of the server has
    hasStarted: () => true,
  })
  await app.ready()

  const server = app.server as unknown as TlsServer
  const reads = new OwnReads(assembly.catalog.types, types)
  const forwarder = new Forwarder({ cross: crossing => main.postMessage({ crossing }, [crossing.port]), strangers })
  road.forwardBy(routeRequests({ store, reads, forwarder, forwardsAll: data.forwardsAll }))
  showKeys(server, data.keys)
  if (options.fairness !== false) assembly.inFlight.flowControl.start()

  const pulse = new Int32Array(data.pulse)
  const beating = setInterval(() => Atomics.add(pulse, 0, 1), options.apiThreadPulseMs ?? PULSE_MS)
  const stopListening = await joinPort(app, data.at.host, data.at.port)

  const stop = async (): Promise<void> => {
    await forwarder.idle()
    stopListening()
    await app.close()
    assembly.inFlight.flowControl.stop()
    tidings.send()
    clearInterval(beating)
    await store.close()
    main.close()
  }

  main.on('message', (message: ToThread) => {
    if ('keys' in message) showKeys(server, message.keys)
    else if ('watches' in message) watches.add(message.watches, message.sign)
    else if ('document' in message) documents.answered(message.document)
    else if ('send' in message) post({ figures: metrics.renderOwn() })
    else if ('drain' in message) draining.abort()
    else void stop()
  })
  post({ ready: true })
}

void serve()
