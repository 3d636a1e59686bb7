/** Names of revisions lead to their placement without a look at any other one. */
import t from 'tap'
import { baseOfRevision, revisionBase, revisionName } from '../../../src/placement/rollout/revisionNames.ts'

t.test('a name of a revision has the base of its placement alone', t => {
  const names = ['web', 'web.1', 'web.1.2', 'x'.repeat(253), `${'x'.repeat(252)}y`]
  t.equal(new Set(names.map(revisionBase)).size, names.length)
  for (const name of names)
    for (const number of [1, 10, 1_000_000_000]) t.equal(baseOfRevision(revisionName(name, number)), revisionBase(name))
  for (const name of ['', 'web', '.']) t.equal(baseOfRevision(name), '', `${name} is no name of a revision`)
  t.end()
})
