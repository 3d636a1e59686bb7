/**
 * Writers of one large object take their time, and come one after the other. Otherwise each would find at its end that another change came
 * meanwhile. While there is a line, quick writers stand in it, too. No seat is held in it: one object that is changed as fast as it goes
 * would take all seats of its level.
 */
import { keyText } from '../../storage/keys.ts'
import type { Key } from '../../storage/store.ts'
import type { Pausable } from './context.ts'
import { waitApart } from './waitingApart.ts'

export class WriterLines {
  /** By the text of the key; the end of the last in each line. */
  readonly #last = new Map<string, Promise<void>>()

  has(key: Key): boolean {
    return this.#last.size > 0 && this.#last.has(keyText(key))
  }

  /**
   * Begins when all that came before for the same key have ended, well or not.
   * @throws StatusError TooManyRequests when too many of the space wait already; what `work` throws
   */
  async run<T>(key: Key, request: Pausable | undefined, work: () => Promise<T>): Promise<T> {
    const text = keyText(key)
    const before = this.#last.get(text)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    this.#last.set(text, ended)
    const leave = (): void => {
      if (this.#last.get(text) === ended) this.#last.delete(text)
      end()
    }
    try {
      if (before !== undefined) await waitApart(request, () => before)
    } catch (refused) {
      // whoever stands behind waits for whoever stands before
      void before!.then(leave)
      throw refused
    }
    try {
      return await work()
    } finally {
      leave()
    }
  }
}
