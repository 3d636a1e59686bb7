/** A map by keys of objects that knows in which Namespaces it has some. */
import { namespaceOf } from '../../../placement/words/names.ts'

export class NamespacedMap<V> extends Map<string, V> {
  readonly #counts = new Map<string, number>()

  hasIn(namespace: string): boolean {
    return this.#counts.has(namespace)
  }

  override set(key: string, value: V): this {
    if (!this.has(key)) this.#count(key, 1)
    return super.set(key, value)
  }

  override delete(key: string): boolean {
    const was = super.delete(key)
    if (was) this.#count(key, -1)
    return was
  }

  override clear(): void {
    super.clear()
    this.#counts.clear()
  }

  #count(key: string, by: number): void {
    const namespace = namespaceOf(key)
    if (namespace === '') return
    const count = (this.#counts.get(namespace) ?? 0) + by
    if (count > 0) this.#counts.set(namespace, count)
    else this.#counts.delete(namespace)
  }
}
