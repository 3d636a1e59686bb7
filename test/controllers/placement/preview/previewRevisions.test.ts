// The difference of two revisions of a placement, and of one and the present, for those who may get the objects.
import t from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import type { Client } from '../../../../src/client/client.ts'
import { previewRevisions } from '../../../../src/controllers/placement/preview/previewRevisions.ts'
import {
  MAX_COMPARED,
  MAX_COMPARED_BYTES,
  type RevisionsWish,
} from '../../../../src/placement/desks/comparedRevisions.ts'
import type { ObjectPreview, RevisionsRequest } from '../../../../src/placement/desks/placementPreview.ts'
import { objectKey } from '../../../../src/placement/words/names.ts'
import {
  CUSTOMIZER_ANNOTATION,
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  EXECUTING_COUNT_ANNOTATION,
  EXPAND_ANNOTATION,
  LOCATIONS,
  PLACEMENT_CONTENTS,
} from '../../../../src/placement/words/placement.ts'
import { ONE_BY_ONE, rolloutWorld } from '../rollout/rolloutWorld.ts'
import { ALL_MAPS, configMap, MAPS } from '../translatorWorld.ts'

const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const ALL = { downsync: [{ apiGroup: '', resources: ['configmaps', 'secrets'], namespaces: ['commonstuff'] }] }
const everything = async () => true

async function scene(t: Parameters<typeof rolloutWorld>[0]) {
  const here = await rolloutWorld(t)
  const { report, make, place, pass, previewer } = here
  await report('florin')
  await report('guilder')
  await make('page', '1')
  await make('other', '1')
  await place('ep', { ...ALL, rolloutStrategy: ONE_BY_ONE }, 'florin')
  await place('beside', { ...ALL_MAPS, rolloutStrategy: ONE_BY_ONE }, 'guilder')
  await pass(3000)
  const compare = async (wish: Partial<RevisionsWish>, mayGet: typeof everything | MayGet = everything) =>
    await previewer().compare({ space: 'wds1', placement: 'ep', from: 1, ...wish, mayGet })
  return { ...here, compare }
}
type MayGet = (resource: GroupVersionResource) => Promise<boolean>

const shown = ({ objects }: { objects: readonly ObjectPreview[] }) =>
  objects.map(({ name, groups: [group], revision }) => [
    name,
    group!.action,
    (group!.before?.data as Record<string, string>)?.a,
    (group!.after?.data as Record<string, string>)?.a,
    revision,
  ])

t.test('what an edit changed, what came and what left, beside the revision before and beside now', async t => {
  const { compare, edit, make, wds, pass } = await scene(t)
  t.strictSame(shown(await compare({ from: 0, to: 1 })), [
    ['other', 'Create', undefined, '1', undefined],
    ['page', 'Create', undefined, '1', undefined],
  ])
  await edit('page', '2')
  await pass(3000)
  await edit('page', '3')
  await make('new', '1')
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'other' })
  await pass(3000)
  t.strictSame(shown(await compare({ from: 1, to: 2 })), [['page', 'Update', '1', '2', 1]])
  const third = [
    ['new', 'Create', undefined, '1', undefined],
    ['other', 'Delete', '1', undefined, 1],
  ]
  t.strictSame(shown(await compare({ from: 2, to: 3 })), [...third, ['page', 'Update', '2', '3', 2]])
  t.strictSame(shown(await compare({ from: 1 })), [...third, ['page', 'Update', '1', '3', 1]], 'and now')
  t.strictSame(shown(await compare({ from: 3 })), [])
  t.strictSame(shown(await compare({ from: 3, to: 1 })).length, 3, 'backwards, too')
  await edit('page', '4')
  t.strictSame(shown(await compare({ from: 3 })), [['page', 'Update', '3', '4', 3]], 'an edit without a revision')
  const objects = [{ group: '', resource: 'configmaps', namespace: 'commonstuff', name: 'other' }]
  t.strictSame(shown(await compare({ from: 2, objects })), [['other', 'Delete', '1', undefined, 1]])
  t.strictSame(shown(await compare({ from: 1, to: 2, objects })), [['other', 'Unchanged', undefined, undefined, 1]])
  await t.rejects(compare({ from: 4 }), { message: /"ep\.4" not found/ })
  await t.rejects(compare({ placement: 'pe' }), { message: /"pe\.1" not found/ })
})

t.test('Secrets are hashes, and for those alone who may get them; so is what else is not theirs', async t => {
  const { compare, wds, pass, edit } = await scene(t)
  const secret = (data: Record<string, string>) => ({ ...configMap('s', data), kind: 'Secret' })
  await wds.create(SECRETS, secret({ same: 'c2FtZQ==', other: 'b25l' }))
  await pass(3000)
  await wds.update(SECRETS, secret({ same: 'c2FtZQ==', other: 'dHdv' }))
  await edit('page', '2')
  await pass(3000)
  const all = await compare({ from: 2, to: 3 })
  const [group] = all.objects.find(({ name }) => name === 's')!.groups
  const [before, after] = [group!.before!.data, group!.after!.data] as Record<string, string>[]
  t.match(before, { same: /^hash:/, other: /^hash:/ })
  t.equal(before!.same, after!.same)
  t.not(before!.other, after!.other)
  t.notMatch(JSON.stringify(all), /c2FtZQ|b25l|dHdv/)
  const some = await compare({ from: 2, to: 3 }, async ({ resource }: GroupVersionResource) => resource !== 'secrets')
  t.match(some, { hidden: 1, objects: [{ name: 'page' }] })
  t.equal(some.objects.length, 1)
})

