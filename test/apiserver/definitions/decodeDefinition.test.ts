import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { decodeDefinition } from '../../../src/apiserver/definitions/decodeDefinition.ts'
import { countSteps } from '../../support/countSteps.ts'

const definition = (...schemas: object[]): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: { versions: schemas.map((openAPIV3Schema, i) => ({ name: `v${i + 1}`, schema: { openAPIV3Schema } })) },
})

t.test('nulls go, and others have their turn between what is done with the schema of a version', async t => {
  const crd = definition({ type: 'object', title: null, properties: { a: { type: 'string', format: null } } }, {})
  const { result, steps } = countSteps(decodeDefinition(crd))
  t.equal(result, undefined)
  t.equal(steps, 6)
  t.strictSame(crd, definition({ type: 'object', properties: { a: { type: 'string' } } }, {}))
})

t.test('the first wrong type is told, be it below what may be a schema or something else', async t => {
  const wrong = (schema: object): string | undefined => atOnce(decodeDefinition(definition({}, schema)))
  t.match(wrong({ type: 5 }), /cannot unmarshal number into Go struct field JSONSchemaProps.* of type string/)
  t.equal(wrong({ properties: { a: { additionalProperties: 'x' } } }), 'boolean or JSON schema expected')
  t.match(wrong({ items: { properties: { a: { items: 'x' } } } }), /JSONSchemaProps\.items/)
})
