/** CustomResourceDefinitions with schemas, rules, patterns and defaults at random, and objects of those that are accepted. */
import fc from 'fast-check'
import { hostileKey, hostileText, hostileValue, membersOf, spoiled, textOf } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { World } from '../world.ts'

const pattern = fc.oneof(
  fc.constantFrom(
    '^(a+)+$',
    '^(a|a)*b$',
    '(x+x+)+y',
    '^([a-z]+)*$',
    '(.*a){25}',
    '^a{1,1000}$',
    '((a{1,30}){1,30}){1,30}',
  ),
  fc.constantFrom(
    '(?=a)',
    '\\1',
    '(?<n>a)',
    '[',
    '(',
    '*',
    '\\p{L}+',
    '(?i)a',
    '[[:alpha:]]',
    '\\Qa\\E',
    'a{1001}',
    '^.*$',
  ),
  fc.string({ maxLength: 12 }),
)
const rule = fc.oneof(
  fc.constantFrom(
    ...[
      'self == oldSelf',
      'self > 0',
      'size(self) < 10',
      'has(self.a)',
      'self.all(x, x > 0)',
      'self.a.b.c == 1',
      '1/0 == 1',
    ],
    ...[
      'self.map(x, self.map(y, self.map(z, z))).size() > 0',
      'self.matches("(a+)+$")',
      'self == dyn(1)',
      'true',
      '"x"',
      'self',
    ],
    ...[
      'self.exists(x, x == 1) || oldSelf.exists(x, x == 2)',
      'duration("1s") < duration(self)',
      'timestamp(self) > timestamp("x")',
    ],
    ...[
      'quantity(self).isGreaterThan(quantity("1"))',
      'self.split(",").size() > 100',
      '9223372036854775807 + 1 > 0',
      'int(self) % 0 == 0',
    ],
    ...[
      '[1,2][5] == 1',
      '{"a": 1}["b"] == 1',
      'url(self).getHost() == ""',
      'self.replace("", "xxxxxxxxxx").size() > 0',
      '',
      '(',
      'optional.of(1)',
    ],
    ...[
      'self.__a__dot__b == 1',
      'self.format([1])',
      '"%s".format([self])',
      '"%.999999f".format([1.0])',
      'self.sum() > 1',
      'ip(self).family() == 4',
    ],
    ...[
      `${'('.repeat(300)}1${')'.repeat(300)} == 1`,
      `${'!'.repeat(2000)}true`,
      `1${'+1'.repeat(5000)} > 0`,
      '[self,self].map(a,[a,a].map(b,[b,b])).size()>0',
    ],
  ),
  fc.tuple(hostileText, fc.constantFrom('self.', 'self[', 'has(', '')).map(([text, start]) => start + text),
)
const validation = fc.record(
  {
    rule,
    message: hostileText,
    messageExpression: rule,
    reason: fc.constantFrom<unknown>('FieldValueInvalid', 'FieldValueForbidden', 'Nonsense', 1),
    fieldPath: fc.oneof(fc.constantFrom('.a', '.a.b', "['x']", '.', '[0]', 'a'), hostileText),
    optionalOldSelf: fc.constantFrom<unknown>(true, false, 'x'),
  },
  { requiredKeys: ['rule'] },
)

const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'spec', 'status', 'metadata', 'x-y', 'a.b') },
  { weight: 1, arbitrary: hostileKey },
)

