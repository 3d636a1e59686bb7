import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { keyChecksum } from '../../../src/storage/level/keyChecksum.ts'

t.test('it is the CRC-32 of the text behind a place, whatever the text and whatever it is begun with', async t => {
  const texts = [fc.string({ unit: 'binary-ascii' }), fc.string({ unit: 'binary' }).filter(text => text.isWellFormed())]
  fc.assert(
    fc.property(fc.oneof(...texts), fc.nat(8), fc.nat(0xffffffff), (text, from, begun) => {
      const rest = text.slice(from)
      return !rest.isWellFormed() || keyChecksum(text, from, begun) === crc32(rest, begun)
    }),
  )
  t.equal(keyChecksum('o/123456789', 2, 0), 0xcbf43926, 'the check value of CRC-32')
  t.equal(keyChecksum('', 0, 7), 7)
})
