import t from 'tap'
import { splitLines } from '../../../src/client/http/lines.ts'
import * as fc from '../../support/fastCheck.ts'

async function* chunksOf(buffer: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0
  for (const cut of [...cuts.map(c => c % (buffer.length + 1)).sort((a, b) => a - b), buffer.length]) {
    if (cut > from) yield buffer.subarray(from, cut)
    from = Math.max(from, cut)
  }
}

async function collect(lines: AsyncIterable<string[]>): Promise<string[]> {
  const all: string[] = []
  for await (const batch of lines) all.push(...batch)
  return all
}

t.test('lines come out whole however the network cuts them, also within a character', async t => {
  const line = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }).map(s => s.replaceAll('\n', '').toWellFormed())
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 20 }), async (lines, cuts) => {
      const wanted = lines.filter(text => text !== '')
      const body = Buffer.from(lines.map(text => `${text}\n`).join(''))
      t.strictSame(await collect(splitLines(chunksOf(body, cuts))), wanted)
    }),
    { numRuns: 100 },
  )
})

t.test('a body that ends within a line is an error, after the whole lines', async t => {
  const got: string[] = []
  const read = async () => {
    for await (const batch of splitLines(chunksOf(Buffer.from('one\ntw'), [5]))) got.push(...batch)
  }
  await t.rejects(read(), { name: 'StatusError', reason: 'ServiceUnavailable' })
  t.strictSame(got, ['one'])
})