/** Members that fit most types, or none. */
const extras = fc.record(
  {
    nullable: fc.constantFrom<unknown>(true, false, 'x'),
    default: hostileValue,
    enum: fc.oneof(fc.array(hostileValue, { maxLength: 3 }), hostileValue),
    pattern,
    format: fc.constantFrom(
      'int32',
      'int64',
      'date-time',
      'byte',
      'ipv4',
      'uuid',
      'duration',
      'email',
      'nonsense',
      'password',
      'cidr',
      'hostname',
      'uri',
    ),
    minimum: hostileValue,
    maximum: fc.constantFrom<unknown>(0, 10, 1e300),
    exclusiveMinimum: fc.constantFrom<unknown>(true, 1),
    multipleOf: fc.constantFrom<unknown>(0, 1, -1, 0.1, 1e-300),
    minLength: fc.constantFrom<unknown>(0, 5, -1, 1e300),
    maxItems: fc.constantFrom<unknown>(0, 2, -1, 'x'),
    uniqueItems: fc.constantFrom<unknown>(true, false),
    required: fc.oneof(fc.array(name, { maxLength: 2 }), hostileValue),
    'x-kubernetes-preserve-unknown-fields': fc.constantFrom<unknown>(true, true, false, 1),
    'x-kubernetes-embedded-resource': fc.constantFrom<unknown>(true, false),
    'x-kubernetes-int-or-string': fc.constantFrom<unknown>(true, false),
    'x-kubernetes-list-type': fc.constantFrom<unknown>('set', 'map', 'atomic', 'x', 1),
    'x-kubernetes-list-map-keys': fc.oneof(fc.array(name, { maxLength: 2 }), hostileValue),
    'x-kubernetes-map-type': fc.constantFrom<unknown>('atomic', 'granular', 'x'),
    'x-kubernetes-validations': fc.oneof(fc.array(validation, { maxLength: 2 }), hostileValue),
    $ref: fc.constantFrom<unknown>('#/definitions/x', 1),
    patternProperties: hostileValue,
    id: hostileText,
  },
  { requiredKeys: [] },
)
/** Most schemas have few of them, so that some are accepted. */
const few = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 4, arbitrary: fc.tuple(extras, fc.nat()).map(([all, at]) => pick(all, at)) },
  { weight: 2, arbitrary: validation.map(one => ({ 'x-kubernetes-validations': [one] })) },
  { weight: 1, arbitrary: extras },
)

function pick(all: object, at: number): object {
  const entries = Object.entries(all)
  return entries.length === 0 ? {} : Object.fromEntries([entries[at % entries.length]!])
}

const schema = fc.letrec<{ any: object }>(tie => ({
  any: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'schema' },
    fc
      .tuple(fc.constantFrom('string', 'integer', 'number', 'boolean', 'object'), few)
      .map(([type, more]) => ({ type, ...more })),
    fc
      .tuple(fc.array(fc.tuple(name, tie('any')), { maxLength: 4 }), few)
      .map(([members, more]) => ({ type: 'object', properties: membersOf(members), ...more })),
    fc.tuple(tie('any'), few).map(([items, more]) => ({ type: 'array', items, ...more })),
    fc
      .tuple(tie('any'), few)
      .map(([additionalProperties, more]) => ({ type: 'object', additionalProperties, ...more })),
    fc
      .tuple(fc.constantFrom('allOf', 'anyOf', 'oneOf'), fc.array(tie('any'), { maxLength: 3 }), few)
      .map(([how, parts, more]) => ({ [how]: parts, ...more })),
    tie('any').map(not => ({ type: 'string', not })),
    fc.constant({ 'x-kubernetes-preserve-unknown-fields': true }),
    fc.constant({ 'x-kubernetes-int-or-string': true }),
  ),
})).any

const root = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(fc.tuple(name, schema), { minLength: 1, maxLength: 4 }), few)
      .map(([members, more]) => ({ type: 'object', properties: membersOf(members), ...more }) as object),
  },
  { weight: 1, arbitrary: schema },
  { weight: 1, arbitrary: hostileValue.map(value => value as object) },
)

const HONEST = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.random.example.com' },
  spec: {
    group: 'random.example.com',
    scope: 'Namespaced',
    names: {
      plural: 'things',
      singular: 'thing',
      kind: 'Thing',
      listKind: 'ThingList',
      shortNames: ['th'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a', labelSelectorPath: '.status.b' },
        },
        additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
        selectableFields: [{ jsonPath: '.spec.a' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } },
          },
        },
      },
      {
        name: 'v2',
        served: true,
        storage: false,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

/** A definition with a random schema, spoiled now and then; without the parts that need the schema to agree. */
const definition = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(root, fc.boolean()).map(([openAPIV3Schema, withStatus]) => {
      const copy = structuredClone(HONEST) as { spec: { versions: object[] } }
      copy.spec.versions = [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema },
          ...(withStatus && { subresources: { status: {} } }),
        },
        HONEST.spec.versions[1]!,
      ]
      return copy as unknown
    }),
  },
  { weight: 1, arbitrary: spoiled(HONEST) },
)

