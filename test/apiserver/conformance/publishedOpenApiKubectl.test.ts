/** CustomResourcePublishOpenAPI: what kubectl accepts and explains of custom resources, by what OpenAPI says of them. */
import t from 'tap'
import { findKubectls, type Kubectl, KubectlSession, minorOf } from '../../support/orrery.ts'
import { startTestServer, temporaryDir } from '../../support/server.ts'
import {
  type Definition,
  definition,
  FOO,
  OBJECT,
  PRESERVES,
  Publication,
  text,
  WALDO,
  WALDO_PROPERTIES,
} from './publication.ts'

const { api, server, faults } = await startTestServer(t)
const openApi = new Publication(api)
const sessions = (await chosenKubectls()).map(kubectl => ({
  name: `test-k${minorOf(kubectl)}`,
  session: new KubectlSession(kubectl, temporaryDir(t), ['--kubeconfig', server.kubeconfigPath]),
}))

/** The oldest that there is, one that asks the server to validate and explains by version 2, and the newest. */
async function chosenKubectls(): Promise<readonly Kubectl[]> {
  const all = await findKubectls()
  return [...new Set([all[0], all.find(kubectl => minorOf(kubectl) >= 27), all.at(-1)])].filter(k => k !== undefined)
}

/** Plays with every kubectl at the same time, each with an object of its own name. */
async function withKubectls(
  { spec: { group, names, versions } }: Definition,
  play: (k: KubectlSession, object: (fields: object) => string, name: string) => Promise<void>,
): Promise<void> {
  const apiVersion = `${group}/${versions[0]!.name}`
  await Promise.all(
    sessions.map(({ name, session }) => {
      const object = (fields: object): string =>
        JSON.stringify({ kind: names.kind, apiVersion, metadata: { name }, ...fields })
      return play(session, object, name)
    }),
  )
}

/** Makes an object by `create` and by `apply`; it goes each time. */
async function comesAndGoes(k: KubectlSession, input: string, { spec }: Definition, name: string): Promise<void> {
  for (const verb of ['create', 'apply']) {
    await k.ok(`${verb} -f -`, { input })
    const path = `/apis/${spec.group}/${spec.versions[0]!.name}/namespaces/default/${spec.names.plural}/${name}`
    await api.ok(api.delete(path))
  }
}

t.test('kubectl', { skip: sessions.length === 0 && 'no kubectl found' }, async t => t.ok(sessions.length))

t.test('works for CRD with validation schema', async t => {
  const crd = definition('E2e-foo-crd', 'foo', FOO, 'v1')
  const { plural } = crd.spec.names
  await openApi.crds.define(crd)
  t.same(await openApi.of(crd, 'v1'), FOO)
  await withKubectls(crd, async (k, object, name) => {
    const refused = async (spec: object, message: RegExp): Promise<void> => {
      for (const verb of ['create', 'apply']) {
        const { code, err } = await k.run(`${verb} -f -`, { input: object({ spec }) })
        t.not(code, 0)
        t.match(err, message)
      }
    }
    await comesAndGoes(k, object({ spec: { bars: [{ name: 'test-bar' }] } }), crd, name)
    const explains = async (what: string, pattern: RegExp): Promise<void> => {
      t.match(await k.ok(`explain ${plural}${what}`), pattern)
    }
    const knowsNo = async (field: string): Promise<void> => {
      const { err } = await k.run(`explain ${plural}.spec.${field}`)
      t.match(err, `field "${field}" does not exist`)
    }
    await Promise.all([
      refused({ bars: [{ name: 'b', feeling: 'NonExistentValue' }] }, /Unsupported value: "NonExistentValue"/),
      refused({ foo: true }, /unknown field "(spec\.)?foo"/),
      refused({ bars: [{ age: '10' }] }, /missing required field "name"|spec\.bars\[0\]\.name: Required value/),
      explains(
        '',
        /DESCRIPTION:.*Foo CRD for Testing.*FIELDS:.*apiVersion.*<string>.*APIVersion defines.*spec.*<Object>.*Specification of Foo/s,
      ),
      explains(
        '.metadata',
        /DESCRIPTION:.*Standard object's metadata.*FIELDS:.*creationTimestamp.*<string>.*CreationTimestamp is a timestamp/s,
      ),
      explains(
        '.spec',
        /DESCRIPTION:.*Specification of Foo.*FIELDS:.*bars.*<\[\]Object>.*List of Bars and their specs/s,
      ),
      explains(
        '.spec.bars',
        /(RESOURCE|FIELD):.*bars.*<\[\]Object>.*DESCRIPTION:.*List of Bars and their specs.*FIELDS:.*bazs.*<\[\]string>.*List of Bazs.*name.*<string>.*Name of Bar/s,
      ),
      knowsNo('bars2'),
    ])
  })
  await openApi.cleanUp(t, crd)
})

