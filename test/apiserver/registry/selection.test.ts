/** Selectors of a list or watch. */
import t from 'tap'
import { selectionFor, selectorParts } from '../../../src/apiserver/registry/selection.ts'
import { heart, refused } from './support.ts'

t.test('a selector has so many requirements and values and no more', async t => {
  const type = (await heart(t)).type('v1/configmaps')
  const select = (labelSelector: string, fieldSelector?: string) =>
    selectionFor(type, undefined, { labelSelector, fieldSelector })
  const keys = (count: number) => Array.from({ length: count }, (_, i) => `!k${i}`).join(',')
  t.notOk(select(keys(1000)).everything)
  const values = `k in (${Array.from({ length: 1000 }, (_, i) => `v${i}`).join(',')})`
  const labelled = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { labels: { k: 'v999' } } }
  t.ok(select(values).matches(labelled))
  for (const [labels, fields] of [
    [keys(1001), undefined],
    [keys(1000), 'metadata.name=a'],
  ] as const)
    t.throws(() => select(labels, fields), {
      ...refused('BadRequest'),
      message: /labelSelector and fieldSelector have 1001 requirements and values; they may have 1000 together/,
    })
  t.equal(selectorParts({ labelSelector: 'a,b in (c,d)', fieldSelector: 'metadata.name=x' }), 4)
  t.equal(selectorParts({}), 0)
})
