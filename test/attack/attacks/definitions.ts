/** Schemas, columns and documentation of custom resources that ask for more work than their size says. */
import { type Attack, attack } from '../attack.ts'
import { crowd } from '../ground.ts'
import { defineThings, thing, thingsOf } from './things.ts'

const CRDS = 'apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const DRY = '?dryRun=All'
const TABLE = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }
const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** A schema with 20 x 50 properties, of about 80 KB. */
function wide(): object {
  const leaf = { type: 'string', description: 'A property of which there are many.' }
  const inner = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`inner${i}`, leaf]))
  return {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 20 }, (_, i) => [`outer${i}`, { type: 'object', properties: inner }]),
        ),
      },
    },
  }
}

/** A definition with one schema. */
function definition(group: string, index: number, openAPIV3Schema: object): object {
  const plural = `things${index}`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: `Thing${index}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  }
}

/** A schema of as many properties, some ninety bytes each. */
function flat(count: number): object {
  const leaf = { type: 'string', description: 'A property of which there are very many.' }
  const properties = Object.fromEntries(Array.from({ length: count }, (_, i) => [`property${i}`, leaf]))
  return { type: 'object', properties: { spec: { type: 'object', properties } } }
}

/** A schema of so many parts with as many properties each, of some forty bytes. */
function nested(parts: number, count: number): object {
  const properties = Object.fromEntries(Array.from({ length: count }, (_, i) => [`property${i}`, { type: 'string' }]))
  const spec = Object.fromEntries(Array.from({ length: parts }, (_, i) => [`part${i}`, { type: 'object', properties }]))
  return { type: 'object', properties: { spec: { type: 'object', properties: spec } } }
}

export const definitions: readonly Attack[] = [
  attack('schema-any-of', {
    does: 'anyOf of 2,000 branches over 20,000 items',
    prepare: async ground =>
      await defineThings(ground, {
        type: 'object',
        properties: {
          spec: {
            type: 'array',
            items: {
              type: 'string',
              anyOf: Array.from({ length: ground.size(2000, 200) }, (_, i) => ({ enum: [`v${i}`] })),
            },
          },
        },
      }),
    run: async ({ alice, space, size }) => {
      const body = thing({ spec: Array.from({ length: size(20_000, 2000) }, () => 'w') })
      await crowd(size(8, 2), 4, () => alice.send({ path: thingsOf(space.prefix) + DRY, body }))
    },
    hears: [422],
  }),
  attack('schema-patterns', {
    does: 'patterns that backtrack, on 900 KB and on 20,000 items',
    prepare: async ground => {
      const pattern = '^((a{1,30}){1,10}|(a|a)*)*b$'
      await defineThings(ground, {
        type: 'object',
        properties: {
          text: { type: 'string', pattern },
          list: { type: 'array', items: { type: 'string', pattern } },
        },
      })
    },
    run: async ({ alice, space, size }) => {
      const path = thingsOf(space.prefix) + DRY
      await crowd(size(12, 2), 4, i =>
        alice.send({
          path,
          body: thing(
            i % 2 === 0
              ? { text: 'a'.repeat(size(900_000, 90_000)) }
              : { list: Array.from({ length: size(20_000, 2000) }, () => 'a'.repeat(40)) },
          ),
        }),
      )
    },
    hears: [422],
  }),
  attack('schema-defaults', {
    does: 'defaults that make a small object large',
    prepare: async ground =>
      await defineThings(ground, {
        type: 'object',
        properties: {
          spec: {
            type: 'array',
            items: { type: 'object', properties: { a: { type: 'string', default: 'd'.repeat(20_000) } } },
          },
        },
      }),
    run: async ({ alice, space, size }) => {
      const body = thing({ spec: Array.from({ length: 100_000 }, () => ({})) })
      await crowd(size(20, 2), 4, () => alice.send({ path: thingsOf(space.prefix) + DRY, body }))
    },
    hears: [400, 413, 422],
  }),
  attack('columns', {
    does: 'Tables with 30 columns that look everywhere',
    prepare: async ground => {
      const additionalPrinterColumns = Array.from({ length: 30 }, (_, i) => ({
        name: `C${i}`,
        type: 'string',
        jsonPath: '.spec..a..b',
      }))
      await defineThings(ground, open, { additionalPrinterColumns })
      const tree = (depth: number): object => (depth === 0 ? { b: 1 } : { a: tree(depth - 1), c: tree(depth - 1) })
      await crowd(ground.size(200, 5), 8, () =>
        ground.alice.must({ path: thingsOf(ground.space.prefix), body: thing({ spec: tree(9) }) }),
      )
    },
    run: async ({ alice, space, size }) =>
      await crowd(size(12, 2), 4, () => alice.send({ path: thingsOf(space.prefix), headers: TABLE })),
    keepsMb: 60,
  }),
  attack('discovery', {
    does: '150 wide definitions, made while discovery and OpenAPI are asked for',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/${CRDS}`
      const group = `g${Math.random().toString(36).slice(2, 8)}.example.com`
      await crowd(size(150, 2), 6, async i => {
        await alice.send({ path, body: definition(group, i, wide()) })
        for (const document of ['/openapi/v2', '/openapi/v3', `/openapi/v3/apis/${group}/v1`, '/apis', '/api'])
          await alice.send({ path: space.prefix + document })
      })
    },
    keepsMb: 250,
  }),
  attack('definitions-large', {
    does: 'definitions of a megabyte each, made and changed four at a time',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/${CRDS}`
      const group = `g${Math.random().toString(36).slice(2, 8)}.example.com`
      const schema = flat(size(11_000, 1000))
      await crowd(size(24, 1), 4, async i => {
        await alice.send({ path, body: definition(group, i, schema) })
        const one = `${path}/things${i}.${group}`
        await alice.send({
          path: one,
          method: 'PATCH',
          type: 'application/merge-patch+json',
          body: { metadata: { labels: { a: 'b' } } },
        })
        await alice.send({ path: one, method: 'DELETE' })
      })
    },
    keepsMb: 60,
  }),
  attack('schema-first-writes', {
    does: 'definitions of 19,000 schemas, and the first object of each, made and read as a Table',
    run: async ({ alice, space, size }) => {
      const path = `${space.prefix}/${CRDS}`
      const group = `g${Math.random().toString(36).slice(2, 8)}.example.com`
      const schema = nested(size(19, 2), 1000)
      await crowd(size(6, 1), 2, async i => {
        await alice.must({ path, body: definition(group, i, schema) })
        const things = `${space.prefix}/apis/${group}/v1/namespaces/default/things${i}`
        const body = { apiVersion: `${group}/v1`, kind: `Thing${i}`, metadata: { name: 't' }, spec: { part0: {} } }
        // it is served a moment later
        await alice.send({ path: things, body })
        await alice.send({ path: `${things}?dryRun=All`, body: { ...body, metadata: { name: 'u' } } })
        await alice.send({ path: things, headers: TABLE })
        await alice.must({ path: `${path}/things${i}.${group}`, method: 'DELETE' })
      })
    },
    keepsMb: 60,
  }),
  attack('openapi-large', {
    does: '60 definitions of 10,000 properties, and all their documents asked for by 20 clients at a time',
    prepare: async ({ alice, space, size }) => {
      const schema = flat(size(10_000, 200))
      await crowd(size(60, 1), 2, async i => {
        await alice.send({ path: `${space.prefix}/${CRDS}`, body: definition(`g${i % 6}.example.com`, i, schema) })
      })
    },
    run: async ({ alice, space, size }) => {
      const AGGREGATED = { Accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }
      const PROTOBUF = { Accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf' }
      await crowd(size(60, 1), 20, async i => {
        const asked: { path: string; headers?: Record<string, string> }[] = [
          { path: '/openapi/v2' },
          { path: '/openapi/v2', headers: PROTOBUF },
          { path: `/openapi/v3/apis/g${i % 6}.example.com/v1` },
          { path: '/openapi/v3' },
          { path: '/apis' },
          { path: '/apis', headers: AGGREGATED },
        ]
        for (let k = 0; k < asked.length; k++) {
          const { path, headers } = asked[(k + i) % asked.length]!
          await alice.send({ path: space.prefix + path, ...(headers && { headers }) })
        }
      })
    },
    keepsMb: 400,
  }),
]
