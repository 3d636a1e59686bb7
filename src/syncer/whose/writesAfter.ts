/** A client whose writes wait for something, or fail with it. What is read does not wait. */
import type { SpaceClient } from '../../client/client.ts'

export function writesAfter(client: SpaceClient, allowed: () => Promise<void>): SpaceClient {
  const after = async <T>(call: () => Promise<T>): Promise<T> => {
    await allowed()
    return await call()
  }
  return {
    get: (...args) => client.get(...args),
    list: (...args) => client.list(...args),
    watch: (...args) => client.watch(...args),
    discover: () => client.discover(),
    create: (...args) => after(() => client.create(...args)),
    update: (...args) => after(() => client.update(...args)),
    patch: (...args) => after(() => client.patch(...args)),
    delete: (...args) => after(() => client.delete(...args)),
  }
}
