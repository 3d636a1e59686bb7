import t from 'tap'
import { RefusalCount } from '../../../src/placement/outcome/refusalCount.ts'

t.test('an object of two owners in two clusters names both, and counts once', async t => {
  const count = new RefusalCount()
  const owned = (space: string) => ({ reason: 'ObjectConflict', message: `space ${space} owns it there` })
  count.add('maps "a"', owned('one'), 1)
  count.add('maps "a"', owned('two'), 2)
  count.add('maps "a"', owned('one'), 1)
  t.equal(
    count.message(),
    'ObjectConflict: 1 refused (4 copies): maps "a": space one owns it there; maps "a": space two owns it there',
  )
  for (const name of ['b', 'c', 'd', 'e', 'f']) count.add(`maps "${name}"`, owned('one'), 1)
  t.match(count.message(), /^ObjectConflict: 6 refused \(9 copies\): .*; and 2 more$/)
})
