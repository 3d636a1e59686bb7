/** Clients whose connections break when a test says so. */
import { StatusError, statusError } from '../../../src/apimachinery/errors.ts'
import type { Client, SpaceClient } from '../../../src/client/client.ts'
import { OUTCOME_SUBRESOURCE } from '../../../src/placement/outcome/outcome.ts'

export class Faults {
  /** Every request fails and nothing is delivered. */
  down = false
  /** Fate of each further request and delivery, first to last. `lost`: it is done, but the answer does not arrive. */
  readonly coming: ('fails' | 'lost' | 'fine')[] = []
  /** Done before each further creation reaches its server, first to last. */
  readonly meanwhile: (() => Promise<unknown>)[] = []
  /** The next stream that resumes gets the error that its cursor is too old. */
  expired = false
  #cut = Promise.withResolvers<void>()

  /** Ends all open watches and streams the hard way. */
  cut(): void {
    this.#cut.resolve()
    this.#cut = Promise.withResolvers<void>()
  }

  center(client: Client): Client {
    return {
      in: space => this.cluster(client.in(space)),
      stream: options => {
        const expired = this.expired && options.after !== undefined
        if (expired) this.expired = false
        return this.#each(client.stream(options), expired)
      },
    }
  }

  cluster(client: SpaceClient): SpaceClient {
    const call = async <T>(make: () => Promise<T>): Promise<T> => {
      const fate = this.down ? 'fails' : (this.coming.shift() ?? 'fine')
      if (fate === 'fails') throw broken()
      const answer = await make()
      if (fate === 'lost' || this.down) throw broken()
      return answer
    }
    return {
      get: (...args) => call(() => client.get(...args)),
      list: (...args) => call(() => client.list(...args)),
      create: (...args) =>
        call(async () => {
          await this.meanwhile.shift()?.()
          return await client.create(...args)
        }),
      update: (resource, object, options) =>
        call(async () =>
          // an embedded center takes no reports
          options?.subresource === OUTCOME_SUBRESOURCE
            ? { ...object, status: {} }
            : await client.update(resource, object, options),
        ),
      patch: (...args) => call(() => client.patch(...args)),
      delete: (...args) => call(() => client.delete(...args)),
      discover: () => call(() => client.discover()),
      watch: (resource, options) => this.#each(client.watch(resource, options), false),
    }
  }

  async *#each<T>(source: AsyncIterable<T>, expired: boolean): AsyncGenerator<T, void, void> {
    if (this.down) throw broken()
    if (expired) throw statusError.expired('the cursor is too old')
    const cut = this.#cut.promise.then(() => 'cut' as const)
    const items = source[Symbol.asyncIterator]()
    try {
      for (;;) {
        const next = await Promise.race([items.next(), cut])
        if (next === 'cut' || this.down) throw broken()
        if (next.done) return
        yield next.value
      }
    } finally {
      void items.return?.()
    }
  }
}

const broken = (): StatusError =>
  new StatusError('ServiceUnavailable', 'https://there: socket hang up', undefined, { cause: new Error('ECONNRESET') })
