import t from 'tap'
import { compareKeys, keyText } from '../../../src/storage/keys.ts'
import {
  keyOfObjectRow,
  type LogEntry,
  logRow,
  logValue,
  ObjectRowKeys,
  objectRow,
  parseLog,
  parseVersion,
  versionRow,
  versionValue,
} from '../../../src/storage/level/rows.ts'
import { isStorageError, type Key } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'

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

const anyEntry: fc.Arbitrary<LogEntry> = fc
  .record({ isPut: fc.boolean(), isAsItWas: fc.boolean(), previous: fc.nat(2 ** 53 - 1), key: anyKey })
  .map(({ isPut, isAsItWas, previous, key }) => ({
    type: isPut ? 'put' : 'delete',
    isAsItWas: !isPut && isAsItWas,
    previous,
    id: keyText(key),
  }))

t.test('a row of the log is read as it was written, and no other value is taken for one', async t => {
  const anyLog = fc.array(anyEntry, { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(anyLog, fc.nat(2 ** 40), fc.nat(2 ** 42), fc.nat(), (entries, before, timeMs, place) => {
      const last = before + entries.length
      const value = logValue(entries, last, timeMs)
      const read = parseLog(logRow(last), value)
      const wanted = entries.map((entry, i) => ({ revision: before + i + 1, timeMs, ...entry }))
      t.same(read, wanted)
      const isRefused = (row: string, other: Buffer): boolean => {
        try {
          parseLog(row, other)
          return false
        } catch (error) {
          return isStorageError(error, 'Damaged') || isStorageError(error, 'Format')
        }
      }
      const flipped = Buffer.from(value)
      flipped[place % value.length]! ^= 1 << (place % 8)
      t.ok(isRefused(logRow(last), flipped), 'another bit')
      t.ok(isRefused(logRow(last + 1), value), 'another row')
      t.ok(isRefused(logRow(last), value.subarray(0, place % value.length)), 'the beginning of it')
    }),
    { numRuns: 200 },
  )
})

t.test('a version is read as it was written, with outline and note, and no other value is taken for it', async t => {
  const anyBytes = fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes))
  const anyVersion = fc.record({
    revision: fc.integer({ min: 1, max: 2 ** 53 - 1 }),
    headBytes: fc.nat(1000),
    bytes: anyBytes,
    note: fc.option(fc.constantFrom('', 'bare', 'ä'), { nil: undefined }),
    outline: fc.option(anyBytes, { nil: undefined }),
  })
  fc.assert(
    fc.property(anyVersion, fc.nat(), (version, place) => {
      const value = versionValue(version)
      const { checksum: _, ...read } = parseVersion(versionRow(version.revision), Buffer.from(value))
      t.same(
        read,
        JSON.parse(JSON.stringify(version), (_, part) => (part?.type === 'Buffer' ? Buffer.from(part) : part)),
      )
      const flipped = Buffer.from(value)
      flipped[place % value.length]! ^= 1 << (place % 8)
      for (const other of [flipped, value.subarray(0, place % value.length)])
        t.throws(() => parseVersion(versionRow(version.revision), other))
    }),
    { numRuns: 300 },
  )
})
