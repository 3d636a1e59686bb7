/** Whole numbers as Go reads them; the texts are those of a Go program. */
import t from 'tap'
import { goInteger } from '../../../src/apimachinery/go/goIntegers.ts'

t.test('numbers', async t => {
  t.equal(goInteger('+5', 'ParseInt'), 5n)
  t.equal(goInteger('-007', 'Atoi'), -7n)
  t.equal(goInteger('0'.repeat(50), 'ParseUint'), 0n)
  t.equal(goInteger('-9223372036854775808', 'ParseInt'), -(2n ** 63n))
  t.equal(goInteger('18446744073709551615', 'ParseUint'), 2n ** 64n - 1n)
})

t.test('what is none', async t => {
  const syntax = (text: string, quoted: string) =>
    t.equal(goInteger(text, 'ParseInt'), `strconv.ParseInt: parsing ${quoted}: invalid syntax`)
  syntax('', '""')
  syntax(' 1', '" 1"')
  syntax('1.5', '"1.5"')
  syntax('0x1', '"0x1"')
  syntax('x"\x01', String.raw`"x\"\x01"`)
  t.equal(goInteger('+1', 'ParseUint'), 'strconv.ParseUint: parsing "+1": invalid syntax')
  t.equal(goInteger('-1', 'ParseUint'), 'strconv.ParseUint: parsing "-1": invalid syntax')
  for (const [text, reader] of [
    ['9223372036854775808', 'ParseInt'],
    ['-9223372036854775809', 'Atoi'],
    ['18446744073709551616', 'ParseUint'],
    ['9'.repeat(1000), 'ParseInt'],
  ] as const)
    t.equal(goInteger(text, reader), `strconv.${reader}: parsing "${text}": value out of range`)
})
