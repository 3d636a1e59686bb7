import protobuf from 'protobufjs'
import t from 'tap'
import type { ResourceType } from '../../../src/apimachinery/resourceType.ts'
import { type Catalog, loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { OpenApiDocuments } from '../../../src/apiserver/openapi/documents.ts'
import { ProtobufForm } from '../../../src/apiserver/openapi/protobuf.ts'
import type { SchemaDocument } from '../../../src/apiserver/openapi/schemaDocument.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import * as fc from '../../support/fastCheck.ts'

const catalog = loadCatalog()
const FORMS = ['json', 'protobuf'] as const

function custom(index: number, text = ''): ResourceType {
  return {
    group: `g${index % 3}.ex.io`,
    version: 'v1',
    resource: `foo${index}s`,
    singular: `foo${index}`,
    kind: `Foo${index}`,
    listKind: `Foo${index}List`,
    shortNames: [],
    categories: [],
    namespaced: index % 2 === 0,
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    storageVersion: 'v1',
    subresources: ['scale', 'status'],
    schema: { type: 'object', properties: { spec: { type: 'object', description: `Größe ☃ ${text}` } } },
    columns: [],
    selectableFields: [],
    form: 'custom',
  }
}

/** A catalog that counts how often something is looked up in it, which writing a part cannot do without. */
function counting(): { catalog: Catalog; reads: () => number } {
  let reads = 0
  const definitionName: Catalog['definitionName'] = schema => {
    reads++
    return catalog.definitionName(schema)
  }
  return { catalog: { ...catalog, definitionName }, reads: () => reads }
}

async function bodyOf(documents: OpenApiDocuments, types: readonly ResourceType[], form: 'json' | 'protobuf') {
  return (await documents.whole(types, form)).body()
}

t.test('after any changes a document is what it would be if it were new', async t => {
  const change = fc.record({ at: fc.nat(4), to: fc.constantFrom(undefined, 'one', 'other', 'longer than before') })
  const some = catalog.types.filter(type => type.group === '' || type.group === 'batch')
  for (const form of FORMS) {
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async changes => {
        const documents = new OpenApiDocuments(catalog, endlessTurns())
        const overlay = new Map<number, ResourceType>()
        for (const { at, to } of changes) {
          if (to === undefined) overlay.delete(at)
          else overlay.set(at, custom(at, to))
          const types = [...some, ...overlay.values()]
          const fresh = await bodyOf(new OpenApiDocuments(catalog, endlessTurns()), types, form)
          t.ok((await bodyOf(documents, types, form)).equals(fresh), form)
        }
      }),
      { numRuns: 2 },
    )
  }
})

t.test('of many kinds only the one that changed is written again', async t => {
  for (const form of FORMS) {
    const { catalog, reads } = counting()
    const documents = new OpenApiDocuments(catalog, endlessTurns())
    const types = [...catalog.types, ...Array.from({ length: 40 }, (_, index) => custom(index))]
    await bodyOf(documents, types, form)
    const first = reads()
    await bodyOf(documents, [...types, custom(40)], form)
    const second = reads() - first
    t.ok(second > 0 && second < first / 100, `${second} lookups after ${first}`)
  }
})

t.test('those who ask at once share one build; the rest of the server goes on meanwhile', async t => {
  let turns = 0
  // a slice without a length is over after each step, whatever a step takes
  const later = (turn: () => void): void => {
    turns++
    setImmediate(turn)
  }
  const documents = new OpenApiDocuments(catalog, new WorkTurns({ sliceMs: 0, clock: () => 0, later }))
  const types = [...catalog.types, ...Array.from({ length: 400 }, (_, index) => custom(index))]
  const bodies = await Promise.all(Array.from({ length: 8 }, () => bodyOf(documents, [...types], 'protobuf')))
  t.equal(new Set(bodies).size, 1)
  t.ok(turns > types.length, `${turns} turns`)
})

t.test('a build that fails tells who asked, and the next one works', async t => {
  let broken = true
  const flaky: Catalog = {
    ...catalog,
    loadDescriptions: () => {
      if (broken) throw new Error('cannot read')
      return catalog.loadDescriptions()
    },
  }
  const documents = new OpenApiDocuments(flaky, endlessTurns())
  await t.rejects(bodyOf(documents, catalog.types, 'json'), { message: 'cannot read' })
  broken = false
  t.ok((await bodyOf(documents, catalog.types, 'json')).length > 0)
})

t.test('both forms tell the same, and names are told once', async t => {
  const documents = new OpenApiDocuments(catalog, endlessTurns())
  const types = [...catalog.types, custom(0), custom(1), { ...custom(1), resource: 'twins' }]
  const text: Record<'paths' | 'definitions', Record<string, SchemaDocument>> = JSON.parse(
    (await bodyOf(documents, types, 'json')).toString(),
  )
  const fields = fieldsOf(await bodyOf(documents, types, 'protobuf'))
  const form = new ProtobufForm()
  const definitions = Object.entries(text.definitions).map(([name, schema]) => form.definition(name, schema))
  t.ok(Buffer.concat(definitions).equals(fields.get(9)!), 'definitions')
  t.ok(form.paths(text.paths).equals(fields.get(8)!), 'paths')
  const names = Object.keys(text.definitions)
  t.same(names, [...names].sort(), 'sorted')
  const twice = (await bodyOf(documents, types, 'json')).toString().split('"io.ex.g1.v1.Foo1":').length - 1
  t.equal(twice, 1)
})

/** The length-delimited fields of a message; of a repeated one the last. */
function fieldsOf(message: Uint8Array): Map<number, Buffer> {
  const reader = protobuf.Reader.create(message)
  const fields = new Map<number, Buffer>()
  while (reader.pos < reader.len) fields.set(reader.uint32() >>> 3, Buffer.from(reader.bytes()))
  return fields
}
