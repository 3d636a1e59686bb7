/** `kubectl ws export` and `import`: what a space holds comes back in another one, and nothing is overwritten. */
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { yaml } from '../../../src/apimachinery/yaml.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { exported } from '../../../src/cli/ws/transfer/exported.ts'
import { exportText } from '../../../src/cli/ws/transfer/exportFile.ts'
import { samples } from '../../kinds/samples.ts'
import type { Api } from '../../support/api.ts'
import { pluginHere } from '../../support/runHere.ts'
import { startTestServer, temporaryDir } from '../../support/server.ts'

const WDS = 'root:wmw1'
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
/** Kinds of which an export has nothing: requests and news of a moment. */
const LEFT = ['events', 'certificatesigningrequests']

interface Side {
  readonly api: Api
  ws(...args: string[]): ReturnType<typeof pluginHere>
}

async function startSide(t: Test): Promise<Side> {
  const { api, server } = await startTestServer(t)
  const ws = (...args: string[]) => pluginHere('ws', ...args, '--kubeconfig', server.kubeconfigPath)
  return { api, ws }
}

const objectsIn = (text: string): KubeObject[] =>
  yaml()
    .parseAllDocuments(text)
    .map(document => document.toJS() as KubeObject)

const definition = (plural: string, kind: string): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

/** A sample of each kind that the space serves, in a namespace of its own. */
async function fill(api: Api, of: typeof samples = samples): Promise<Set<string>> {
  const made = new Set<string>()
  await api.ok(api.post('/api/v1/namespaces', { metadata: { name: 'shop', labels: { app: 'shop' } } }))
  const lists = [['', '/api/v1'], ...(await groups(api)).map(version => [version.split('/')[0], `/apis/${version}`])]
  for (const [, root] of lists) {
    const { resources } = (await api.get(root!)).body as unknown as {
      resources: { name: string; kind: string; namespaced: boolean }[]
    }
    for (const { name, kind, namespaced } of resources) {
      const apiVersion = root!.replace(/^\/apis?\//, '')
      const fields = of[`${apiVersion} ${name}`]
      if (fields === undefined || name === 'customresourcedefinitions') continue
      const metadata = { name: 'sample', labels: { app: 'shop' }, ...(fields.metadata as object | undefined) }
      const path = `${root}${namespaced ? '/namespaces/shop' : ''}/${name}`
      const { code } = await api.post(path, { apiVersion, kind, ...fields, metadata })
      if (code === 201) made.add(name)
    }
  }
  return made
}

async function groups(api: Api): Promise<string[]> {
  const { groups } = (await api.get('/apis')).body as unknown as {
    groups: { versions: { groupVersion: string }[] }[]
  }
  return groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion))
}

