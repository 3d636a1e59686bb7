import t from 'tap'
import { SpaceList, type SpaceMember } from '../../src/storage/spaceList.ts'
import * as fc from '../support/fastCheck.ts'

/** Some parts of a list. */
const SPACES = 3000

class Member implements SpaceMember<Member> {
  part: SpaceMember<Member>['part']
  size = 0
  readonly space: string

  constructor(space: string) {
    this.space = space
  }
}

const nameOf = (i: number): string => `space-${String(i).padStart(5, '0')}`

t.test('whatever comes and goes in whatever order, members are in order and their objects counted', async t => {
  const anyOrder = fc.shuffledSubarray(
    Array.from({ length: SPACES }, (_, i) => i),
    { minLength: SPACES / 2 },
  )
  await fc.assert(
    fc.property(anyOrder, anyOrder, fc.nat(SPACES), (coming, going, at) => {
      const list = new SpaceList<Member>(member => member.size)
      const members = new Map<string, Member>()
      const count = (member: Member, objects: number): void => {
        member.size += objects
        list.counted(member, objects)
      }
      for (const i of coming) {
        const member = new Member(nameOf(i))
        list.add(member)
        members.set(member.space, member)
        count(member, (i % 3) + 1)
      }
      for (const i of going) {
        const member = members.get(nameOf(i))
        if (member === undefined) continue
        count(member, -1)
        if (member.size > 0) continue
        list.delete(member)
        members.delete(member.space)
      }
      const sorted = [...members.values()].sort((a, b) => (a.space < b.space ? -1 : 1))
      const sum = (some: readonly Member[]): number => some.reduce((all, { size }) => all + size, 0)
      for (const space of ['', nameOf(at), `${nameOf(at)}0`, 't']) {
        const behind = sorted.filter(member => member.space > space)
        const before = sorted.filter(member => member.space < space)
        t.strictSame([...list.from(space)], sorted.slice(before.length))
        t.equal(list.objectsBehind(space), sum(behind))
      }
      t.equal(list.objects, sum(sorted))
      t.equal(list.isEmpty, sorted.length === 0)
    }),
    { numRuns: 20 },
  )
})

t.test('to count, to add and to take away looks at few of many members', async t => {
  let looks = 0
  const list = new SpaceList<Member>(({ size }) => {
    looks++
    return size
  })
  const members = Array.from({ length: 20_000 }, (_, i) => {
    const get = (): string => {
      looks++
      return nameOf(i)
    }
    return Object.defineProperty(new Member(''), 'space', { get })
  })
  for (const [i, member] of members.entries()) {
    if (i % 2 === 0) list.add(member)
  }
  for (const step of [
    () => list.objectsBehind(nameOf(5000)),
    () => list.add(members[5001]!),
    () => list.delete(members[5002]!),
  ]) {
    looks = 0
    step()
    t.ok(looks < 1500, `${looks} looks`)
  }
})