/** Objects in the shape of a schema, as far as it has one. */
function fitting(node: unknown, depth = 0): fc.Arbitrary<unknown> {
  if (typeof node !== 'object' || node === null || depth > 5) return hostileValue
  const { type, properties, items, additionalProperties } = node as Record<string, unknown>
  const exact = (): fc.Arbitrary<unknown> => {
    if (typeof properties === 'object' && properties !== null) {
      const members = Object.entries(properties).map(([key, value]) =>
        fc.tuple(fc.constant(key), fitting(value, depth + 1)),
      )
      return fc
        .tuple(...members)
        .chain(all => fc.subarray(all))
        .map(membersOf)
    }
    if (items !== undefined) return fc.array(fitting(items, depth + 1), { maxLength: 4 })
    if (additionalProperties !== undefined)
      return fc.dictionary(hostileKey, fitting(additionalProperties, depth + 1), { maxKeys: 3 })
    if (type === 'integer') return fc.integer()
    if (type === 'number') return fc.double({ noNaN: true })
    if (type === 'string') return fc.oneof(hostileText, fc.constantFrom(`${'a'.repeat(40)}!`, '1', '1h', '10.0.0.1'))
    return type === 'boolean' ? fc.boolean() : hostileValue
  }
  return fc.oneof({ weight: 5, arbitrary: exact() }, { weight: 1, arbitrary: hostileValue })
}

const cases = definition.chain(one => {
  const versions = (one as { spec?: { versions?: unknown } }).spec?.versions
  const first = (Array.isArray(versions) ? versions[0] : undefined) as
    | { schema?: { openAPIV3Schema?: unknown } }
    | undefined
  const object = fitting(first?.schema?.openAPIV3Schema)
  return fc.record({ definition: fc.constant(one), objects: fc.array(object, { minLength: 1, maxLength: 3 }) })
})

const NAME = 'things.random.example.com'

async function play(world: World, one: { definition: unknown; objects: unknown[] }): Promise<void> {
  const prefix = `/clusters/${world.spaces.definitions}`
  const definitions = `${prefix}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
  const made = await world.ask({
    method: 'POST',
    path: definitions,
    type: 'application/json',
    body: textOf(one.definition),
  })
  if (made.code !== 201) return
  await settled(
    world,
    `${definitions}/${NAME}`,
    body => condition(body, 'Established') === 'True' || condition(body, 'NamesAccepted') === 'False',
  )
  await playObjects(world, prefix, one.objects)
  for (const path of ['/openapi/v3/apis/random.example.com/v1', '/openapi/v2', '/apis/random.example.com/v1'])
    await world.ask({ method: 'GET', path: prefix + path })
  await world.ask({ method: 'DELETE', path: `${definitions}/${NAME}` })
  await settled(world, `${definitions}/${NAME}`, body => body.code === 404)
}

async function playObjects(world: World, prefix: string, objects: readonly unknown[]): Promise<void> {
  const things = `${prefix}/apis/random.example.com/v1/namespaces/default/things`
  const type = 'application/json'
  for (const object of objects) {
    const whole =
      typeof object === 'object' && object !== null && !Array.isArray(object)
        ? { ...object, apiVersion: 'random.example.com/v1', kind: 'Thing', metadata: { name: 'thing' } }
        : object
    const body = textOf(whole)
    await world.ask({ method: 'POST', path: things, type, body })
    await world.ask({ method: 'PATCH', path: `${things}/thing`, type: 'application/merge-patch+json', body })
    await world.ask({
      method: 'PATCH',
      path: `${things}/thing?fieldManager=f&force=true`,
      type: 'application/apply-patch+yaml',
      body,
    })
    await world.ask({ method: 'PUT', path: `${things}/thing/status`, type, body })
    const read = await world.ask({ method: 'GET', path: `${things}/thing` })
    if (read.code === 200) {
      const again = await world.ask({ method: 'PUT', path: `${things}/thing`, type, body: read.text })
      if (again.code === 400) throw new Error(`what was read cannot be written back: ${again.text}\n${read.text}`)
    }
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
    for (const version of ['v1', 'v2'])
      await world.ask({ method: 'GET', path: things.replace('/v1/', `/${version}/`), headers: { accept } })
    await world.ask({ method: 'DELETE', path: `${things}/thing` })
    await world.ask({
      method: 'PATCH',
      path: `${things}/thing`,
      type: 'application/merge-patch+json',
      body: '{"metadata":{"finalizers":null}}',
    })
  }
}

function condition(body: Record<string, unknown>, type: string): string | undefined {
  const { conditions } = (body.status ?? {}) as { conditions?: { type: string; status: string }[] }
  return conditions?.find(one => one.type === type)?.status
}

async function settled(world: World, path: string, done: (body: Record<string, unknown>) => boolean): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) if (done((await world.ask({ method: 'GET', path })).body)) return
  throw new Error(`${path} does not settle`)
}

export const definitions: Target = {
  name: 'definitions',
  runs: 60,
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
