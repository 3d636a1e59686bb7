import t from 'tap'
import { JsonDigests } from '../../../../src/apimachinery/jsonDigests.ts'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { atOnce } from '../../../../src/apimachinery/steps.ts'
import { PreviewGroups } from '../../../../src/controllers/placement/preview/previewGroups.ts'
import { MAX_GROUP_LOCATIONS, MAX_PREVIEW_CONTENT_BYTES } from '../../../../src/placement/desks/placementPreview.ts'

const map = (data: Record<string, string>, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  data,
})
const way = (locationName: string) => ({ mailbox: `m-${locationName}`, cluster: 'inv1', locationName })

t.test('clusters are named up to a bound, and all are counted', async t => {
  const found = new PreviewGroups(new JsonDigests()).begin(map({}))
  for (let i = 0; i < MAX_GROUP_LOCATIONS + 50; i++) atOnce(found.show('Create', way(`l${i}`), { after: map({}) }))
  const [group, ...others] = found.groups()
  t.same(others, [])
  t.equal(group?.count, MAX_GROUP_LOCATIONS + 50)
  t.equal(group?.locations.length, MAX_GROUP_LOCATIONS)
})

t.test('contents are shown of so many groups and bytes; the rest is told all the same', async t => {
  const groups = new PreviewGroups(new JsonDigests())
  const found = groups.begin(map({}))
  for (let i = 0; i < 60; i++) atOnce(found.show('Create', way(`l${i}`), { after: map({ i: `${i}` }) }))
  const told = found.groups()
  t.equal(told.length, 60)
  t.equal(told.filter(({ after }) => after !== undefined).length, 50)
  t.match(told[59], { action: 'Create', message: /ask about fewer objects/ })
  const large = groups.begin(map({}))
  atOnce(large.show('Create', way('l'), { after: map({ v: 'x'.repeat(MAX_PREVIEW_CONTENT_BYTES) }) }))
  atOnce(large.show('Create', way('m'), { after: map({ v: 'y' }) }))
  t.match(large.groups(), [{ message: /too much to be shown/, after: undefined }, { after: { data: { v: 'y' } } }])
  const wide = groups.begin(map({}))
  atOnce(wide.show('Create', way('l'), { after: map({ v: 'ü'.repeat(MAX_PREVIEW_CONTENT_BYTES / 2) }) }))
  t.match(wide.groups(), [{ message: /too much to be shown/, after: undefined }], 'letters of two bytes')
})

t.test('bookkeeping makes no difference', async t => {
  const found = new PreviewGroups(new JsonDigests()).begin(map({}))
  const owned = {
    annotations: { 'edge.kubestellar.io/owner': 'space1', 'edge.kubestellar.io/projected-keys': '{}', mine: '1' },
  }
  const before = map(
    {},
    { ...owned, uid: 'u', resourceVersion: '1', labels: { 'edge.kubestellar.io/projected': 'yes' } },
  )
  const after = map({}, { annotations: { mine: '1', 'edge.kubestellar.io/owner': 'space2' } })
  atOnce(found.show('Update', way('l'), { before, after }))
  t.match(found.groups(), [{ action: 'Unchanged', count: 1, before: undefined, after: undefined }])
})
