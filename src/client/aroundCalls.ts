/** Clients that do something around each call of another one: wait before it, or note how it ends. Watches pass as they are. */
import type { SpaceClient } from './client.ts'

type Verb = Exclude<keyof SpaceClient, 'watch'>

const WRITES: ReadonlySet<Verb> = new Set(['create', 'update', 'patch', 'delete'])

export function aroundCalls(
  client: SpaceClient,
  around: <T>(verb: Verb, call: () => Promise<T>) => Promise<T>,
): SpaceClient {
  return {
    get: (...args) => around('get', () => client.get(...args)),
    list: (...args) => around('list', () => client.list(...args)),
    create: (...args) => around('create', () => client.create(...args)),
    update: (...args) => around('update', () => client.update(...args)),
    patch: (...args) => around('patch', () => client.patch(...args)),
    delete: (...args) => around('delete', () => client.delete(...args)),
    discover: () => around('discover', () => client.discover()),
    watch: (...args) => client.watch(...args),
  }
}

/** Writes wait for `allowed`, or fail with it. Reads do not wait. */
export function writesAfter(client: SpaceClient, allowed: () => Promise<void>): SpaceClient {
  return aroundCalls(client, async (verb, call) => {
    if (WRITES.has(verb)) await allowed()
    return await call()
  })
}