t.test('a sample of each kind goes to another server, with definitions, owners and placements', async t => {
  const [from, to] = [await startSide(t), await startSide(t)]
  const dir = temporaryDir(t)
  const api = from.api.in(WDS)
  const made = await fill(api)
  for (const [plural, kind] of [
    ['widgets', 'Widget'],
    ['gadgets', 'Gadget'],
  ] as const) {
    await api.ok(api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(plural, kind)))
    for (const name of ['a', 'b'])
      await api.ok(
        api.post(`/apis/example.com/v1/namespaces/shop/${plural}`, {
          apiVersion: 'example.com/v1',
          kind,
          metadata: { name, annotations: { 'edge.kubestellar.io/wave': '-5' } },
          spec: { of: name },
        }),
      )
  }
  const owner = (await api.get('/api/v1/namespaces/shop/configmaps/sample')).body
  for (const name of ['a-owned', 'owned'])
    await api.ok(
      api.post('/api/v1/namespaces/shop/configmaps', {
        metadata: {
          name,
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'sample', uid: owner.metadata.uid }],
        },
        data: { a: 'b' },
      }),
    )
  for (const name of ['p', 'q'])
    await api.ok(
      api.post(`${EDGE}/edgeplacements`, {
        apiVersion: 'edge.kubestellar.io/v2alpha1',
        kind: 'EdgePlacement',
        metadata: { name },
        spec: {
          locationSelectors: [{ matchLabels: { env: 'prod' } }],
          downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['shop'], objectNames: ['*'] }],
        },
      }),
    )

  // a binding that acts, and the role that comes with it
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const acting = { name: 'acts', labels: { 'edge.kubestellar.io/natured': 'true' } }
  await api.ok(api.post(`${rbac}/clusterroles`, { metadata: acting, rules: [] }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'acts' }
  for (const path of ['clusterrolebindings', 'namespaces/shop/rolebindings'])
    await api.ok(api.post(`${rbac}/${path}`, { metadata: acting, roleRef, subjects: [] }))

  const file = join(dir, 'shop.yaml')
  t.match(await from.ws('export', WDS, '--file', file), {
    code: 0,
    out: /^wrote .*shop\.yaml: \d+ objects of root:wmw1\n$/,
    err: /1 Secrets are not in it: --with-secrets/,
  })
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.notMatch(readFileSync(file, 'utf8'), /kind: Secret\n/)
  t.equal((await from.ws('export', WDS, '--file', file)).code, 1, 'nothing is overwritten')
  const archive = join(dir, 'shop.orrery')
  t.equal((await from.ws('export', WDS, '--with-secrets', '-o', 'archive', '--file', archive)).code, 0)
  t.match(await from.ws('export', WDS, '-o', 'archive'), { code: 1, err: /name it by --file/ })

  t.comment('first a look, which writes nothing')
  const before = (await to.ws('export', WDS)).out
  const planned = await to.ws('import', archive, '--dry-run', '--space', WDS)
  t.match(planned, { code: 0, out: /ConfigMap shop\/sample would be created[\s\S]*\d+ objects would be created, / })
  t.notMatch(planned.err, /no ClusterRole/, 'the role is in the file, too')
  t.equal(bare((await to.ws('export', WDS)).out), bare(before))

  const imported = await to.ws('import', archive, '--space', WDS)
  t.match(imported, { code: 0, out: /EdgePlacement q created\nroot:wmw1: \d+ objects created, 0 are there already\n$/ })
  const lines = imported.out.split('\n')
  t.ok(lines.indexOf('Namespace shop created') < lines.indexOf('Widget shop/a created'))
  t.ok(lines.indexOf('ConfigMap shop/sample created') < lines.indexOf('ConfigMap shop/a-owned created'))
  const [here, there] = [await from.ws('export', WDS, '--with-secrets'), await to.ws('export', WDS, '--with-secrets')]
  t.equal(bare(there.out), bare(here.out), 'both spaces say the same')
  const kinds = new Set(objectsIn(there.out).map(({ kind }) => `${kind.toLowerCase()}`))
  for (const name of made)
    if (!LEFT.includes(name))
      t.ok(
        [...kinds].some(kind => name.startsWith(kind.replace(/y$/, 'i'))),
        name,
      )
  const target = to.api.in(WDS)
  const owned = (await target.get('/api/v1/namespaces/shop/configmaps/owned')).body
  const its = (await target.get('/api/v1/namespaces/shop/configmaps/sample')).body
  t.equal(owned.metadata.ownerReferences?.[0]?.uid, its.metadata.uid, 'owners are those of the new server')

  t.comment('again, and over something else')
  t.match(await to.ws('import', archive, '--space', WDS), {
    code: 0,
    out: /: 0 objects created, \d+ are there already/,
  })
  await target.ok(target.patch('/api/v1/namespaces/shop/configmaps/owned', 'merge', { data: { a: 'mine' } }))
  await target.ok(target.delete('/api/v1/namespaces/shop/configmaps/a-owned'))
  t.match(await to.ws('import', archive, '--space', WDS), {
    code: 1,
    err: /nothing was written into root:wmw1.*\n.*ConfigMap shop\/owned: it is there with another content/,
  })
  t.equal((await target.get('/api/v1/namespaces/shop/configmaps/a-owned')).code, 404)
  t.match((await target.get('/api/v1/namespaces/shop/configmaps/owned')).body, { data: { a: 'mine' } })

  t.comment('a space of another type serves no placements')
  t.match(await to.ws('import', file, '--space', 'root:imw1'), {
    code: 1,
    err: /EdgePlacement p: the space serves no edge\.kubestellar\.io\/v2alpha1 EdgePlacement/,
  })
  t.equal((await to.api.in('root:imw1').get('/api/v1/namespaces/shop')).code, 404)
})

