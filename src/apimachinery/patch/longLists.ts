/**
 * Lists of a document that is changed one element at a time. An element that comes or goes at the front of a long list moves
 * all others, and a patch may do that ten thousand times. So a long list is cut into pieces when it is first changed, and put
 * together again when all is done.
 */

/** Shorter lists are changed as they are. */
const LONG = 4096
const PIECE = 1024

export class LongLists {
  readonly #pieces = new Map<unknown[], Pieces>()

  lengthOf(list: unknown[]): number {
    return this.#pieces.get(list)?.length ?? list.length
  }

  at(list: unknown[], index: number): unknown {
    const pieces = this.#pieces.get(list)
    return pieces === undefined ? list[index] : pieces.at(index)
  }

  set(list: unknown[], index: number, value: unknown): void {
    const pieces = this.#pieces.get(list)
    if (pieces === undefined) list[index] = value
    else pieces.set(index, value)
  }

  /** Before the element at `index`, or at the end. */
  insert(list: unknown[], index: number, value: unknown): void {
    const pieces = this.#piecesOf(list)
    if (pieces === undefined) list.splice(index, 0, value)
    else pieces.insert(index, value)
  }

  remove(list: unknown[], index: number): unknown {
    const pieces = this.#piecesOf(list)
    return pieces === undefined ? list.splice(index, 1)[0] : pieces.remove(index)
  }

  /** The elements as they are now; not to be changed. */
  *elementsOf(list: unknown[]): Iterable<unknown> {
    yield* this.#pieces.get(list)?.elements() ?? list
  }

  /** Whether every list is as it looks. */
  get untouched(): boolean {
    return this.#pieces.size === 0
  }

  /** Puts every list together again. */
  settle(): void {
    for (const [list, pieces] of this.#pieces) {
      list.length = 0
      for (const element of pieces.elements()) list.push(element)
    }
    this.#pieces.clear()
  }

  #piecesOf(list: unknown[]): Pieces | undefined {
    const known = this.#pieces.get(list)
    if (known !== undefined || list.length < LONG) return known
    const pieces = new Pieces(list)
    this.#pieces.set(list, pieces)
    return pieces
  }
}

/** None is empty, but the only one of an empty list. */
class Pieces {
  readonly #pieces: unknown[][] = []
  length: number

  constructor(list: readonly unknown[]) {
    this.length = list.length
    for (let start = 0; start < list.length; start += PIECE) this.#pieces.push(list.slice(start, start + PIECE))
  }

  at(index: number): unknown {
    const { piece, offset } = this.#find(index)
    return this.#pieces[piece]![offset]
  }

  set(index: number, value: unknown): void {
    const { piece, offset } = this.#find(index)
    this.#pieces[piece]![offset] = value
  }

  insert(index: number, value: unknown): void {
    const { piece, offset } = this.#find(index)
    const grown = this.#pieces[piece]!
    grown.splice(offset, 0, value)
    this.length++
    if (grown.length > 2 * PIECE) this.#pieces.splice(piece + 1, 0, grown.splice(PIECE))
  }

  remove(index: number): unknown {
    const { piece, offset } = this.#find(index)
    const shrunk = this.#pieces[piece]!
    const [value] = shrunk.splice(offset, 1)
    this.length--
    if (shrunk.length === 0 && this.#pieces.length > 1) this.#pieces.splice(piece, 1)
    return value
  }

  *elements(): Iterable<unknown> {
    for (const piece of this.#pieces) yield* piece
  }

  /** Where the element is; behind the last one for `index` = length. */
  #find(index: number): { piece: number; offset: number } {
    let offset = index
    let piece = 0
    while (piece < this.#pieces.length - 1 && offset >= this.#pieces[piece]!.length) {
      offset -= this.#pieces[piece]!.length
      piece++
    }
    return { piece, offset }
  }
}
