// Schemas come out of a thread's mail as they went in, with what JSON does not tell.
import t from 'tap'
import { type Schema, STRUCT_NAME } from '../../../src/apimachinery/schema.ts'
import { objectMetaSchema } from '../../../src/apimachinery/structural/objectMetaSchema.ts'
import { schemaFromText, schemaText } from '../../../src/apimachinery/structural/schemaText.ts'
import { compileValidator } from '../../../src/apimachinery/structural/validate.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'

const sent = (schema: Schema): Schema => schemaFromText(structuredClone(schemaText(schema)))

t.test('a schema is the same afterwards', async t => {
  const nested: Schema = { type: 'object', properties: { '~a/b': { items: objectMetaSchema, type: 'array' } } }
  const schema: Schema = { type: 'object', properties: { metadata: objectMetaSchema }, additionalProperties: nested }
  const again = sent(schema)
  t.strictSame(again, schema)
  t.equal(again.properties?.metadata?.[STRUCT_NAME], 'v1.ObjectMeta')
  t.equal((again.additionalProperties as Schema).properties?.['~a/b']?.items?.[STRUCT_NAME], 'v1.ObjectMeta')
  t.equal(schemaText(schema), schemaText(schema), 'it is written once')
})

t.test('all kinds whose objects a thread may have to check can be sent', async t => {
  const own = loadCatalog().types.filter(type => type.form === 'own' && type.schema !== undefined)
  t.ok(own.length > 0)
  for (const { kind, schema } of own) {
    const object = { apiVersion: 1, kind, metadata: { name: 'x' }, spec: 'x', status: [] }
    t.same(compileValidator(sent(schema!))(object), compileValidator(schema!)(object), kind)
  }
})