/** Samples of the kinds that the others lack. */
const OWN: typeof samples = {
  'edge.kubestellar.io/v2alpha1 edgeplacements': { spec: { locationSelectors: [{}], downsync: [{ apiGroup: '' }] } },
  'edge.kubestellar.io/v2alpha1 customizers': { replacements: [{ path: '$.data.a', value: '"b"' }] },
  'edge.kubestellar.io/v1alpha1 statuscollectors': { spec: { combinedFields: [{ name: 'n', type: 'COUNT' }] } },
  'edge.kubestellar.io/v1alpha1 noticesinks': { spec: { form: 'Slack', url: 'https://notices.example.com/a' } },
  'edge.kubestellar.io/v2alpha1 inventorybindings': { spec: { path: 'root:imw1' } },
  'edge.kubestellar.io/v2alpha1 placementgrants': { spec: { spaces: [{ path: 'root:wmw1' }] } },
  'edge.kubestellar.io/v2alpha1 locations': { metadata: { labels: { env: 'prod' } } },
  'edge.kubestellar.io/v2alpha1 synctargets': { metadata: { labels: { env: 'prod' } } },
  'admissionregistration.k8s.io/v1 validatingwebhookconfigurations':
    samples['admissionregistration.k8s.io/v1 mutatingwebhookconfigurations']!,
}
/** Kinds that are no part of what a space holds: requests and answers, news of a moment, and objects that each server makes for itself. */
const NO_CONTENT = [
  ...['Binding', 'TokenReview', 'LocalSubjectAccessReview', 'SubjectAccessReview', 'SelfSubjectAccessReview'],
  ...['SelfSubjectReview', 'SelfSubjectRulesReview', 'PlacementPreview', 'ComponentStatus', 'WorkStatus'],
  ...['ClusterWorkStatus', 'CombinedStatus', 'GrantedLocation', 'Event', 'CertificateSigningRequest'],
  ...['LogicalCluster', 'Workspace', 'SinglePlacementSlice', 'EdgeSyncConfig', 'SyncerConfig'],
  ...['PlacementContent', 'PlacementRevision', 'PlacementRollout'],
]

t.test('each kind comes back in another space of its type, but those that are no content', async t => {
  const { api: all, ws } = await startSide(t)
  const dir = temporaryDir(t)
  const came = new Set<string>()
  for (const type of ['universal', 'inventory', 'workload', 'workload-rbac']) {
    for (const side of ['from', 'to'])
      t.equal((await ws('create', `${type}-${side}`, '--space', 'root', '--type', `root:${type}`)).code, 0)
    const [from, to] = [`root:${type}-from`, `root:${type}-to`]
    const api = all.in(from)
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await api.ok(api.post(definitions, definition('widgets', 'Widget')))
    await fill(api, { ...samples, ...OWN })
    const file = join(dir, `${type}.yaml`)
    const { code, err } = await ws('export', from, '--with-secrets', '--file', file)
    t.equal(code, 0, err)
    t.match(await ws('import', file, '--space', to), { code: 0 }, type)
    const there = await ws('export', to, '--with-secrets')
    t.equal(bare(there.out), bare(readFileSync(file, 'utf8')), type)
    for (const { kind } of objectsIn(there.out)) came.add(kind)
  }
  const kinds = new Set(loadCatalog().types.map(({ kind }) => kind))
  t.strictSame([...kinds].filter(kind => !came.has(kind)).sort(), NO_CONTENT.toSorted())
})

/** Without the head. */
function bare(text: string): string {
  return text.slice(text.indexOf('\n---\n'))
}

