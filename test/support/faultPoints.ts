/**
 * Named points at which a test lets something fail or wait. They are passed by wrappers that tests put around a journal
 * (`test/storage/faultyJournal.ts`) and around connections (`faultyLink.ts`); what is not wrapped knows nothing of them.
 */
export type FaultPoint =
  /** The disk refuses a batch; nothing of it is kept. */
  | 'journal.append fails'
  /** The disk has no room for a batch; nothing of it is kept. */
  | 'journal.append full'
  /** The disk has no room for the sync of a batch, all of which is kept. */
  | 'journal.append full, and kept'
  /** The disk has no room for a journal that is opened again. */
  | 'journal.reopen full'
  /** The power goes while a batch is written: its first half is kept, without an answer. */
  | 'journal.append torn'
  /** A batch is on its way to the disk. */
  | 'journal.append waits'
  /** A batch is on disk, and nobody knows it yet. */
  | 'publish delayed'
  /** A connection breaks in the middle of what the server sends. */
  | 'watch write broken'
  /** A connection breaks when the server answers: the request is done. */
  | 'answer lost'

export interface Hold {
  /** Resolves when something waits at the point. */
  readonly reached: Promise<void>
  release(): void
}

interface Armed {
  /** Passings that go by before. */
  skip: number
  reached: PromiseWithResolvers<void>
  released: PromiseWithResolvers<void>
}

export class FaultPoints {
  readonly #armed = new Map<FaultPoint, Armed[]>()
  /** Events, in order. */
  readonly happened: FaultPoint[] = []

  /** The fault happens once, after `skip` passings of the point; what was armed before comes first. */
  arm(point: FaultPoint, skip = 0): void {
    this.#add(point, skip).released.resolve()
  }

  /** The same, for a point that waits: until it is released. */
  hold(point: FaultPoint, skip = 0): Hold {
    const { reached, released } = this.#add(point, skip)
    return { reached: reached.promise, release: () => released.resolve() }
  }

  /** Forgets what has not happened. */
  clear(): void {
    this.#armed.clear()
  }

  /** For wrappers, once each time that the point is passed: whether the fault happens now. */
  strikes(point: FaultPoint): boolean {
    return this.#next(point) !== undefined
  }

  /** For wrappers, at points that wait. */
  async pass(point: FaultPoint): Promise<void> {
    const armed = this.#next(point)
    armed?.reached.resolve()
    await armed?.released.promise
  }

  #add(point: FaultPoint, skip: number): Armed {
    const armed: Armed = { skip, reached: Promise.withResolvers(), released: Promise.withResolvers() }
    this.#armed.set(point, [...(this.#armed.get(point) ?? []), armed])
    return armed
  }

  #next(point: FaultPoint): Armed | undefined {
    const queue = this.#armed.get(point)
    const first = queue?.[0]
    if (first === undefined || first.skip-- > 0) return undefined
    queue!.shift()
    this.happened.push(point)
    return first
  }
}
