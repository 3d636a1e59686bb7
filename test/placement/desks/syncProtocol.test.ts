/** Which protocol a center and a syncer of different releases speak. */
import t from 'tap'
import { agreedProtocol, protocolText, readProtocols, SPOKEN } from '../../../src/placement/desks/syncProtocol.ts'

const range = (oldest: number, newest: number) => ({ oldest, newest })

t.test('the newest that both can', async t => {
  t.equal(agreedProtocol(range(1, 2), range(1, 2)), 2)
  t.equal(agreedProtocol(range(1, 2), range(1, 5)), 2, 'an older syncer')
  t.equal(agreedProtocol(range(2, 7), range(1, 3)), 3, 'a newer syncer at an older center')
  t.same(readProtocols(null), range(1, 1), 'silence')
  t.equal(agreedProtocol(SPOKEN), SPOKEN.newest)
})

t.test('where there is none, it is said what to do about it', async t => {
  t.throws(() => agreedProtocol(range(1, 2), range(3, 4)), {
    reason: 'NotAcceptable',
    code: 406,
    message:
      'this syncer is too old for its center: it speaks protocols 1 to 2, the center protocols 3 to 4; ' +
      'install a newer release of the syncer. The cluster keeps what it holds',
  })
  t.throws(() => agreedProtocol(range(5, 5), range(1, 2)), {
    reason: 'NotAcceptable',
    message:
      'this syncer is too new for its center: it speaks protocol 5, the center protocols 1 to 2; ' +
      'upgrade the center, or install an older release of the syncer. The cluster keeps what it holds',
  })
})

t.test('what is said is read back, and what cannot be read is refused', async t => {
  t.same(readProtocols(protocolText(range(2, 13))), range(2, 13))
  for (const wrong of ['', '2', '0-1', '2-1', '1-2-3', 'a-b', '1-99999', ' 1-2'])
    t.throws(() => readProtocols(wrong), {
      reason: 'BadRequest',
      message: `protocol: ${JSON.stringify(wrong)} must be two numbers, the oldest and the newest, such as 2-3`,
    })
})
