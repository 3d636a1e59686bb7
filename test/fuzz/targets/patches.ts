/** Patches of all four kinds on built-in and custom objects; then every form in which the outcome can be read. */
import fc from 'fast-check'
import { FIXTURES, type Fixture, WIDGETS_DEFINITION } from '../fixtures.ts'
import { hostileKey, hostileText, hostileValue, membersOf, pathsOf, spoiled, textOf } from '../hostile.ts'
import type { Target } from '../target.ts'
import type { Reply, World } from '../world.ts'

export interface Patch {
  type: string
  query: string
  subresource: string
  body: string
}
interface Case {
  fixture: Fixture
  patches: Patch[]
  create: string
}

const JSON_PATCH = 'application/json-patch+json'
const MERGE = 'application/merge-patch+json'
const STRATEGIC = 'application/strategic-merge-patch+json'
const APPLY = 'application/apply-patch+yaml'

const managedFields = fc.array(
  fc.oneof(
    hostileValue,
    fc.record({
      manager: hostileText,
      operation: fc.constantFrom('Apply', 'Update', 'Other', '', null, 1),
      apiVersion: fc.constantFrom('v1', 'apps/v1', 'nonsense/v9', '', 'a/b/c', 1),
      fieldsType: fc.constantFrom('FieldsV1', 'FieldsV2', '', null),
      fieldsV1: fc.oneof(
        hostileValue,
        fc
          .array(fc.tuple(fc.constantFrom('f:spec', 'f:metadata', 'f:data', '.', 'k:{"name":"c"}'), hostileValue))
          .map(membersOf),
      ),
      time: hostileText,
      subresource: fc.constantFrom('', 'status', 'nonsense', 1, undefined),
    }),
  ),
  { maxLength: 3 },
)

function withManagedFields(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(value, fc.option(managedFields, { freq: 4, nil: undefined })).map(([object, managed]) => {
    const { metadata } = object as { metadata?: unknown }
    if (!managed || typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return object
    return { ...(object as object), metadata: { ...metadata, managedFields: managed } }
  })
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

function jsonPatch(object: object): fc.Arbitrary<unknown> {
  const known = pathsOf(object).map(path => path.map(part => `/${escaped(part)}`).join(''))
  const pointer = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.constantFrom(...known, '/metadata/managedFields', '/metadata/uid', '/metadata/resourceVersion'),
    },
    { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...known), hostileKey).map(([at, key]) => `${at}/${key}`) },
    { weight: 1, arbitrary: hostileText },
  )
  const operation = fc.record(
    {
      op: fc.oneof(
        { weight: 8, arbitrary: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test') },
        { weight: 1, arbitrary: hostileText },
      ),
      path: pointer,
      from: pointer,
      value: hostileValue,
    },
    { requiredKeys: ['op', 'path'] },
  )
  return fc.oneof(
    { weight: 9, arbitrary: fc.array(operation, { maxLength: 4 }) },
    { weight: 1, arbitrary: hostileValue },
  )
}

/** Texts around the value: repeated keys, comments, garbage behind it. */
const asText = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc.tuple(value, fc.integer({ min: 0, max: 19 })).map(([one, how]) => {
    const text = textOf(one)
    if (how === 0) return text.slice(0, text.length / 2)
    if (how === 1) return text.replace('{', `{"metadata":{"name":"other"},"__proto__":{"x":1},`)
    if (how === 2) return `${text}${text}`
    if (how === 3) return text.replaceAll('"x"', '"\\ud800"')
    return text
  })

