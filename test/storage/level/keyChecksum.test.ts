import { crc32 } from 'node:zlib'
import t from 'tap'
import { keyChecksum } from '../../../src/storage/level/keyChecksum.ts'
import * as fc from '../../support/fastCheck.ts'

t.test('it is the CRC-32 of the text behind a place, whatever the text and whatever it is begun with', async t => {
  const ascii = fc.nat(0x7f).map(code => String.fromCharCode(code))
  const any = fc.oneof({ weight: 20, arbitrary: ascii }, fc.constantFrom('\u0080', 'é', '\uff5e', '😀'))
  const texts = [ascii, any].map(unit => fc.array(unit, { maxLength: 80 }).map(units => units.join('')))
  fc.assert(
    fc.property(fc.oneof(...texts), fc.nat(8), fc.nat(0xffffffff), (text, from, begun) => {
      const rest = text.slice(from)
      return !rest.isWellFormed() || keyChecksum(text, from, begun) === crc32(rest, begun)
    }),
  )
  t.equal(keyChecksum('o/123456789', 2, 0), 0xcbf43926, 'the check value of CRC-32')
  t.equal(keyChecksum('', 0, 7), 7)
})