const anything = { a: { b: [{ c: 'd' }] } }

t.test('works for CRD without validation schema', async t => {
  const crd = definition('E2e-empty-crd', 'empty', { ...OBJECT, ...PRESERVES }, 'v1')
  const { plural } = crd.spec.names
  await openApi.crds.define(crd)
  t.same(await openApi.of(crd, 'v1'), OBJECT)
  await withKubectls(crd, async (k, object, name) => {
    await comesAndGoes(k, object(anything), crd, name)
    t.match(await k.ok(`explain ${plural}`), /DESCRIPTION:.*<empty>/s)
  })
  await openApi.cleanUp(t, crd)
})

t.test('works for CRD preserving unknown fields at the schema root', async t => {
  const schema = { ...WALDO, description: 'preserve-unknown-properties at root for Testing', ...PRESERVES }
  const crd = definition('E2e-root-crd', 'unknown-at-root', schema, 'v1')
  const { plural, kind } = crd.spec.names
  await openApi.crds.define(crd)
  await withKubectls(crd, async (k, object, name) => {
    await comesAndGoes(k, object(anything), crd, name)
    t.match(await k.ok(`explain ${plural}`), new RegExp(`KIND:.*${kind}`, 's'))
  })
  await openApi.cleanUp(t, crd)
})

t.test('works for CRD preserving unknown fields in an embedded object', async t => {
  const { spec, status } = WALDO_PROPERTIES
  const description = 'preserve-unknown-properties in nested field for Testing'
  const schema = { ...OBJECT, description, properties: { spec: { ...spec, ...PRESERVES }, status } }
  const crd = definition('E2e-nested-crd', 'unknown-in-nested', schema, 'v1')
  const { plural } = crd.spec.names
  await openApi.crds.define(crd)
  await withKubectls(crd, async (k, object, name) => {
    await comesAndGoes(k, object({ spec: { a: null, b: [{ c: 'd' }] } }), crd, name)
    t.match(await k.ok(`explain ${plural}`), new RegExp(`DESCRIPTION:.*${description}`, 's'))
  })
  await openApi.cleanUp(t, crd)
})

// Not of the suite. kubectl of all releases validates Lists by OpenAPI v2, item by item.
t.test('kubectl takes Lists of objects with unknown fields, nulls and objects inside', async t => {
  const spec = {
    ...OBJECT,
    properties: {
      none: { ...OBJECT, nullable: true, properties: { a: text('') } },
      open: { ...OBJECT, ...PRESERVES, properties: { a: text('') } },
      inner: { ...OBJECT, 'x-kubernetes-embedded-resource': true, properties: { spec: OBJECT } },
      perhaps: { ...OBJECT, nullable: true, 'x-kubernetes-embedded-resource': true, properties: { data: OBJECT } },
    },
  }
  const open = definition('Open', 'lists', { ...OBJECT, ...PRESERVES }, 'v1')
  const listed = definition('Listed', 'lists', { ...OBJECT, properties: { spec } }, 'v1')
  await openApi.crds.define(open)
  await openApi.crds.define(listed)
  const apiVersion = `${open.spec.group}/v1`
  const inner = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'inner' } }
  await withKubectls(listed, async (k, _, name) => {
    const opened = { apiVersion, kind: 'Open', metadata: { name }, ...anything }
    const values = { none: null, open: { a: 'a', b: 1 }, inner, perhaps: { ...inner, data: {} } }
    const items = [opened, { apiVersion, kind: 'Listed', metadata: { name }, spec: values }]
    for (const list of [
      { apiVersion: 'v1', kind: 'List', items },
      { apiVersion, kind: 'OpenList', metadata: {}, items: [opened] },
    ]) {
      for (const verb of ['create', 'apply']) {
        const input = JSON.stringify(list)
        t.match(await k.ok(`${verb} --validate=true -f -`, { input }), `${name} created`)
        await k.ok('delete -f -', { input })
      }
    }
    const bad = { ...items[1], spec: { ...values, inner: { metadata: {} } } }
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [bad] })
    t.match((await k.run('create --validate=true -f -', { input })).err, 'missing required field "apiVersion"')
  })
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
