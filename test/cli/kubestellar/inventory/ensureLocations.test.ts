/** `ensure location -f`: many locations from a file, all checked before any is made. */
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { csvRows } from '../../../../src/cli/kubestellar/inventory/csvRows.ts'
import { kubectlKubestellar } from '../../../../src/cli/kubestellar/program.ts'
import { FIRST_OBJECTS } from '../../../../src/cli/orrery/server/placementOptions.ts'
import { httpClient } from '../../../../src/client/http/httpClient.ts'
import { loadKubeconfig } from '../../../../src/client/kubeconfig.ts'
import { LOCATIONS, SYNC_TARGETS } from '../../../../src/placement/words/placement.ts'
import { startTestServer, temporaryDir } from '../../../support/server.ts'

const { server } = await startTestServer(t, { more: { firstObjects: FIRST_OBJECTS } })
const { options, base } = await loadKubeconfig(server.kubeconfigPath)
const client = httpClient({ ...options, server: base })
t.teardown(() => client.close())
const inventory = client.in('root:imw1')
const dir = temporaryDir(t)
const admin = join(dir, 'admin')
copyFileSync(server.kubeconfigPath, admin)

async function ks(...args: string[]) {
  const [out, err]: [string[], string[]] = [[], []]
  const terminal = { out: (text: string) => void out.push(text), err: (text: string) => void err.push(text) }
  const code = await kubectlKubestellar([...args, '--imw', 'root:imw1', '--kubeconfig', admin], terminal)
  return { code, out, err }
}
function file(name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text)
  return path
}
const ensure = (name: string, text: string, ...more: string[]) =>
  ks('ensure', 'location', '-f', file(name, text), ...more)
const locations = async () => (await inventory.list(LOCATIONS)).items.map(({ metadata }) => metadata.name)

t.test('cells of CSV', async t => {
  t.same(csvRows('a,b\r\n"x, ""y""\nz",2\n\nlast,', 9), [['a', 'b'], ['x, "y"\nz', '2'], [''], ['last', '']])
  t.same(csvRows('a;b\n1,5;2\n', 9), [
    ['a', 'b'],
    ['1,5', '2'],
  ])
  t.throws(() => csvRows('a\n"b', 9), { message: 'row 2: a quote has no end' })
  t.throws(() => csvRows('a\n"b"c\n', 9), { message: 'row 2: something follows the closing quote of a cell' })
  t.throws(() => csvRows('a\nb\nc\n', 2), { message: 'more than 2 rows; split the file' })
})

t.test('a file with mistakes makes nothing, and each mistake names its row', async t => {
  const csv =
    'name,labels,label:region,annotation:url\nshop-1,env:prod,,\nShop_2,,,\nshop-3,id=x,,\nshop-3,,eu west,\n,a=b,,\n1,2,3,4,5\ndefault,,,\nshop-4,,eu,\nshop-4,,,\n'
  t.same(await ensure('wrong.csv', csv), {
    code: 1,
    out: [],
    err: [
      `Error: ${join(dir, 'wrong.csv')} has mistakes, and nothing was made:
  row 2: shop-1: "env:prod" is no label: write NAME=VALUE, or NAME- to take one away; did you mean env=prod?
  row 3: "Shop_2" is not a valid name: use lower-case letters, digits, "-" and ".", with a letter or digit first and last, 253 characters at most
  row 4: shop-3: 'id' label may not be specified
  row 5: shop-3: syntax error in value of region=eu west: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')
  row 6: there is no name
  row 7: 5 cells, and the heading has 4; quote what holds commas
  row 8: Sorry, 'default' is not an acceptable name for these objects
  row 10: "shop-4" is there already, in row 9`,
    ],
  })
  const yaml = '- { name: a, lables: { env: prod } }\n- { name: b, labels: { open: true } }\n- text\n'
  t.match(await ensure('wrong.yaml', yaml), {
    code: 1,
    err: [
      /row 1: there is no field "lables": they are name, labels, annotations; did you mean "labels"\?\n {2}row 2: labels is no map of texts; write labels: \{ KEY: "VALUE" \}, quoted\n {2}row 3: it is no location/,
    ],
  })
  for (const [name, text, message] of [
    ['h.csv', 'name,lables\n', /row 1: there is no column "lables": they are .*; did you mean "labels"\?/],
    ['i.csv', 'name,region\n', /there is no column "region": .*; for a label write "label:region"/],
    ['j.csv', 'labels\na=b\n', /row 1: there is no column "name"/],
    ['k.csv', 'name,name\n', /the column "name" is there twice/],
    ['l.csv', 'name\n', /it names no location/],
    ['m.csv', 'name\n"x\n', /row 2: a quote has no end/],
    ['n', 'kind: [', /has mistakes/],
    ['o.csv', `name\n${'x\n'.repeat(10_001)}`, /more than 10001 rows; split the file/],
    ['p', 'x'.repeat(4 * 1024 * 1024 + 1), /is longer than 4 MiB; split it/],
  ] as const)
    t.match(await ensure(name, text), { code: 1, out: [], err: [message] }, name)
  const latin = join(dir, 'latin.csv')
  writeFileSync(latin, Buffer.from('name,annotation:city\nshop-1,Bern\nshop-2,Z\u00fcrich\n', 'latin1'))
  t.match(await ks('ensure', 'location', '-f', latin), {
    code: 1,
    err: [/has mistakes, and nothing was made:\n {2}line 3: its bytes are no UTF-8; save the file as "CSV UTF-8"$/],
  })
  t.match(await ks('ensure', 'location', '-f', join(dir, 'none')), { code: 1, err: [/none cannot be read: ENOENT/] })
  t.match(await ks('ensure', 'location', '-f', dir), { code: 1, err: [/is a folder; name a file/] })
  t.match(await ks('ensure', 'location', 'x', '-f', dir), { code: 1, err: [/in the file or on the command line/] })
  t.match(await ks('ensure', 'location'), { code: 1, err: ['Error: name the location, or a file with -f'] })
  t.same(await locations(), [])
})

