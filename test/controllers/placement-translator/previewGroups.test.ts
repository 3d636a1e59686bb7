import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { MAX_GROUP_LOCATIONS, MAX_PREVIEW_CONTENT_BYTES } from '../../../src/apimachinery/placementPreview.ts'
import { PreviewGroups } from '../../../src/controllers/placement-translator/previewGroups.ts'

const map = (data: Record<string, string>, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', ...metadata },
  data,
})
const way = (locationName: string) => ({ mailbox: `m-${locationName}`, cluster: 'inv1', locationName })

t.test('clusters are named up to a bound, and all are counted', async t => {
  const found = new PreviewGroups().begin(map({}))
  for (let i = 0; i < MAX_GROUP_LOCATIONS + 50; i++) found.add('Create', way(`l${i}`), undefined, { after: map({}) })
  const [group, ...others] = found.groups()
  t.same(others, [])
  t.equal(group?.count, MAX_GROUP_LOCATIONS + 50)
  t.equal(group?.locations.length, MAX_GROUP_LOCATIONS)
})

t.test('contents are shown of so many groups and bytes; the rest is told all the same', async t => {
  const groups = new PreviewGroups()
  const found = groups.begin(map({}))
  for (let i = 0; i < 60; i++) found.add('Create', way(`l${i}`), undefined, { after: map({ i: `${i}` }) })
  const told = found.groups()
  t.equal(told.length, 60)
  t.equal(told.filter(({ after }) => after !== undefined).length, 50)
  t.match(told[59], { action: 'Create', message: /ask about fewer objects/ })
  const large = groups.begin(map({}))
  large.add('Create', way('l'), undefined, { after: map({ v: 'x'.repeat(MAX_PREVIEW_CONTENT_BYTES) }) })
  large.add('Create', way('m'), undefined, { after: map({ v: 'y' }) })
  t.match(large.groups(), [{ message: /too much to be shown/, after: undefined }, { after: { data: { v: 'y' } } }])
})

t.test('bookkeeping makes no difference', async t => {
  const found = new PreviewGroups().begin(map({}))
  const owned = {
    annotations: { 'edge.kubestellar.io/owner': 'space1', 'edge.kubestellar.io/projected-keys': '{}', mine: '1' },
  }
  const before = map(
    {},
    { ...owned, uid: 'u', resourceVersion: '1', labels: { 'edge.kubestellar.io/projected': 'yes' } },
  )
  const after = map({}, { annotations: { mine: '1', 'edge.kubestellar.io/owner': 'space2' } })
  found.add('Update', way('l'), undefined, { before, after })
  t.match(found.groups(), [{ action: 'Unchanged', count: 1, before: undefined, after: undefined }])
})
