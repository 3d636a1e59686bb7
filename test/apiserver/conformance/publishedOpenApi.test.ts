/** CustomResourcePublishOpenAPI: what OpenAPI v2 says of custom resources. What kubectl makes of it: publishedOpenApiKubectl. */
import t from 'tap'
import { startTestServer } from '../../support/server.ts'
import { definition, FOO, Publication, WALDO } from './publication.ts'

const { api, faults } = await startTestServer(t)
const openApi = new Publication(api)

t.test('works for multiple CRDs of different groups', async t => {
  const foo = definition('E2e-foo-crd', 'foo', FOO, 'v1')
  const waldo = definition('E2e-waldo-crd', 'waldo', WALDO, 'v1beta1')
  await openApi.crds.define(foo)
  await openApi.crds.define(waldo)
  t.same(await openApi.of(waldo, 'v1beta1'), WALDO)
  t.same(await openApi.of(foo, 'v1'), FOO)
  await openApi.cleanUp(t, foo)
  await openApi.cleanUp(t, waldo)
})

t.test('works for multiple CRDs of same group but different versions', async t => {
  const both = definition('E2e-multi-crd', 'multi-ver', FOO, 'v2', 'v3')
  await openApi.crds.define(both)
  t.same(await openApi.of(both, 'v3'), FOO)
  t.same(await openApi.of(both, 'v2'), FOO)
  await openApi.cleanUp(t, both)
  const foo = definition('E2e-foo-crd', 'common-group', FOO, 'v4')
  const waldo = definition('E2e-waldo-crd', 'common-group', WALDO, 'v5')
  await openApi.crds.define(foo)
  await openApi.crds.define(waldo)
  t.same(await openApi.of(waldo, 'v5'), WALDO)
  t.same(await openApi.of(foo, 'v4'), FOO)
  await openApi.cleanUp(t, foo)
  await openApi.cleanUp(t, waldo)
})

t.test('works for multiple CRDs of same group and version but different kinds', async t => {
  const foo = definition('E2e-foo-crd', 'common-group', FOO, 'v6')
  const waldo = definition('E2e-waldo-crd', 'common-group', WALDO, 'v6')
  await openApi.crds.define(foo)
  await openApi.crds.define(waldo)
  t.same(await openApi.of(waldo, 'v6'), WALDO)
  t.same(await openApi.of(foo, 'v6'), FOO)
  await openApi.cleanUp(t, foo)
  await openApi.cleanUp(t, waldo)
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
