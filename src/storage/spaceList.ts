/**
 * Members of one space each, in the order of spaces: a list of short sorted parts. One more or less moves at most one part, however many
 * spaces there are. A part knows how many objects its members hold, so they are counted by the part.
 */

/** Short enough that an insert moves 4 KiB at most, long enough that 100,000 spaces are a few hundred parts. */
const PART = 512

interface Part<T> {
  readonly members: T[]
  objects: number
}

export interface SpaceMember<T> {
  readonly space: string
  /** Where it is. The list's own; `undefined` while it is in none. */
  part: Part<T> | undefined
}

export class SpaceList<T extends SpaceMember<T>> {
  readonly #parts: Part<T>[] = []
  readonly #sizeOf: (member: T) => number
  #objects = 0

  /** `sizeOf` gives the number of a member's objects: the same as in {@link counted}. */
  constructor(sizeOf: (member: T) => number) {
    this.#sizeOf = sizeOf
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0
  }

  get first(): T | undefined {
    return this.#parts[0]?.members[0]
  }

  /** Objects of all members. */
  get objects(): number {
    return this.#objects
  }

  /** A member of a space that has none here yet, without objects. */
  add(member: T): void {
    const isLast = this.#isBehindAll(member.space)
    const at = isLast ? this.#parts.length - 1 : this.#partOf(member.space)
    const part = this.#parts[at]
    const i = part === undefined ? 0 : isLast ? part.members.length : placeIn(part, member.space)
    // Full parts stay behind instead of half-full ones: spaces are loaded in order.
    if (part === undefined || (i === PART && part.members.length === PART)) this.#insert(at + 1, [member])
    else {
      part.members.splice(i, 0, member)
      member.part = part
      if (part.members.length > PART) this.#insert(at + 1, part.members.splice(PART / 2))
    }
  }

  /** A member without objects. */
  delete(member: T): void {
    const at = this.#partOf(member.space)
    const { members } = this.#parts[at]!
    members.splice(placeIn(this.#parts[at]!, member.space), 1)
    if (members.length === 0) this.#parts.splice(at, 1)
    member.part = undefined
  }

  /** A member holds so many objects more. */
  counted(member: T, objects: number): void {
    member.part!.objects += objects
    this.#objects += objects
  }

  /** Objects of members of spaces behind `space`. */
  objectsBehind(space: string): number {
    const at = this.#partOf(space)
    const part = this.#parts[at]
    if (part === undefined) return 0
    let objects = 0
    for (let i = placeIn(part, space); i < part.members.length; i++) {
      const member = part.members[i]!
      if (member.space !== space) objects += this.#sizeOf(member)
    }
    for (let i = at + 1; i < this.#parts.length; i++) objects += this.#parts[i]!.objects
    return objects
  }

  /** In order, from `space` on, or all. */
  *from(space = ''): Iterable<T> {
    let at = this.#partOf(space)
    let i = this.#parts.length === 0 ? 0 : placeIn(this.#parts[at]!, space)
    for (; at < this.#parts.length; at++, i = 0) {
      const { members } = this.#parts[at]!
      for (; i < members.length; i++) yield members[i]!
    }
  }

  #insert(at: number, members: T[]): void {
    const part: Part<T> = { members, objects: 0 }
    for (const member of members) {
      const size = this.#sizeOf(member)
      if (member.part !== undefined) member.part.objects -= size
      part.objects += size
      member.part = part
    }
    this.#parts.splice(at, 0, part)
  }

  /** As each one is while spaces are loaded. */
  #isBehindAll(space: string): boolean {
    const last = this.#parts.at(-1)
    return last === undefined || last.members.at(-1)!.space < space
  }

  /** The last part that begins at or before `space`; the first one when all begin behind it. */
  #partOf(space: string): number {
    let low = 0
    let high = this.#parts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#parts[middle]!.members[0]!.space > space) high = middle - 1
      else low = middle
    }
    return low
  }
}

/** The first place whose member is not before `space`. */
function placeIn<T extends SpaceMember<T>>({ members }: Part<T>, space: string): number {
  let low = 0
  let high = members.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (members[middle]!.space < space) low = middle + 1
    else high = middle
  }
  return low
}
