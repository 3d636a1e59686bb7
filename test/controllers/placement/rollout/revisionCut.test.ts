/** The author of a revision is the manager of its newest edit, and never the center that noted something on the object. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { factOf } from '../../../../src/controllers/placement/join/workloads.ts'
import { ContentRows } from '../../../../src/controllers/placement/rollout/contentRows.ts'
import { cutRevision } from '../../../../src/controllers/placement/rollout/revisionCut.ts'
import { FIELD_MANAGER, objectKey } from '../../../../src/placement/words/names.ts'
import { configMap, MAPS } from '../translatorWorld.ts'

async function authorOf(...managedFields: object[][]): Promise<string | undefined> {
  return (await cutOf(new ContentRows(), managedFields))?.by
}

async function cutOf(rows: ContentRows, managedFields: object[][], ofPlacement: object[] = []) {
  const objects = managedFields.map((fields, i) => configMap(`m${i}`, { a: '1' }, { managedFields: fields }))
  const selected = objects.map((object, i) => {
    const { name = '', namespace = '' } = object.metadata
    const at = { object, resource: MAPS, namespace, name, revision: i + 1 }
    return { fact: factOf(at, objectKey(MAPS, namespace, name)), implied: false }
  })
  const read = async ({ name }: { name: string }): Promise<KubeObject | undefined> =>
    objects.find(({ metadata }) => metadata.name === name)
  const { metadata } = configMap('ep', {}, { managedFields: ofPlacement })
  return await cutRevision(rows, {
    selected,
    read,
    customizer: () => undefined,
    locations: () => new Map(),
    placement: async () => ({ apiVersion: 'v1', kind: 'EdgePlacement', metadata }),
  })
}
const at = (second: number, manager: string, more: object = {}) => ({
  ...{ manager, time: `2026-11-30T10:00:0${second}Z`, operation: 'Update' },
  ...more,
})

t.test('the newest edit of all objects counts, also one of the scale', async t => {
  t.equal(await authorOf([at(1, 'kubectl')], [at(3, 'argocd'), at(2, 'helm')]), 'argocd')
  t.equal(await authorOf([at(1, 'kubectl'), at(4, 'hpa', { subresource: 'scale' })]), 'hpa')
})

t.test('a note of the center and a returned status make nobody an author', async t => {
  t.equal(await authorOf([at(1, 'kubectl'), at(2, FIELD_MANAGER)]), 'kubectl')
  t.equal(await authorOf([at(1, 'kubectl'), at(2, 'any', { subresource: 'status' })]), 'kubectl')
})

t.test('an edit of the selector is by its editor, and not by the last one of the objects that come', async t => {
  const rows = new ContentRows()
  rows.commit(1, { by: 'kubectl', at: '2026-11-30T10:00:05Z', objects: 0 })
  t.equal((await cutOf(rows, [[at(1, 'helm')]], [at(6, 'argocd')]))?.by, 'argocd')
  t.equal((await cutOf(rows, [[at(7, 'helm')]], [at(6, 'argocd')]))?.by, 'helm')
  t.equal((await cutOf(rows, [[at(1, 'helm')]], [at(2, 'argocd')]))?.by, '', 'a label of a Namespace brought it')
})

t.test('a revision of a deletion has no author: the edits of before are no edits of it', async t => {
  const rows = new ContentRows()
  rows.commit(1, { by: 'kubectl', at: '2026-11-30T10:00:05Z', objects: 1 })
  rows.add({
    ...{ name: 'r', key: objectKey(MAPS, 'commonstuff', 'gone'), from: 1, resource: MAPS, implied: false, digest: 'd' },
    ...{ fact: undefined, customizer: undefined, location: undefined, reads: [], seen: 1 },
  })
  const cut = await cutOf(rows, [], [at(2, 'argocd')])
  t.match(cut, { by: '', closed: [{ name: 'r' }] })
})
