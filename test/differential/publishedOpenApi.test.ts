/**
 * OpenAPI v2 of CustomResourceDefinitions: what Orrery publishes of them, and what a real kube-apiserver does. Sentences are each
 * server's own, and 1.20 calls some definitions `_v2`.
 */
import t from 'tap'
import { isRecord } from '../../src/apimachinery/object.ts'
import type { Schema } from '../../src/apimachinery/schema.ts'
import type { Api } from '../support/api.ts'
import { crdsIn } from '../support/crds.ts'
import { startTestServer } from '../support/server.ts'
import { noPeer, startPeer } from './peer.ts'

const GROUP = 'published.example.com'
const PRESERVES = { 'x-kubernetes-preserve-unknown-fields': true } as const
const EMBEDDED = { 'x-kubernetes-embedded-resource': true } as const
const INT_OR_STRING = { 'x-kubernetes-int-or-string': true } as const
const TEXT: Schema = { type: 'string' }
const NULL_TEXT: Schema = { type: 'string', nullable: true }
const OBJECT: Schema = { type: 'object' }
const INNER: Schema = { ...OBJECT, ...EMBEDDED, properties: { spec: OBJECT } }
const ALTERNATIVES: Schema[] = [{ type: 'integer' }, TEXT]

/** By kind. */
const SCHEMAS: Record<string, Schema> = {
  Plain: OBJECT,
  Root: { ...OBJECT, description: 'root', ...PRESERVES, properties: { spec: OBJECT } },
  Titled: { ...OBJECT, title: 'Title', description: 'Text', properties: { kind: TEXT, apiVersion: TEXT } },
  Metadata: { ...OBJECT, properties: { metadata: { ...OBJECT, properties: { name: { ...TEXT, maxLength: 9 } } } } },
  Nullable: {
    ...OBJECT,
    required: ['text', 'kept'],
    properties: {
      kept: TEXT,
      text: NULL_TEXT,
      list: { type: 'array', nullable: true, maxItems: 3, items: TEXT },
      object: { ...OBJECT, nullable: true, description: 'd', required: ['a'], properties: { a: TEXT } },
      map: { ...OBJECT, nullable: true, additionalProperties: TEXT },
      none: { ...OBJECT, required: ['a'], properties: { a: NULL_TEXT } },
      values: { ...OBJECT, required: ['a'], additionalProperties: NULL_TEXT },
      inner: { ...INNER, nullable: true },
    },
  },
  Preserving: {
    ...OBJECT,
    properties: {
      any: { ...PRESERVES, description: 'd' },
      object: { ...OBJECT, ...PRESERVES, required: ['a'], properties: { a: TEXT } },
      map: { ...OBJECT, ...PRESERVES, additionalProperties: true },
      list: { type: 'array', ...PRESERVES, items: TEXT },
      items: { type: 'array', items: { ...OBJECT, ...PRESERVES, properties: { a: TEXT } } },
      values: { ...OBJECT, additionalProperties: { ...OBJECT, ...PRESERVES } },
      inner: { ...INNER, ...PRESERVES },
    },
  },
  Embedding: {
    ...OBJECT,
    properties: {
      inner: INNER,
      own: { ...INNER, required: ['kind', 'spec'], properties: { kind: { ...TEXT, description: 'k' }, spec: OBJECT } },
      list: { type: 'array', items: INNER },
      map: { ...OBJECT, additionalProperties: INNER },
    },
  },
  IntOrString: {
    ...OBJECT,
    properties: {
      plain: INT_OR_STRING,
      said: { ...INT_OR_STRING, anyOf: ALTERNATIVES, description: 'd', pattern: 'x' },
      limited: { ...INT_OR_STRING, anyOf: [{ minimum: 3 }] },
      both: { ...INT_OR_STRING, allOf: [{ anyOf: ALTERNATIVES }, { minimum: 2 }] },
    },
  },
  Conditional: {
    ...OBJECT,
    properties: {
      a: { ...TEXT, minLength: 1, anyOf: [{ pattern: 'x' }, { maxLength: 9 }] },
      b: { ...OBJECT, properties: { c: TEXT }, oneOf: [{ required: ['c'] }], not: { required: ['d'] } },
      e: { ...OBJECT, properties: { c: TEXT }, allOf: [{ required: ['c'] }] },
    },
  },
  Valued: {
    ...OBJECT,
    properties: {
      text: { ...TEXT, default: 'x', enum: ['x', 'y'], minLength: 1, maxLength: 2, pattern: '[xy]' },
      number: {
        type: 'integer',
        format: 'int32',
        default: 2,
        minimum: 0,
        maximum: 4,
        exclusiveMaximum: true,
        multipleOf: 2,
      },
      list: { type: 'array', default: [], minItems: 0, items: { ...OBJECT, default: {}, properties: { a: TEXT } } },
      map: { ...OBJECT, maxProperties: 3, additionalProperties: { type: 'number', format: 'double' } },
      free: { ...OBJECT, additionalProperties: true },
    },
  },
  Merged: {
    ...OBJECT,
    properties: {
      keyed: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
        items: { ...OBJECT, required: ['a', 'b'], properties: { a: TEXT, b: { type: 'integer' } } },
      },
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: TEXT },
      atomic: { ...OBJECT, 'x-kubernetes-map-type': 'atomic', properties: { a: TEXT } },
    },
  },
}