t.test('a selector takes what its objects need', async t => {
  const { api: all, ws } = await startSide(t)
  const api = all.in(WDS)
  for (const name of ['shop', 'other']) await api.ok(api.post('/api/v1/namespaces', { metadata: { name } }))
  for (const [plural, kind] of [
    ['widgets', 'Widget'],
    ['gadgets', 'Gadget'],
  ] as const) {
    await api.ok(api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(plural, kind)))
    await api.ok(
      api.post(`/apis/example.com/v1/namespaces/shop/${plural}`, {
        apiVersion: 'example.com/v1',
        kind,
        metadata: { name: 'a', labels: { app: plural } },
      }),
    )
  }
  const { code, out } = await ws('export', WDS, '-l', 'app=widgets')
  t.equal(code, 0)
  t.strictSame(
    objectsIn(out).map(({ kind, metadata }) => `${kind} ${metadata?.name ?? ''}`),
    ['SpaceExport ', 'CustomResourceDefinition widgets.example.com', 'Namespace shop', 'Widget a', 'SpaceExportEnd '],
  )
})

t.test('a file that is no whole export leads to nothing', async t => {
  const { api: all, ws } = await startSide(t)
  const dir = temporaryDir(t)
  const api = all.in(WDS)
  for (const name of ['a', 'b'])
    await api.ok(api.post('/api/v1/namespaces/default/configmaps', { metadata: { name }, data: { a: 'b' } }))
  const [text, archive] = [join(dir, 'e.yaml'), join(dir, 'e.orrery')]
  await ws('export', WDS, '--file', text)
  await ws('export', WDS, '-o', 'archive', '--file', archive)
  const [whole, bytes] = [readFileSync(text, 'utf8'), readFileSync(archive)]
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(dir, name), content)
    return join(dir, name)
  }
  const altered = Buffer.from(bytes)
  altered[altered.length >> 1]! ^= 1
  const cut = file('cut.orrery', bytes)
  truncateSync(cut, bytes.length - 3)
  const faults: [file: string, err: RegExp][] = [
    [join(dir, 'none'), /none: it cannot be read/],
    [dir, /it cannot be read/],
    [cut, /cut\.orrery: it was cut short: export the space again/],
    [file('altered.orrery', altered), /it was altered since it was written|it cannot be parsed/],
    [file('behind.orrery', Buffer.concat([bytes, Buffer.from('x')])), /altered since it was written/],
    [file('cut.yaml', whole.slice(0, whole.lastIndexOf('---'))), /cut\.yaml: it was cut short/],
    [file('count.yaml', whole.replace('objects: 2', 'objects: 3')), /it has 2 objects, and its end counts 3/],
    [file('newer.yaml', whole.replace('/v1', '/v9')), /use the Orrery that wrote it/],
    [file('plain.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n'), /it is no export of a space/],
    [file('odd.yaml', whole.replace('kind: ConfigMap', 'sort: ConfigMap')), /document 2 is no object/],
    [
      file('owners.yaml', whole.replace('metadata:', 'metadata:\n  ownerReferences: 5')),
      /document 2 is no object.*owners/,
    ],
    [file('no.yaml', '{{{'), /it cannot be parsed/],
  ]
  await api.ok(api.delete('/api/v1/namespaces/default/configmaps/a'))
  for (const [path, err] of faults) t.match(await ws('import', path, '--space', WDS), { code: 1, out: '', err })
  t.equal((await api.get('/api/v1/namespaces/default/configmaps/a')).code, 404)
  t.match(await ws('export', 'root:none'), { code: 1, err: /root:none" not found/ })
})

