/** Discovery documents of many kinds: made in slices, once for all who ask. */
import t from 'tap'
import { protobufCodec } from '../../../src/apimachinery/protobuf/protobufCodec.ts'
import { yamlText } from '../../../src/apimachinery/yamlWriter.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { apiResourceList } from '../../../src/apiserver/discovery/discovery.ts'
import { DiscoveryDocuments } from '../../../src/apiserver/discovery/discoveryDocuments.ts'
import type { DocumentName } from '../../../src/apiserver/discovery/kindDocuments.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { readProtobufFields } from '../../../src/program/dataFiles.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'

const builtin = loadCatalog().types
const pods = builtin.find(type => type.resource === 'pods')!
const many = Array.from({ length: 200 }, (_, i) => ({ ...pods, group: 'example.com', resource: `foos${i}` }))

function discovery() {
  let rests = 0
  const later = (turn: () => void): void => {
    rests++
    setImmediate(turn)
  }
  const documents = new DiscoveryDocuments({
    types: new TypeRegistry([...builtin, ...many]),
    protobuf: protobufCodec(readProtobufFields),
    address: () => 'localhost:1',
    paths: () => [],
    work: new WorkTurns({ sliceMs: 0, clock: () => 0, later }),
  })
  const get = async (path: string, form: DocumentName['form']): Promise<Buffer> =>
    await (await documents.get('team', { path, form }))!.body()
  return { get, rests: () => rests }
}

t.test('discovery of many kinds is made in slices, once for all who ask meanwhile', async t => {
  const { get, rests } = discovery()
  const path = '/apis/example.com/v1'
  const asked = await Promise.all(Array.from({ length: 5 }, () => get(path, { format: 'yaml' })))
  t.equal(new Set(asked).size, 1)
  t.equal(asked[0]!.toString(), yamlText(apiResourceList(many, 'example.com', 'v1')))
  const once = rests()
  t.ok(once > 5, `${once} rests`)
  t.equal(await get(path, { format: 'yaml' }), asked[0])
  t.equal(rests(), once)
  await get('/apis', { version: 'v2', format: 'protobuf' })
  t.ok(rests() - once > many.length, `${rests() - once} rests`)
})