/** Where 1.20 says something else, and why. */
const UNLIKE_120: readonly { at: RegExp; why: string }[] = [
  { at: /List\.type$/, why: 'it gives lists no type' },
  {
    at: /^Nullable\.properties\.values\.additionalProperties$/,
    why: 'it reads `{}` back as `false`, which refuses all values',
  },
  { at: /Nullable.*\.inner\.(properties|required)/, why: 'kubectl refuses the other fields of such an object' },
  { at: /:delete.*\.parameters\.(watch|allowWatchBookmarks)$/, why: 'no deletion can be watched' },
  {
    at: /:delete.*\.parameters\.(body|dryRun|gracePeriodSeconds|orphanDependents|propagationPolicy)$/,
    why: 'it takes them untold',
  },
  { at: /^\/apis\/[^/]+\/v1\/:get/, why: 'it tells of the discovery of built-in groups alone' },
  { at: /^\/apis\/[^/]+\/v1\/watch\//, why: 'it tells of the older paths of watches for built-in kinds alone' },
  { at: /:get\.produces$/, why: 'it tells of streams for built-in kinds alone' },
  { at: /:patch\.responses\.201/, why: 'it does not tell that an apply creates' },
  { at: /\.parameters\.(fieldValidation|sendInitialEvents)$/, why: 'newer than 1.20' },
  { at: /:patch.*\.parameters\.force$/, why: 'it keeps the parameter of apply to itself' },
]

interface Published {
  definitions: Record<string, unknown>
  paths: Record<string, unknown>
}

/** All kinds, one of them not in namespaces, with sub-resources. */
async function publishedBy(api: Api): Promise<Published> {
  const crds = crdsIn(api)
  const names = Object.keys(SCHEMAS)
  for (const kind of names) {
    const plural = `${kind.toLowerCase()}s`
    const subresources = {
      status: {},
      ...(kind !== 'Root' && { scale: { specReplicasPath: '.spec.r', statusReplicasPath: '.status.r' } }),
    }
    const version = { name: 'v1', served: true, storage: true, subresources }
    await crds.define({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${GROUP}` },
      spec: {
        group: GROUP,
        scope: kind === 'Plain' ? 'Cluster' : 'Namespaced',
        names: { plural, kind },
        versions: [{ ...version, schema: { openAPIV3Schema: SCHEMAS[kind] } }],
      },
    })
  }
  for (;;) {
    const { definitions, paths } = (await api.ok(api.get('/openapi/v2'))) as unknown as Published
    const ours = Object.keys(definitions).filter(name => name.startsWith('com.example.published.v1.'))
    // A kube-apiserver publishes some time after a kind is established; the time limit of the test is the other end.
    if (ours.length < 2 * names.length) continue
    return {
      definitions: Object.fromEntries(ours.map(name => [name, definitions[name]])),
      paths: Object.fromEntries(Object.entries(paths).filter(([path]) => path.startsWith(`/apis/${GROUP}/v1/`))),
    }
  }
}

/** Every statement by the place where it is made, without sentences. */
function statements({ definitions, paths }: Published): Map<string, string> {
  const found = new Map<string, string>()
  const tell = (at: string, value: unknown): void => {
    if (Array.isArray(value) || !isRecord(value)) {
      found.set(at, JSON.stringify(value).replace(/(?<=#\/definitions\/[\w.]+)_v2(?=")/g, ''))
      return
    }
    found.set(at, '{}')
    for (const [name, member] of Object.entries(value)) {
      const sentence = name === 'description' && (typeof member !== 'string' || member.length > 9)
      if (!sentence) tell(`${at}.${name}`, member)
    }
  }
  for (const [name, schema] of Object.entries(definitions)) tell(name.split('.').at(-1)!, schema)
  for (const [path, item] of Object.entries(paths)) {
    const { parameters: shared = [], ...operations } = item as Record<string, Parameter[]>
    for (const [method, operation] of Object.entries(operations)) {
      const { parameters = [], ...rest } = operation as unknown as { parameters?: Parameter[] }
      const byName = Object.fromEntries([...shared, ...parameters].map(parameter => [parameter.name, parameter]))
      tell(`${path}:${method}`, { ...rest, parameters: byName })
    }
  }
  return found
}
interface Parameter {
  name: string
}

t.test('OpenAPI v2 of custom kinds', { skip: noPeer }, async t => {
  const { api } = await startTestServer(t)
  const peer = await startPeer(t)
  const [ours, theirs] = (await Promise.all([publishedBy(api), publishedBy(peer)])).map(statements)
  const explained = new Set<string>()
  for (const at of new Set([...ours!.keys(), ...theirs!.keys()])) {
    if (ours!.get(at) === theirs!.get(at)) continue
    const known = UNLIKE_120.find(unlike => unlike.at.test(at.replace(/(\.parameters\.\w+).*$/, '$1')))
    if (known) explained.add(known.why)
    else t.equal(ours!.get(at), theirs!.get(at), at)
  }
  t.ok(theirs!.size > 1000, `${theirs!.size} statements`)
  for (const { why } of UNLIKE_120) t.ok(explained.has(why), `still so: ${why}`)
})
