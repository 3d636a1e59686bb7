/** Order of many waiting requests: turns at each level of a path, and none is lost. */
import t from 'tap'
import { type Standing, WaitingLine } from '../../../src/apiserver/flowcontrol/waitingLine.ts'
import * as fc from '../../support/fastCheck.ts'

interface Guest extends Standing<Guest> {
  readonly name: string
}

const guest = (path: string, name = path): Guest => ({
  name,
  path: path.split('/'),
  inLine: undefined,
})

function served(line: WaitingLine<Guest>): string[] {
  const names: string[] = []
  for (let next = line.next; next !== undefined; next = line.next) {
    line.remove(next, true)
    names.push(next.name)
  }
  return names
}

t.test('tenants take turns, then their spaces, then users', async t => {
  const line = new WaitingLine<Guest>()
  for (const name of ['alice//u1', 'alice//u1', 'alice//u2', 'alice/child/', 'bob//b', 'bob//b']) line.add(guest(name))
  t.same(served(line), ['alice//u1', 'bob//b', 'alice/child/', 'bob//b', 'alice//u2', 'alice//u1'])
  t.equal(line.size, 0)
})

t.test('without a path it is first in, first out', async t => {
  const line = new WaitingLine<Guest>()
  for (const name of ['1', '2', '3']) line.add({ ...guest('', name), path: [] })
  t.same(served(line), ['1', '2', '3'])
})

t.test('a full line makes room for whoever has less waiting there', async t => {
  const line = new WaitingLine<Guest>()
  for (let n = 0; n < 6; n++) line.add(guest(`alice//u${n}`))
  line.add(guest('alice//u5', 'youngest'))
  t.equal(line.excess(['bob', '', 'b'])?.name, 'youngest', 'many users of one tenant are one tenant')
  t.equal(line.excess(['alice', '', 'u0']), undefined)
  t.equal(line.excess(['alice', '', 'new'])?.name, 'youngest')
  line.add(guest('alice//u5', 'younger'))
  t.equal(line.excess(['alice', '', 'u0'])?.name, 'younger')
  t.equal(line.excess(['alice', '', 'u5']), undefined)
})

t.test('whoever comes, goes or is served: nobody is lost, nobody is passed over for long', async () => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('add' as const), tenant: fc.nat({ max: 3 }), user: fc.nat({ max: 3 }) }),
    fc.record({ do: fc.constantFrom('serve' as const, 'leave' as const), pick: fc.nat() }),
  )
  await fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), steps => {
      const line = new WaitingLine<Guest>()
      const there: Guest[] = []
      /** Requests of others that were served since a tenant waits. */
      const passed = new Map<string, number>()
      for (const each of steps) {
        if (each.do === 'add') {
          const added = guest(`${each.tenant}//${each.user}`)
          line.add(added)
          there.push(added)
        } else if (there.length > 0) {
          const taken = each.do === 'serve' ? line.next! : there[each.pick % there.length]!
          line.remove(taken, each.do === 'serve')
          there.splice(there.indexOf(taken), 1)
          for (const tenant of ['0', '1', '2', '3']) {
            const waits = there.some(({ path }) => path[0] === tenant)
            if (!waits || taken.path[0] === tenant) passed.delete(tenant)
            else if (each.do === 'serve') passed.set(tenant, (passed.get(tenant) ?? 0) + 1)
            if ((passed.get(tenant) ?? 0) > 3) return false
          }
        }
        if (line.size !== there.length) return false
        if (there.length > 0 !== (line.next !== undefined)) return false
      }
      return true
    }),
  )
})
