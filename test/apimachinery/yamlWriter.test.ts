/** A text that is written piece by piece is the one that the library writes at once. */
import { createRequire } from 'node:module'
import t from 'tap'
import { YamlWriter, yamlText } from '../../src/apimachinery/yamlWriter.ts'
import * as fc from '../support/fastCheck.ts'

// The runner tap has a use of its own for the library, and removes its knowledge of times. Here it is as a server has it.
const require = createRequire(import.meta.url)
for (const path of Object.keys(require.cache)) if (path.includes('/yaml/dist/')) delete require.cache[path]
const { parse, stringify } = require('yaml') as typeof import('yaml')

const byLibrary = (value: unknown): string =>
  stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false })

/** Texts that the library damages in its blocks are written in quotes; the test below reads them back. */
const LOST_IN_BLOCKS = /^\s|\n[ \t]+(?:\n|$)/

/** Texts that a writer of YAML can get wrong. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('\n', ' ', '#', ':', '-', 'a', '\t', '"', "'", '%', '.') }),
    fc.constantFrom(
      'no',
      'Yes',
      'null',
      '~',
      'y',
      '1',
      '0x1f',
      '1e3',
      'E7',
      'e-3',
      '1:20',
      '2026-01-01',
      '2026-01-01T00:00:00Z',
      '=',
    ),
    fc.constantFrom(
      '---',
      '--- a',
      '%a',
      '...',
      'a: b',
      '- a',
      '? a',
      '&a',
      '*a',
      '!a',
      '|',
      '>',
      '@a',
      '`a',
      '.inf',
      '.NaN',
    ),
    fc.constantFrom(
      '#!/bin/sh\nset -e\n  echo "a: b"\n',
      'a\nb\n\n',
      '\n',
      'a \nb',
      'x'.repeat(1100),
      `${'a b '.repeat(50)}\n`,
    ),
  )
  .filter(value => value !== '<<' && !(value.includes('\n') && LOST_IN_BLOCKS.test(value)))
const scalar = fc.oneof(
  text,
  fc.boolean(),
  fc.constant(null),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(text, tie('tree'), { maxKeys: 5 }),
  ),
}))
const document = fc.dictionary(text, tree, { maxKeys: 6 })

t.test('one line of ASCII, as a value and as a key', async () => {
  const line = fc
    .oneof(
      fc.uuid(),
      fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map(date => date.toISOString()),
      fc.nat().map(String),
      fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code)), maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(..."ea1.-+_:#?=~<|', "), maxLength: 6 }),
      fc.constantFrom(
        '0',
        '0123',
        '1234567890123456789012345678901234567890',
        '2026-01-01T00:00:00Z',
        '2026-01-01T00:00:00.123456Z',
        '2026-13-41T27:61:61Z',
        '2026-01-01T00:00:00+01:00',
        '12345678-1234-1234-1234-123456789012',
        '1234567e-1234-1234-1234-123456789012',
        'e+3',
        'E-3',
        'on ',
        'a: b',
        'a #b',
        'a#b',
        'a:b',
        '- a',
        '-',
        '?',
        "it's",
        '<',
        '0x1f',
        '+.inf',
        'x '.repeat(60),
      ),
    )
    .filter(value => value !== '<<')
  fc.assert(
    fc.property(fc.dictionary(line, line, { minKeys: 1, maxKeys: 8 }), value => yamlText(value) === byLibrary(value)),
    { numRuns: 1000 },
  )
})

t.test('at once', async t => {
  fc.assert(
    fc.property(document, value => yamlText(value) === byLibrary(value)),
    { numRuns: 400 },
  )
  t.equal(yamlText({}), '{}\n')
  t.equal(yamlText({ b: undefined, a: [] }), 'a: []\n')
  t.strictSame(parse(yamlText({ __proto__: null, a: 'no' }), { version: '1.1' }), { a: 'no' })
})

t.test('a key that would mean a merge is quoted: the library writes it so that it means one', async t => {
  t.equal(yamlText({ '<<': { a: '<<' } }), '"<<":\n  a: "<<"\n')
})

t.test('in pieces', async t => {
  fc.assert(
    fc.property(document, fc.integer({ min: 1, max: 50 }), (value, length) => {
      const writer = new YamlWriter(value)
      const pieces: string[] = []
      for (let piece = writer.next(length); piece !== undefined; piece = writer.next(length)) pieces.push(piece)
      return `${pieces.join('')}\n` === byLibrary(value)
    }),
    { numRuns: 500 },
  )
  const writer = new YamlWriter({ list: Array.from({ length: 10_000 }, (_, i) => ({ name: `item-${i}` })) })
  let longest = 0
  for (let piece = writer.next(1000); piece !== undefined; piece = writer.next(1000))
    longest = Math.max(longest, piece.length)
  t.ok(longest < 1100, 'a piece is as long as it was asked for')
})

t.test('as a part of something else', async t => {
  fc.assert(
    fc.property(document, value => {
      const part = new YamlWriter(value, '    ').next(Number.POSITIVE_INFINITY)
      return `items:\n  - ${part}\n` === byLibrary({ items: [value] })
    }),
    { numRuns: 500 },
  )
  t.end()
})

t.test('texts whose first line begins with a space, or with lines of spaces, are read back as they were', async t => {
  const odd = fc.string({
    unit: fc.constantFrom('\n', ' ', '\t', 'a', '"', '\\', '\u0085', '\u2028', '\ufeff'),
    maxLength: 40,
  })
  fc.assert(
    fc.property(odd, value => {
      const object = { items: [{ a: { c: value, d: 'x' } }, { [`k${value}`]: 1 }] }
      t.strictSame(parse(yamlText(object), { version: '1.1' }), object)
    }),
    { numRuns: 300 },
  )
})
