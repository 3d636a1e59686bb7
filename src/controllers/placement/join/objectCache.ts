/** Recently seen objects, a bounded number of them; an entry answers only for the requested version. */
import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'

export class ObjectCache {
  readonly #entries: BoundedCache<string, KubeObject>

  constructor(limit: number) {
    this.#entries = new BoundedCache(limit)
  }

  /** `object` is shared: nobody changes it. */
  set(space: string, key: string, object: KubeObject): void {
    this.#entries.set(`${space} ${key}`, object)
  }

  get(space: string, key: string, resourceVersion: string): KubeObject | undefined {
    const object = this.#entries.peek(`${space} ${key}`)
    return object?.metadata.resourceVersion === resourceVersion ? object : undefined
  }

  delete(space: string, key: string): void {
    this.#entries.delete(`${space} ${key}`)
  }
}
