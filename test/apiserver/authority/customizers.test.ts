/** Customizers: what cannot be meant is refused when it is written, with field and remedy. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { startTestServer } from '../../support/server.ts'

const { api } = await startTestServer(t)
const wds = api.in('root:wmw1')
const CUSTOMIZERS = '/apis/edge.kubestellar.io/v2alpha1/namespaces/default/customizers'
let count = 0
const customizer = (rules: object) => ({ metadata: { name: `c${++count}` }, ...rules })
const post = (...replacements: object[]) => wds.post(CUSTOMIZERS, customizer({ replacements }))
const invalid = (...causes: [field: string, message: RegExp][]) => ({
  code: 422,
  body: { reason: 'Invalid', details: { causes: causes.map(([field, message]) => ({ field, message })) } },
})
const put = { path: '$.spec.replicas', value: '2' }

t.test('a replacement has one form', async t => {
  t.match(await post({ path: '$.x' }, {}), {
    code: 422,
    body: {
      details: {
        causes: [
          { field: 'replacements[0].value' },
          { field: 'replacements[1].path' },
          { field: 'replacements[1].value' },
        ],
      },
    },
  })
  t.match(
    await post(put, { ...put, mergePatch: {} }, { mergePatch: {}, strategicMergePatch: {} }),
    invalid(
      [
        'replacements[1].mergePatch',
        /it has path and mergePatch, and may have path with value, or one of jsonPatch, mergePatch/,
      ],
      ['replacements[2].strategicMergePatch', /it has mergePatch and strategicMergePatch/],
    ),
  )
})

t.test('an operation that is none, or changes what an object is, is refused by its number', async t => {
  t.match(await post({ jsonPatch: [{ op: 'replce', path: '/spec' }] }), {
    code: 422,
    body: { message: /replacements\[0\]\.jsonPatch\[0\]\.op: Unsupported value: "replce": supported values: / },
  })
  t.match(
    await post(put, {
      jsonPatch: [
        { op: 'add', path: '/spec/replicas' },
        { op: 'add', path: 'spec', value: 1 },
        { op: 'move', path: '/spec/a' },
        { op: 'replace', path: '/metadata/name', value: 'x' },
        { op: 'move', from: '/kind', path: '/spec/kind' },
        { op: 'test', path: '/kind', value: 'Deployment' },
        { op: 'copy', from: '/kind', path: '/spec/kind' },
        { op: 'add', path: '/spec/null', value: null },
      ],
    }),
    invalid(
      ['replacements[1].jsonPatch[0]', /missing value field/],
      ['replacements[1].jsonPatch[1]', /"spec" is not a JSON pointer/],
      ['replacements[1].jsonPatch[2]', /missing from field/],
      ['replacements[1].jsonPatch[3].path', /no patch changes apiVersion, kind, name or namespace/],
      ['replacements[1].jsonPatch[4].from', /no patch changes/],
    ),
  )
})

t.test('selectors and names of parameters are judged where they stand', async t => {
  const bad = { matchExpressions: [{ key: 'env', operator: 'Is', values: ['prod'] }] }
  const parameters = [
    { values: { 'a b': '1' } },
    { locationSelector: { matchLabels: { 'no/no/no': 'x' } }, values: {} },
  ]
  const rules = { parameters, replacements: [put, { ...put, locationSelector: bad }] }
  t.match(
    await wds.post(CUSTOMIZERS, customizer(rules)),
    invalid(
      ['parameters[0].values', /"a b": the name of a parameter has letters, digits/],
      ['parameters[1].locationSelector.matchLabels', /no\/no\/no/],
      ['replacements[1].locationSelector.matchExpressions[0].operator', /not a valid selector operator/],
    ),
  )
})

t.test('patches have bounds of number and size', async t => {
  const many = Array.from({ length: 102 }, () => ({ mergePatch: {} }))
  t.match(
    await post(...many),
    invalid(['replacements[100]', /a Customizer may have 100 patches; put several into one/]),
  )
  t.match(
    await post({ mergePatch: { data: 'x'.repeat(140_000) } }),
    invalid(['replacements[0].mergePatch', /may not be more than 131072 bytes/]),
  )
  const op = { op: 'remove', path: '/x' }
  t.match(await post({ jsonPatch: Array(257).fill(op) }), { code: 422 })
  const values = { long: 'x'.repeat(20_000) }
  t.match(await wds.post(CUSTOMIZERS, customizer({ parameters: [{ values }] })), { code: 422 })
})

t.test('what is right is stored as it is, nulls in patches too', async t => {
  const locationSelector = { matchLabels: { env: 'prod' } }
  const rules = {
    parameters: [{ values: { a: '1' } }, { locationSelector, values: { a: '2' } }],
    replacements: [
      put,
      { ...put, value: '3', locationSelector },
      { mergePatch: { spec: { paused: null }, list: [{ a: null }] } },
      { strategicMergePatch: { spec: { containers: [{ name: 'log', $patch: 'delete' }] } } },
      {
        jsonPatch: [
          { op: 'add', path: '/spec/x', value: null },
          { op: 'add', path: '/spec/y', value: [1, { z: true }] },
        ],
      },
    ],
  }
  const right = customizer(rules)
  t.match(await wds.post(CUSTOMIZERS, right), { code: 201, body: right })
  const { body } = await wds.get(`${CUSTOMIZERS}/${right.metadata.name}`)
  t.same({ parameters: body.parameters, replacements: body.replacements }, rules)
  const applied = await wds.patch(`${CUSTOMIZERS}/applied?fieldManager=kubectl`, 'apply', {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'Customizer',
    metadata: { name: 'applied', namespace: 'default' },
    ...rules,
  })
  t.equal(applied.code, 201)
  t.same(applied.body.replacements, rules.replacements)
})

t.test('nulls that kubectl apply leaves out of what it creates get a warning', async t => {
  const applied = (replacements: object[], stored: object[]) => {
    const text = JSON.stringify({ kind: 'Customizer', replacements })
    const object = customizer({ replacements: stored })
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': text }
    return wds.post(CUSTOMIZERS, { ...object, metadata: { ...object.metadata, annotations } })
  }
  const removing = { mergePatch: { spec: { paused: null } } }
  const warned = await applied([put, removing], [put, { mergePatch: { spec: {} } }])
  t.equal(warned.code, 201)
  t.match(
    warned.headers.warning,
    /kubectl apply left each null out of the patches, so these remove nothing; apply it once more/,
  )
  t.equal((await applied([removing], [removing])).headers.warning, undefined)
  t.equal((await applied([removing], [put])).headers.warning, undefined)
})

t.test('the example of the documentation is taken as it stands there', async t => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/recipes.md'), 'utf8')
  const text = /```yaml\n(apiVersion: edge[^`]*kind: Customizer[^`]*)```/.exec(page)?.[1]
  const example = parse(text ?? '') as { metadata: object }
  const body = { ...example, metadata: { ...example.metadata, namespace: 'default' } }
  t.match(await wds.post(CUSTOMIZERS, body), { code: 201, body })
})
