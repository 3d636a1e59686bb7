/** JSON values as Go prints them; the texts are those of a Go program. */
import t from 'tap'
import { goPrint } from '../../../src/apimachinery/go/goPrint.ts'

t.test('values', async t => {
  for (const [value, text] of [
    [null, '<nil>'],
    ['a b', 'a b'],
    [true, 'true'],
    [5, '5'],
    [-1.5, '-1.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [1e20, '100000000000000000000'],
    [1e21, '1e+21'],
    [[], '[]'],
    [['a', 1, null], '[a 1 <nil>]'],
    [{}, 'map[]'],
    [{ b: { z: 1 }, a: ['x'], B: '', ä: 2 }, 'map[B: a:[x] b:map[z:1] ä:2]'],
  ] as const)
    t.equal(goPrint(value), text)
})
