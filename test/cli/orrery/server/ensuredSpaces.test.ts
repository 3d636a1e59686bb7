/** `--ensure-imw` and `--ensure-wmw`. */
import t from 'tap'
import { WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import { embeddedClient } from '../../../../src/apiserver/embedded/embeddedClient.ts'
import { ensuredSpaces, ensureSpaces } from '../../../../src/cli/orrery/server/ensuredSpaces.ts'
import type { Client } from '../../../../src/client/client.ts'
import { INVENTORY_BINDINGS, PLACEMENT_GRANTS } from '../../../../src/placement/words/placement.ts'
import { startTestServer } from '../../../support/server.ts'

t.test('paths are below the root, with or without its name', async t => {
  t.same(ensuredSpaces({ ensureImw: ['root:a:b', 'c', ':root:d', '', 'c'], ensureWmw: undefined }), {
    inventories: ['root:a:b', 'root:c', 'root:d'],
    workloads: [],
  })
  for (const wrong of ['root', 'A', 'root::a', 'a/b'])
    t.throws(() => ensuredSpaces({ ensureWmw: [wrong] }), {
      message: `--ensure-wmw: "${wrong}" is no path of a space below the root, such as root:wmw1`,
    })
})

t.test('what is missing is made, and what is there stays', async t => {
  const { server } = await startTestServer(t)
  const { services, store, tree } = server
  const client = embeddedClient({ services, store, tree, component: 'bootstrap' })
  const lines: string[] = []
  const note = (level: string) => (fields: { path?: unknown }, text: string) =>
    void lines.push(`${level} ${fields.path}: ${text}`)
  const log = { info: note('info'), warn: note('warn'), error: note('error') }
  const wanted = { inventories: ['root:team:imw'], workloads: ['root:team:wmw', 'root:espw'] }
  await ensureSpaces(client, wanted, log)
  const typeOf = async (parent: string, name: string) =>
    ((await client.in(parent).get(WORKSPACES, { name })).spec as { type: { name: string } }).type.name
  t.equal(await typeOf('root:team', 'imw'), 'inventory')
  t.equal(await typeOf('root:team', 'wmw'), 'workload')
  const bindings = await client.in('root:team:wmw').list(INVENTORY_BINDINGS)
  t.same(
    bindings.items.map(binding => binding.spec),
    [{ path: 'root:team:imw' }],
  )
  const grants = await client.in('root:team:imw').list(PLACEMENT_GRANTS)
  t.match(grants.items, [{ spec: { spaces: [{ path: 'root:team:wmw' }] } }])
  t.match(
    lines.filter(line => !line.startsWith('info')),
    [/^warn root:espw: .* and of another type/],
  )
  await client.in('root:team:wmw').delete(INVENTORY_BINDINGS, { name: bindings.items[0]!.metadata.name! })
  lines.length = 0
  await ensureSpaces(client, { ...wanted, workloads: ['root:team:wmw'] }, log)
  t.same((await client.in('root:team:wmw').list(INVENTORY_BINDINGS)).items, [], 'what a user deleted stays away')
  t.same(lines, [])
})

t.test('what cannot be made is told, and the others are made all the same', async t => {
  const asked: string[] = []
  const refuse = async (): Promise<never> => {
    throw new Error('no room')
  }
  const client = {
    in: (space: string) => {
      asked.push(space)
      return { get: refuse }
    },
  } as unknown as Client
  const lines: unknown[] = []
  const log = { info() {}, warn() {}, error: (fields: object, text: string) => void lines.push({ ...fields, text }) }
  await ensureSpaces(client, { inventories: ['root:a'], workloads: ['root:b:c'] }, log)
  t.match(lines, [
    { path: 'root:a', type: 'inventory', err: { message: 'no room' } },
    { path: 'root:b:c', type: 'workload', err: { message: 'no room' } },
  ])
  t.same(asked, ['root', 'root'])
})
