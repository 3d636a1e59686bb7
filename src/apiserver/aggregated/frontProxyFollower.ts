/** Follows the ConfigMap by which a host describes its front proxy: another authority or name counts with the next connection. */
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { listWatch } from '../../client/listWatch.ts'
import type { Logger } from '../request/logger.ts'
import { AUTHENTICATION_NAME, AUTHENTICATION_NAMESPACE, type FrontProxy, frontProxyOf } from './requestHeaders.ts'

const CONFIG_MAPS: GroupVersionResource = { group: '', version: 'v1', resource: 'configmaps' }
const WHERE = `ConfigMap ${AUTHENTICATION_NAMESPACE}/${AUTHENTICATION_NAME} of the host`

export interface FrontProxyFollowerDeps {
  host: SpaceClient
  use(proxy: FrontProxy | undefined): void
  clock: Clock
  random: () => number
  log: Logger
}

export class FrontProxyFollower {
  readonly #deps: FrontProxyFollowerDeps
  readonly #ended = new AbortController()
  #running: Promise<void> = Promise.resolve()
  /** As JSON; absent: none is known. */
  #known: string | undefined

  constructor(deps: FrontProxyFollowerDeps) {
    this.#deps = deps
  }

  /** A host that is away is tried again; until it answers no front proxy is known. */
  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { host: client, clock, random, log } = this.#deps
    const logger = {
      debug: () => {},
      info: log.info.bind(log),
      warn: log.warn.bind(log),
      error: log.error.bind(log),
    }
    const events = listWatch(
      {
        client,
        resource: CONFIG_MAPS,
        namespace: AUTHENTICATION_NAMESPACE,
        fieldSelector: `metadata.name=${AUTHENTICATION_NAME}`,
        clock,
        random,
        logger,
      },
      this.#ended.signal,
    )
    let seen: KubeObject | undefined
    for await (const batch of events) {
      for (const event of batch) {
        if (event.type === 'init' || event.type === 'delete') seen = undefined
        else if ('object' in event) seen = event.object
      }
      this.#take(seen)
    }
  }

  #take(object: KubeObject | undefined): void {
    const { use, log } = this.#deps
    if (object === undefined) {
      log.error({}, `${WHERE} is missing: the front proxy is not known, and its requests are refused`)
      this.#known = undefined
      use(undefined)
      return
    }
    try {
      const proxy = frontProxyOf(object)
      const before = this.#known
      this.#known = JSON.stringify(proxy)
      if (this.#known === before) return
      use(proxy)
      const text =
        before === undefined ? 'the front proxy of the host is known' : 'the host describes another front proxy'
      log.info({ allowedNames: proxy.allowedNames }, `${text}: its requests are answered`)
    } catch (error) {
      log.error({ err: messageOf(error) }, `${WHERE} cannot be used: requests of the front proxy are refused`)
      this.#known = undefined
      use(undefined)
    }
  }
}