const managerQuery = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('fieldManager=one&force=true', 'fieldManager=two', 'fieldManager=two&force=true'),
  },
  { weight: 1, arbitrary: hostileText.map(text => `fieldManager=${encodeURIComponent(text.toWellFormed())}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      'force=maybe',
      'fieldManager=a&fieldManager=b&force=1',
      'fieldManager=one&fieldValidation=Strict&force=true',
    ),
  },
)
const query = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('dryRun=All', 'fieldValidation=Strict', 'fieldValidation=Ignore', 'pretty=true'),
  },
)

export function patchOf({ object, parts = [] }: Fixture): fc.Arbitrary<Patch> {
  const subresource = fc.constantFrom('', '', '', '', '/status', '/scale', ...parts, ...parts)
  const valid = fc.constant(object as unknown)
  const near = withManagedFields(spoiled(object))
  const whole = fc.oneof(
    { weight: 6, arbitrary: near },
    { weight: 1, arbitrary: hostileValue },
    { weight: 1, arbitrary: valid },
  )
  const plain = (type: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<Patch> =>
    fc.record({ type: fc.constant(type), query, subresource, body: asText(body) })
  return fc.oneof(
    plain(JSON_PATCH, jsonPatch(object)),
    plain(MERGE, whole),
    plain(
      STRATEGIC,
      fc.oneof(
        whole,
        directives(object).map(part => part),
      ),
    ),
    fc.record({ type: fc.constant(APPLY), query: managerQuery, subresource, body: asText(whole) }),
  )
}

/** The object with strategic directives at random places, fitting and not. */
function directives(object: unknown): fc.Arbitrary<unknown> {
  const places = pathsOf(object)
  const directive = fc.oneof(
    fc.tuple(fc.constant('$patch'), fc.oneof(fc.constantFrom('replace', 'delete', 'merge'), hostileValue)),
    fc.tuple(fc.constant('$retainKeys'), fc.oneof(fc.array(hostileKey, { maxLength: 3 }), hostileValue)),
    fc.tuple(
      fc
        .constantFrom('containers', 'env', 'ports', 'finalizers', 'args', 'volumes', 'subsets')
        .map(n => `$setElementOrder/${n}`),
      fc.oneof(
        fc.array(fc.constantFrom<unknown>({ name: 'c' }, { name: 'z' }, { containerPort: 80 }, 'x', null, 1)),
        hostileValue,
      ),
    ),
    fc.tuple(fc.constantFrom('$deleteFromPrimitiveList/finalizers', '$deleteFromPrimitiveList/x'), hostileValue),
  )
  return fc.array(fc.tuple(fc.constantFrom(...places), directive), { minLength: 1, maxLength: 4 }).map(inserted => {
    const copy = structuredClone(object)
    for (const [path, [key, value]] of inserted) {
      let at: unknown = copy
      for (const part of path)
        at = typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[part] : undefined
      if (Array.isArray(at)) at.push({ [key]: value, name: 'c' })
      else if (typeof at === 'object' && at !== null) (at as Record<string, unknown>)[key] = value
    }
    return copy
  })
}

const cases: fc.Arbitrary<Case> = fc.constantFrom(...FIXTURES).chain(fixture =>
  fc.record({
    fixture: fc.constant(fixture),
    create: fc.oneof(
      { weight: 2, arbitrary: fc.constant(textOf(fixture.object)) },
      { weight: 1, arbitrary: asText(spoiled(fixture.object)) },
    ),
    patches: fc.array(patchOf(fixture), { minLength: 1, maxLength: 4 }),
  }),
)

/** As clients read: what is stored must be readable in all of them. */
const FORMS = [
  'application/yaml',
  'application/vnd.kubernetes.protobuf,application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json',
]

/** More than controllers have to say about one object. */
const CONTROLLER_WRITES = 20

async function play(world: World, { fixture, create, patches }: Case): Promise<void> {
  const prefix = `/clusters/${world.spaces.one}`
  const collection = prefix + fixture.path
  const path = `${collection}/${fixture.object.metadata.name}`
  await world.ask({ method: 'POST', path: collection, type: 'application/json', body: create })
  for (const patch of patches) {
    const asked = patch.query === '' ? '' : `?${patch.query}`
    await world.ask({ method: 'PATCH', path: path + patch.subresource + asked, type: patch.type, body: patch.body })
  }
  let read = await world.ask({ method: 'GET', path })
  if (read.code === 200) {
    checkSane(read, fixture)
    for (const accept of FORMS) {
      const { code, text } = await world.ask({ method: 'GET', path, headers: { accept } })
      if (code !== 200) throw new Error(`what is stored cannot be read as ${accept}: ${code} ${text}`)
    }
    const { code, text } = await world.ask({ method: 'GET', path: collection })
    if (code !== 200 || !Array.isArray((JSON.parse(text) as { items: unknown }).items))
      throw new Error('the list is broken')
    await world.ask({ method: 'GET', path: collection, headers: { accept: FORMS[2]! } })
    await world.ask({ method: 'GET', path: collection, headers: { accept: FORMS[1]! } })
    let again = await world.ask({ method: 'PUT', path, type: 'application/json', body: read.text })
    // controllers write, too, but they come to an end
    for (let tries = 0; again.code === 409 && tries < CONTROLLER_WRITES; tries++) {
      read = await world.ask({ method: 'GET', path })
      again = await world.ask({ method: 'PUT', path, type: 'application/json', body: read.text })
    }
    const version = (reply: Reply): unknown => (reply.body.metadata as Record<string, unknown>).resourceVersion
    if (again.code === 200 && version(again) !== version(read) && !fixture.restless) {
      throw new Error(`writing back what was read changes it:\n${read.text}\n${again.text}`)
    }
    if (again.code !== 200 && !(again.code === 409 && fixture.restless))
      throw new Error(`what was read cannot be written back: ${again.code} ${again.text}\n${read.text}`)
    await world.ask({ method: 'DELETE', path, type: 'application/json', body: '{"gracePeriodSeconds":0}' })
    await world.ask({ method: 'PATCH', path, type: MERGE, body: '{"metadata":{"finalizers":null}}' })
  }
}

function checkSane({ body, text }: Reply, { object }: Fixture): void {
  const metadata = body.metadata as Record<string, unknown>
  if (metadata.name !== object.metadata.name || body.kind !== object.kind || body.apiVersion !== object.apiVersion)
    throw new Error(`another object than asked for: ${text}`)
  for (const field of ['uid', 'resourceVersion', 'creationTimestamp'])
    if (typeof metadata[field] !== 'string') throw new Error(`no ${field}: ${text}`)
  if (Object.hasOwn(Object.prototype, 'x')) throw new Error('the prototype of all objects was changed')
}

export const patches: Target = {
  name: 'patches',
  runs: 60,
  async prepare(world) {
    const path = `/clusters/${world.spaces.one}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`
    await world.api.ok(world.api.post(path, WIDGETS_DEFINITION))
    while ((await world.api.get(`/clusters/${world.spaces.one}/apis/fuzz.example.com/v1/widgets`)).code !== 200);
  },
  property: world => fc.asyncProperty(cases, one => play(world, one)) as ReturnType<Target['property']>,
}