t.test('an import is typed again, whatever it left without an owner and the server filled in', async t => {
  const { api: all, ws } = await startSide(t)
  const dir = temporaryDir(t)
  const api = all.in(WDS)
  const maps = '/api/v1/namespaces/default/configmaps'
  const owner = await api.ok(api.post(maps, { metadata: { name: 'owner' } }))
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid }]
  await api.ok(api.post(maps, { metadata: { name: 'owned', labels: { app: 'a' }, ownerReferences } }))
  const labelled = join(dir, 'labelled.yaml')
  t.match(await ws('export', WDS, '-l', 'app=a', '--file', labelled), { code: 0, out: /: 1 objects of/ })
  const whole = (await ws('export', WDS)).out
  for (const name of ['shop', 'broken', 'going', 'edited'])
    t.equal((await ws('create', name, '--space', 'root', '--type', 'root:universal')).code, 0)
  const note = /Note: ConfigMap default\/owned comes without its owner, ConfigMap owner, which is not there/
  t.match(await ws('import', labelled, '--space', 'root:shop'), { code: 0, out: /: 1 objects created/, err: note })
  t.match(await ws('import', labelled, '--space', 'root:shop'), { code: 0, out: /: 0 objects created, 1 are there/ })

  t.comment('an owner that is not made')
  const file = (name: string, text: string): string => {
    writeFileSync(join(dir, name), text)
    return join(dir, name)
  }
  const moved = whole.replaceAll('namespace: default', 'namespace: new').replace('objects: 2', 'objects: 3')
  const namespace = '---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: new\n'
  const end = moved.lastIndexOf('---\n')
  const good = moved.slice(0, end) + namespace + moved.slice(end)
  const bad = file('bad.yaml', good.replaceAll('name: owner\n', 'name: Bad_Owner\n'))
  t.match(await ws('import', bad, '--space', 'root:broken'), {
    code: 1,
    err: /ConfigMap new\/owned: its owner, ConfigMap Bad_Owner, was not made/,
  })
  t.match(await ws('import', file('good.yaml', good), '--space', 'root:broken'), {
    code: 0,
    out: /2 objects created, 1/,
  })

  t.comment('an object that is going')
  const held = '/api/v1/namespaces/default/configmaps/owner'
  const going = all.in('root:going')
  await going.ok(going.post(maps, { metadata: { name: 'owner', finalizers: ['example.com/hold'] } }))
  await going.ok(going.delete(held))
  t.match(await ws('import', file('whole.yaml', whole), '--space', 'root:going'), {
    code: 1,
    err: /ConfigMap default\/owner: it is being deleted/,
  })
  await going.patch(held, 'merge', { metadata: { finalizers: null } })

  t.comment('an object that was added by hand')
  const added =
    '---\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\n  namespace: default\nspec:\n  ports:\n    - port: 80\n'
  const last = whole.lastIndexOf('---\n')
  const edited = file(
    'edited.yaml',
    (whole.slice(0, last) + added + whole.slice(last)).replace('objects: 2', 'objects: 3'),
  )
  t.match(await ws('import', edited, '--space', 'root:edited'), { code: 0, out: /3 objects created/ })
  t.match(await ws('import', edited, '--space', 'root:edited'), { code: 0, out: /0 objects created, 3 are there/ })
  const target = all.in('root:edited')
  await target.ok(target.patch('/api/v1/namespaces/default/services/web', 'merge', { spec: { type: 'NodePort' } }))
  t.match(await ws('import', edited, '--space', 'root:edited'), {
    code: 1,
    err: /Service default\/web: it is there with/,
  })
})

t.test('an export names the Namespaces whose labels stay', async t => {
  const { api, ws } = await startSide(t)
  t.notMatch((await ws('export', WDS)).err, /Note:/)
  await api
    .in(WDS)
    .ok(api.in(WDS).patch('/api/v1/namespaces/default', 'merge', { metadata: { labels: { env: 'prod' } } }))
  t.match(await ws('export', WDS), {
    code: 0,
    err: /^Note: labels of Namespaces .* are not in it: default\. Placements/m,
  })
})

t.test('a SyncTarget goes without the finalizer that its syncer has set', async t => {
  const object = { apiVersion: 'edge.kubestellar.io/v2alpha1', kind: 'SyncTarget', metadata: { name: 'a' } }
  const finalizers = ['edge.kubestellar.io/cluster', 'example.com/mine']
  t.strictSame(exported({ ...object, metadata: { name: 'a', finalizers } }).metadata.finalizers, ['example.com/mine'])
})

t.test('an export that could not be read again is refused, with the way out', async t => {
  const head = { path: 'root:a', type: '', takenAt: '', program: '', secrets: false }
  const objects = ['a', 'b'].map(name => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }))
  const limits = { archive: 450, yaml: 200 }
  const text = (more: KubeObject[], format: 'yaml' | 'archive') =>
    exportText({ head, objects: [...objects, ...more] }, format, limits).length
  t.ok(text([], 'archive') > 0)
  t.throws(() => text([], 'yaml'), { message: /more than 200 bytes as yaml: take -o archive, or export parts .*by -l/ })
  t.throws(() => text(objects, 'archive'), { message: /more than 450 bytes as archive: export parts of the space/ })
})