t.test('what is missing is made, what differs is changed, and the last line sums up', async t => {
  const csv =
    'name,labels,label:region,annotation:url\nshop-1,env=prod ring=1,eu,"https://one, two"\nshop-2,env=prod,us,\n'
  const first = await ensure('shops.csv', csv)
  t.match(first, { code: 0, err: [] })
  t.equal(first.out.at(-1), '2 locations: 2 created, 0 changed, 0 unchanged')
  t.equal(first.out.length, 5)
  const one = await inventory.get(LOCATIONS, { name: 'shop-1' })
  t.match(one.metadata, { labels: { env: 'prod', ring: '1', region: 'eu' }, annotations: { url: 'https://one, two' } })
  t.match((await inventory.get(SYNC_TARGETS, { name: 'shop-1' })).metadata.labels, { id: 'shop-1', region: 'eu' })
  t.same(await ensure('shops.csv', csv), {
    code: 0,
    out: ['2 locations: 0 created, 0 changed, 2 unchanged'],
    err: [],
  })
  const yaml = `- name: shop-1
  labels: { ring: null }
  annotations: { url: null }
- name: shop-2
  labels: { region: us }
  annotations: { url: "https://us" }
---
name: shop-3
`
  const changed = await ensure('shops', yaml)
  t.same(changed.out.toSorted(), [
    '3 locations: 1 created, 2 changed, 0 unchanged',
    'location.edge.kubestellar.io/shop-1 unlabeled',
    'location.edge.kubestellar.io/shop-2 annotated',
    'location.edge.kubestellar.io/shop-3 created',
    'synctarget.edge.kubestellar.io/shop-1 unlabeled',
    'synctarget.edge.kubestellar.io/shop-3 created',
  ])
  const { metadata } = await inventory.get(LOCATIONS, { name: 'shop-1' })
  t.notOk(metadata.labels?.ring ?? metadata.annotations?.url)
  t.match(await ensure('names', '[{ name: shop-3 }, { name: shop-1 }]', '-o', 'name'), {
    out: [
      'synctarget.edge.kubestellar.io/shop-3',
      'location.edge.kubestellar.io/shop-3',
      'synctarget.edge.kubestellar.io/shop-1',
      'location.edge.kubestellar.io/shop-1',
    ],
  })
})

t.test('a row that the server refuses is named, and the others are made', async t => {
  await client.in('root:imw1').create(
    { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'no-bad' },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['edge.kubestellar.io'],
              apiVersions: ['*'],
              operations: ['CREATE'],
              resources: ['locations'],
            },
          ],
        },
        validations: [{ expression: "!object.metadata.name.startsWith('bad')", message: 'a bad name' }],
      },
    },
  )
  await client.in('root:imw1').create(
    { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicybindings' },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'no-bad' },
      spec: { policyName: 'no-bad', validationActions: ['Deny'] },
    },
  )
  const { code, err } = await ensure('some.csv', 'name\nbad-1\ngood-1\n')
  t.equal(code, 3)
  t.match(err[0], /^row 2: bad-1: Creation of Location failed: .*a bad name/)
  t.equal(
    err[1],
    'Error: 2 locations: 1 created, 0 changed, 0 unchanged, 1 failed; the same command again goes on with what is missing',
  )
  const many = await ensure('many.csv', `name\n${Array.from({ length: 40 }, (_, i) => `bad-x${i}`).join('\n')}\n`)
  t.match(many.err.at(-1), /^Error: 40 locations: 0 created, .*, 1\d failed, 2\d not tried/)
})
