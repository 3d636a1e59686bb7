/** The limit of objects and spaces of a server: it is reported before, refuses new ones, and lets all else go on. */
import t from 'tap'
import type { BudgetDocument } from '../../../src/apiserver/spaces/budgetDocument.ts'
import { defaultServerLimit, ServerLimits, serverUse } from '../../../src/apiserver/spaces/serverLimits.ts'
import { MAILBOX_OVERHEAD_OBJECTS } from '../../../src/placement/spaces/spaceBudget.ts'
import { CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'

const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const ZERO = { objects: 0, bytes: 0, syncTargets: 0, spaces: 0, carriedObjects: 0, carriedBytes: 0 }
const keyOf = (resource: string, group = '') => ({ space: 's', group, resource, namespace: '', name: 'x' })

function limits(objects: number | undefined, spaces: number | undefined) {
  const lines: string[] = []
  const note = (level: string) => (fields: object, text: string) =>
    void lines.push(`${level} ${JSON.stringify(fields)} ${text.split(/[;,:]/)[0]}`)
  const log = { warn: note('warn'), info: note('info') } as never
  return { limits: new ServerLimits({ objects, spaces }, log), lines }
}

t.test('the default follows the heap', async t => {
  t.strictSame(defaultServerLimit(4 * 2 ** 30), { objects: 2_097_152, spaces: 209_715 })
})

t.test('four copies in mailboxes count as one object, and a mailbox by its SyncTarget', async t => {
  t.strictSame(serverUse(undefined, undefined), { objects: 0, spaces: 0 })
  const all = { ...ZERO, objects: 109, spaces: 12 }
  t.strictSame(serverUse(all, { ...ZERO, objects: 9, spaces: 5 }), { objects: 103, spaces: 7 })
})

t.test('a limit is reported once from four fifths on, each by itself, and its end', async t => {
  const { limits: one, lines } = limits(100, 10)
  one.report({ objects: 79, spaces: 7 })
  t.strictSame(lines, [])
  one.report({ objects: 80, spaces: 7 })
  one.report({ objects: 90, spaces: 7 })
  one.report({ objects: 76, spaces: 8 })
  one.report({ objects: 80, spaces: 8 })
  t.strictSame(lines.splice(0), [
    'warn {"what":"objects","used":80,"limit":100} the server holds four fifths of the objects that it may',
    'warn {"what":"spaces","used":8,"limit":10} the server holds four fifths of the spaces that it may',
  ])
  one.report({ objects: 74, spaces: 8 })
  one.report({ objects: 80, spaces: 8 })
  t.match(lines, [/^info .*room for objects again/, /^warn .*the objects/])
  const { limits: none, lines: silence } = limits(undefined, undefined)
  none.report({ objects: 1e9, spaces: 1e9 })
  t.strictSame(silence, [])
  t.equal(none.refusal(keyOf('configmaps'), { objects: 1e9, spaces: 1e9 }, false), undefined)
})

t.test('who needs room for more than one object, or for a space, is refused earlier', async t => {
  const { limits: one } = limits(100, 10)
  const refused = (resource: string, group: string, use: { objects: number; spaces: number }, isInRoot = false) =>
    one.refusal(keyOf(resource, group), use, isInRoot)?.causes[0]?.field
  const EDGE_GROUP = 'edge.kubestellar.io'
  t.equal(refused('configmaps', '', { objects: 99, spaces: 10 }), undefined)
  t.equal(refused('configmaps', '', { objects: 100, spaces: 0 }), 'objects')
  t.equal(refused('synctargets', EDGE_GROUP, { objects: 99 - MAILBOX_OVERHEAD_OBJECTS, spaces: 9 }), undefined)
  t.equal(refused('synctargets', EDGE_GROUP, { objects: 100 - MAILBOX_OVERHEAD_OBJECTS, spaces: 9 }), 'objects')
  t.equal(refused('synctargets', EDGE_GROUP, { objects: 0, spaces: 10 }), 'spaces')
  t.equal(refused('workspaces', 'tenancy.kcp.io', { objects: 0, spaces: 10 }, true), 'spaces', 'in the root, too')
  t.equal(refused('clusterrolebindings', 'rbac.authorization.k8s.io', { objects: 100, spaces: 10 }, true), undefined)
  t.equal(refused('singleplacementslices', EDGE_GROUP, { objects: 100, spaces: 10 }), undefined)
  for (const resource of ['placementcontents', 'placementrevisions', 'placementrollouts'])
    t.equal(refused(resource, EDGE_GROUP, { objects: 100, spaces: 10 }), undefined, 'an edit of a staged placement')
  t.equal(refused('singleplacementslices', 'example.com', { objects: 100, spaces: 10 }), 'objects')
})

t.test(
  'a server that is full refuses what is new in two spaces; the rest, its own work and its root go on',
  async t => {
    const { api } = await startTestServer(t, { more: { serverLimit: { objects: 600, spaces: 8 } } })
    const ids = [await createSpace(api, 'one'), await createSpace(api, 'two')]
    const [one, two] = ids.map(id => api.in(id!)) as [typeof api, typeof api]
    const metric = async (what: string): Promise<number> => {
      const { text } = await api.get('/metrics')
      return Number(new RegExp(`^orrery_server_limit_used_ratio\\{what="${what}"\\} (.+)$`, 'm').exec(text)?.[1])
    }
    await api.ok(two.post(CONFIGMAPS, configMap('mine')))
    const slice = {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'SinglePlacementSlice',
      metadata: { name: 's' },
      destinations: [],
    }
    let made = 0
    let last = await one.post(CONFIGMAPS, configMap('c-0'))
    while (last.code === 201 && made < 600) last = await one.post(CONFIGMAPS, configMap(`c-${++made}`))
    t.match(last, {
      code: 403,
      body: {
        reason: 'Forbidden',
        message: `configmaps "c-${made}" is forbidden: the server holds as many objects as it may (600); delete objects that nobody needs, or ask an administrator of the server for more (--max-objects, "kubectl ws budget" in root)`,
        details: { causes: [{ reason: 'BudgetExceeded', field: 'objects' }] },
      },
    })
    t.equal(await metric('objects'), 1)
    t.match(await api.ok(api.get('/budget')), { used: { objects: 600 }, limits: { objects: 600, spaces: 8 } })
    t.equal((await two.post(CONFIGMAPS, configMap('theirs'))).code, 403, 'whoever filled it')
    t.equal((await two.put(`${CONFIGMAPS}/mine`, configMap('mine', { longer: 'x'.repeat(5000) }))).code, 200)
    t.equal((await api.post(WORKSPACES, { metadata: { name: 'three' } })).code, 403)
    t.equal((await api.post(CONFIGMAPS, configMap('repair'))).code, 201, 'in the root')
    const espw = api.in('root:espw')
    const mailbox = {
      metadata: { name: 'x-mb-11111111-1111-4111-8111-111111111111' },
      spec: { type: { name: 'mailbox', path: 'root' } },
    }
    const before = await metric('spaces')
    t.match(await espw.post(WORKSPACES, mailbox), { code: 201 }, 'a mailbox')
    t.equal(await metric('spaces'), before)
    t.equal((await one.post(`${EDGE}/singleplacementslices`, slice)).code, 201, 'where a placement leads')
    t.equal((await two.delete(`${CONFIGMAPS}/mine`)).code, 200)
    t.ok((await metric('objects')) >= 1)
    for (let i = 0; i < 20; i++) await api.ok(one.delete(`${CONFIGMAPS}/c-${i}`))
    t.equal((await two.post(CONFIGMAPS, configMap('theirs'))).code, 201, 'there is room again')
  },
)

t.test('a server whose spaces are all used takes objects, and no space', async t => {
  const { api } = await startTestServer(t, { more: { serverLimit: { spaces: 6 } } })
  let made = 0
  let last = await api.post(WORKSPACES, { metadata: { name: 's-0' } })
  while (last.code === 201 && made < 6) last = await api.post(WORKSPACES, { metadata: { name: `s-${++made}` } })
  t.match(last, { code: 403, body: { message: /the server holds as many spaces as it may \(6\); delete spaces that/ } })
  t.equal((await api.post(CONFIGMAPS, configMap('more'))).code, 201)
  const gone = await api.watch(`${WORKSPACES}?watch=1&fieldSelector=metadata.name=s-0`)
  await api.ok(api.delete(`${WORKSPACES}/s-0`))
  await gone.until(event => event.type === 'DELETED')
  gone.close()
  t.equal((await api.post(WORKSPACES, { metadata: { name: 'after' } })).code, 201)
})

t.test(
  'a server starts whatever it holds: with less room than it has, and where an initial space is missing',
  async t => {
    const started = await startTestServer(t, { more: { serverLimit: { objects: 5, spaces: 1 } } })
    const { api } = started
    t.equal((await api.post(WORKSPACES, { metadata: { name: 'more' } })).code, 403)
    const gone = await api.watch(`${WORKSPACES}?watch=1&fieldSelector=metadata.name=compute`)
    await api.ok(api.delete(`${WORKSPACES}/compute`))
    await gone.until(event => event.type === 'DELETED')
    gone.close()
    const again = await started.restart({ serverLimit: { objects: 4, spaces: 1 } })
    t.equal((await again.api.in('root:wmw1').post(CONFIGMAPS, configMap('more'))).code, 403)
  },
)

t.test('a space that is taken as the last object becomes ready', async t => {
  const started = await startTestServer(t)
  const { used } = (await started.api.ok(started.api.get('/budget'))) as unknown as BudgetDocument
  const { api } = await started.restart({ serverLimit: { objects: used.objects + 1 } })
  const last = api.in(await createSpace(api, 'last'))
  for (const name of ['default', 'kube-system', 'kube-public'])
    t.equal((await last.get(`/api/v1/namespaces/${name}`)).code, 200, name)
  t.equal((await last.post('/api/v1/namespaces', { metadata: { name: 'another' } })).code, 403)
})
