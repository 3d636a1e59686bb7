/**
 * The schemas of Orrery's own kinds hold words of JSON Schema alone. A comma in a description without quotes begins another property of a
 * flow mapping, and a kube-apiserver refuses the whole OpenAPI document for it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'

const FOLDER = join(import.meta.dirname, '../../openapi/groups')
const WORDS = new Set(
  'type description format properties items additionalProperties required enum default nullable minimum maximum minLength maxLength pattern minItems maxItems minProperties maxProperties anyOf oneOf allOf not'.split(
    ' ',
  ),
)

type Schema = Readonly<Record<string, unknown>>

/** Faults with their places, of a schema and all below it. */
function faultsOf(schema: Schema, at: string): string[] {
  const faults: string[] = []
  const below = (value: unknown, place: string) => faults.push(...faultsOf(value as Schema, place))
  for (const [word, value] of Object.entries(schema)) {
    if (!WORDS.has(word) && !word.startsWith('x-kubernetes-')) faults.push(`${at}: ${word}`)
    if (word === 'description' && typeof value !== 'string') faults.push(`${at}: a description that is no text`)
    if (word === 'enum' && (value as unknown[]).some(each => each === null)) faults.push(`${at}: null among its values`)
    if (word === 'properties')
      for (const [name, property] of Object.entries(value as Schema)) below(property, `${at}.${name}`)
    if (word === 'items' || (word === 'additionalProperties' && typeof value === 'object')) below(value, `${at}[]`)
    if (['anyOf', 'oneOf', 'allOf'].includes(word)) for (const each of value as unknown[]) below(each, `${at}|`)
  }
  return faults
}

t.test('a fault is found', async t => {
  const properties = { approval: { type: 'boolean', description: 'Groups wait', 'too.': null } }
  t.strictSame(faultsOf({ type: 'object', properties }, 'Kind'), ['Kind.approval: too.'])
  t.strictSame(faultsOf({ type: 'string', enum: ['A', null] }, 'Kind'), ['Kind: null among its values'])
})

for (const file of readdirSync(FOLDER))
  t.test(file, async t => {
    const documents = parseAllDocuments(readFileSync(join(FOLDER, file), 'utf8'), { merge: true })
    let versions = 0
    for (const document of documents) {
      const { spec } = document.toJS() as {
        spec: { names: { kind: string }; versions: { name: string; schema: { openAPIV3Schema: Schema } }[] }
      }
      for (const { name, schema } of spec.versions) {
        versions++
        t.strictSame(faultsOf(schema.openAPIV3Schema, `${spec.names.kind} ${name}`), [])
      }
    }
    t.ok(versions > 0)
  })
