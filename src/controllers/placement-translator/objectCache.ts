/** Recently seen objects, a bounded number of them; an entry answers only for the version that is asked for. */
import type { KubeObject } from '../../apimachinery/object.ts'

export class ObjectCache {
  readonly #limit: number
  readonly #entries = new Map<string, KubeObject>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** `object` is shared: nobody changes it. */
  set(space: string, key: string, object: KubeObject): void {
    const id = `${space} ${key}`
    this.#entries.delete(id)
    this.#entries.set(id, object)
    if (this.#entries.size > this.#limit) this.#entries.delete(this.#entries.keys().next().value!)
  }

  get(space: string, key: string, resourceVersion: string): KubeObject | undefined {
    const object = this.#entries.get(`${space} ${key}`)
    return object?.metadata.resourceVersion === resourceVersion ? object : undefined
  }

  delete(space: string, key: string): void {
    this.#entries.delete(`${space} ${key}`)
  }
}
