/** Objects put together from parts are what the codec reads, whatever their size: every length stands in front of its bytes. */
import t from 'tap'
import { envelopeOf, listPiecesOf, watchFrameOf } from '../../../src/apimachinery/protobuf/envelope.ts'
import { protobufCodec } from '../../../src/apimachinery/protobuf/protobufCodec.ts'
import { readProtobufFields } from '../../../src/program/dataFiles.ts'
import * as fc from '../../support/fastCheck.ts'

const codec = protobufCodec(readProtobufFields)
const kind = { apiVersion: 'v1', kind: 'ConfigMap' }
const configMap = (text: string) => ({ ...kind, metadata: { name: 'a' }, data: { text } })
/** Around the sizes where a length takes one more byte. */
const sizes = fc.oneof(fc.nat(300), fc.integer({ min: 16_200, max: 16_500 }), fc.constant(2 ** 21))

t.test('an object and a frame of any size', async t => {
  fc.assert(
    fc.property(sizes, size => {
      const object = configMap('x'.repeat(size))
      const part = codec.encodePart(object)
      t.strictSame(codec.decode(envelopeOf(kind, part)), object)
      t.strictSame(codec.decodeWatchFrame(watchFrameOf('MODIFIED', kind, part)), { type: 'MODIFIED', object })
    }),
    { numRuns: 30 },
  )
})

t.test('a list of any length', async t => {
  fc.assert(
    fc.property(fc.array(fc.nat(200), { maxLength: 20 }), lengths => {
      const objects = lengths.map(length => configMap('x'.repeat(length)))
      const metadata = { resourceVersion: '7', remainingItemCount: 0 }
      const list = { apiVersion: 'v1', kind: 'ConfigMapList' }
      const parts = objects.map(object => codec.encodePart(object))
      const { before, after } = listPiecesOf(list, codec.encodeListMeta(metadata), Buffer.concat(parts).length)
      const items = objects.map(({ apiVersion: _, kind: __, ...item }) => item)
      t.strictSame(codec.decode(Buffer.concat([...before, ...parts, ...after])), { ...list, metadata, items })
    }),
    { numRuns: 30 },
  )
})