t.test('a Customizer that objects name is part of what changes', async t => {
  const { compare, wds, pass, server } = await scene(t)
  const customizer = (value: string) => ({
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'Customizer',
    metadata: { name: 'c', namespace: 'commonstuff' },
    replacements: [{ path: '$.data.a', value }],
  })
  await wds.create(CUSTOMIZERS, customizer('"x"'))
  await wds.update(MAPS, configMap('page', { a: '1' }, { annotations: { [CUSTOMIZER_ANNOTATION]: 'c' } }))
  await pass(3000)
  await wds.update(CUSTOMIZERS, customizer('"y"'))
  await server.quiet()
  const { objects } = await compare({ from: 2 })
  t.match(objects, [{ resource: 'customizers', name: 'c', groups: [{ action: 'Update' }] }])
  t.equal(objects.length, 1)
})

t.test("Locations that a revision keeps are the inventory's, and not shown", async t => {
  const { compare, wds, pass, server } = await scene(t)
  const annotations = { [EXPAND_ANNOTATION]: 'true' }
  await wds.update(MAPS, configMap('page', { a: 'in %(zone)' }, { annotations }))
  const relabel = async (zone: string) => {
    const location = server.peek('inv1', LOCATIONS, 'florin')!
    const labels = { ...location.metadata.labels, zone }
    await server.in('inv1').update(LOCATIONS, { ...location, metadata: { ...location.metadata, labels } })
    await pass(3000)
  }
  await relabel('x')
  await relabel('y')
  t.strictSame(shown(await compare({ from: 2, to: 3 })), [])
  t.strictSame(shown(await compare({ from: 2 })), [])
})

t.test('a note of the center on an object is no difference', async t => {
  const { compare, wds, server, pass } = await scene(t)
  await wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', { spec: { wantSingletonReportedState: true } })
  await wds.delete(EDGE_PLACEMENTS, { name: 'beside' })
  await pass(3000)
  const { annotations = {} } = server.peek('wds1', MAPS, 'page', 'commonstuff')!.metadata
  t.ok(annotations[EXECUTING_COUNT_ANNOTATION])
  t.strictSame(shown(await compare({ from: 1 })), [])
})

/** Revision 1 has these objects, and before it there was nothing. */
async function compareStored(
  resource: GroupVersionResource,
  objects: readonly KubeObject[],
  more: Partial<RevisionsRequest> = {},
) {
  const specs = objects.map(object => ({
    placementUID: 'u',
    key: objectKey(resource, '', object.metadata.name!),
    from: 1,
    resource,
    object,
  }))
  let reads = 0
  const api = {
    list: async () => ({ items: specs.map((spec, i) => ({ metadata: { name: String(i) }, spec })) }),
    get: async ({ resource: of }: GroupVersionResource, { name }: { name: string }) => {
      if (of !== PLACEMENT_CONTENTS.resource) return { spec: { placement: 'ep', placementUID: 'u' } }
      reads++
      return { spec: specs[Number(name)] }
    },
  }
  const client = { in: () => api } as unknown as Client
  const deps = { client, join: { workload: () => t.fail() as never }, knows: () => true }
  const wish = { space: 's', placement: 'ep', from: 0, to: 1, mayGet: everything, ...more }
  return { ...(await previewRevisions(deps, wish)), reads: () => reads }
}
const KIND = { group: 'acme.io', version: 'v1', resource: 'parts' }
const part = (i: number, fields: object = {}): KubeObject => ({
  ...{ apiVersion: 'acme.io/v1', kind: 'Part' },
  metadata: { name: `p${i}`, resourceVersion: String(i + 1) },
  ...fields,
})
const parts = (count: number, fields: object = {}) => Array.from({ length: count }, (_, i) => part(i, fields))

t.test('objects beyond the bounds of a comparison are counted, each once', async t => {
  const found = await compareStored(KIND, parts(MAX_COMPARED + 1))
  t.equal(found.objects.length, MAX_COMPARED)
  t.match(found, { more: 1, hidden: undefined })
  const refused = await compareStored(KIND, parts(MAX_COMPARED + 3), { mayGet: async (_, { name }) => name !== 'p0' })
  t.match(refused, { more: 2, hidden: 1 })
  const large = await compareStored(KIND, parts(70, { spec: { text: 'x'.repeat(MAX_COMPARED_BYTES / 64) } }))
  t.equal(large.objects.length, 64)
  t.match(large, { more: 6 })
})

t.test('objects of a kind that is called as Locations are shown', async t => {
  const { objects } = await compareStored({ ...KIND, resource: 'locations' }, parts(1))
  t.match(objects, [{ group: 'acme.io', resource: 'locations', name: 'p0' }])
})

t.test('nothing is read for those who have gone', async t => {
  const found = await compareStored(KIND, parts(3), { gone: AbortSignal.abort() })
  t.equal(found.reads(), 0)
})
