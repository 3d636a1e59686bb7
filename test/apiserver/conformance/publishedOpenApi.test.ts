/** CustomResourcePublishOpenAPI: what OpenAPI v2 says of custom resources. The results in kubectl: publishedOpenApiKubectl. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'
import { definition, FOO, Publication, WALDO } from './publication.ts'

const { api, faults } = await startTestServer(t)
const openApi = new Publication(api)

/** Two CRDs at a time, each with the schema of its own. */
const pairs: [what: string, foo: [group: string, version: string], waldo: [group: string, version: string]][] = [
  ['of different groups', ['foo', 'v1'], ['waldo', 'v1beta1']],
  ['of same group but different versions', ['common-group', 'v4'], ['common-group', 'v5']],
  ['of same group and version but different kinds', ['common-group', 'v6'], ['common-group', 'v6']],
]
for (const [what, [fooGroup, fooVersion], [waldoGroup, waldoVersion]] of pairs)
  t.test(`works for multiple CRDs ${what}`, async t => {
    const foo = definition('E2e-foo-crd', fooGroup, FOO, fooVersion)
    const waldo = definition('E2e-waldo-crd', waldoGroup, WALDO, waldoVersion)
    await openApi.crds.define(foo)
    await openApi.crds.define(waldo)
    t.same(await openApi.of(waldo, waldoVersion), WALDO)
    t.same(await openApi.of(foo, fooVersion), FOO)
    await openApi.cleanUp(t, foo)
    await openApi.cleanUp(t, waldo)
  })

t.test('works for one CRD of several versions', async t => {
  const both = definition('E2e-multi-crd', 'multi-ver', FOO, 'v2', 'v3')
  await openApi.crds.define(both)
  t.same(await openApi.of(both, 'v3'), FOO)
  t.same(await openApi.of(both, 'v2'), FOO)
  await openApi.cleanUp(t, both)
})

t.test('updates the published spec when one version gets renamed', async t => {
  const crd = definition('E2e-renamed-crd', 'multi-ver', FOO, 'v2', 'v3')
  await openApi.crds.define(crd)
  t.same(await openApi.of(crd, 'v3'), FOO)
  const name = '/spec/versions/1/name'
  const patch = [
    { op: 'test', path: name, value: 'v3' },
    { op: 'replace', path: name, value: 'v4' },
  ]
  await api.ok(api.patch(openApi.crds.path(crd.metadata.name), 'json', patch))
  t.same(await openApi.of(crd, 'v4'), FOO)
  t.equal(await openApi.of(crd, 'v3'), undefined)
  t.same(await openApi.of(crd, 'v2'), FOO)
  await openApi.cleanUp(t, crd)
  t.equal(await openApi.of(crd, 'v4'), undefined)
})

t.test('removes definition from spec when one version gets changed to not be served', async t => {
  const crd = definition('E2e-single-crd', 'multi-to-single-ver', FOO, 'v5', 'v6alpha1')
  await openApi.crds.define(crd)
  t.same(await openApi.of(crd, 'v6alpha1'), FOO)
  const [first, second] = crd.spec.versions
  await openApi.crds.change({ ...crd, spec: { ...crd.spec, versions: [first!, { ...second!, served: false }] } })
  t.equal(await openApi.of(crd, 'v6alpha1'), undefined)
  t.same(await openApi.of(crd, 'v5'), FOO)
  await openApi.cleanUp(t, crd)
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
