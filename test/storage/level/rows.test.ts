import fc from 'fast-check'
import t from 'tap'
import { compareKeys, keyText } from '../../../src/storage/keys.ts'
import { keyOfObjectRow, ObjectRowKeys, objectRow } from '../../../src/storage/level/rows.ts'
import type { Key } from '../../../src/storage/store.ts'

const part = fc.constantFrom('', 'a', 'a0', 'ab', 'a/b', '😀')
const anyKey: fc.Arbitrary<Key> = fc.record({ space: part, group: part, resource: part, namespace: part, name: part })

t.test('keys that are read one after the other are those of their rows, in any order', async t => {
  fc.assert(
    fc.property(fc.array(anyKey), fc.boolean(), (keys, inOrder) => {
      const rows = (inOrder ? keys.toSorted(compareKeys) : keys).map(key => objectRow(keyText(key)))
      const read = new ObjectRowKeys()
      for (const row of rows)
        if (JSON.stringify(read.of(row)) !== JSON.stringify(keyOfObjectRow(row))) throw new Error(`wrong for ${row}`)
    }),
  )
  const many = new ObjectRowKeys()
  for (const space of ['a', 'b', 'bc'])
    for (let i = 0; i < 3000; i++) {
      const row = objectRow(keyText({ space, group: 'g', resource: 'r', namespace: `n${i}`, name: 'x' }))
      if (JSON.stringify(many.of(row)) !== JSON.stringify(keyOfObjectRow(row))) t.fail(`wrong for ${row}`)
    }
  const read = new ObjectRowKeys()
  read.of('o/s\0g\0r\0n\0x')
  for (const row of ['o/s\0g\0r\0n\0x\0y', 'o/s\0g\0r\0n', 'o/s', 'o/'])
    t.throws(() => read.of(row), TypeError, 'what is no key is none behind one either')
})
