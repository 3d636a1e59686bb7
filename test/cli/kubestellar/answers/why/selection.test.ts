import t from 'tap'
import type { KubeObject } from '../../../../../src/apimachinery/object.ts'
import { explainSelection } from '../../../../../src/cli/kubestellar/answers/why/selection.ts'
import { compilePlacement, downsyncs, type Matchable } from '../../../../../src/placement/select/placementSpec.ts'
import { keyOfTest, recordOf } from '../../../../../src/placement/select/selectedKinds.ts'
import { SELECTED_KINDS_ANNOTATION } from '../../../../../src/placement/words/placement.ts'
import * as fc from '../../../../support/fastCheck.ts'

const placement = (downsync: unknown[], upsync: unknown[] = []): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'EdgePlacement',
  metadata: { name: 'p' },
  spec: { downsync, upsync },
})
const secret: Matchable = {
  resource: { group: '', resource: 'secrets' },
  namespace: 'shop',
  name: 'db',
  labels: { tier: 'db' },
}
const told = (test: object, object = secret, namespaceLabels: Record<string, string> | undefined = { team: 'a' }) => {
  const { nearest } = explainSelection(placement([test]), object, namespaceLabels)
  return nearest?.misses.map(({ field, message }) => `${field.replace('spec.downsync[0].', '')}: ${message}`)
}

t.test('each criterion says what it wants and what the object is', async t => {
  t.same(told({ resources: ['configmaps'] }), ['resources: names "configmaps", this is "secrets"'])
  t.same(told({ apiGroup: 'apps' }), ['apiGroup: wants group "apps", this is of the core group'])
  t.same(told({ namespaces: ['a', 'b'] }), ['namespaces: names "a", "b", this is in "shop"'])
  t.same(told({ namespaces: ['a'] }, { ...secret, namespace: '' }), ['namespaces: names "a", this is cluster-scoped'])
  t.same(told({ objectNames: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }), [
    'objectNames: names "a", "b", "c", "d", "e" and 2 more, this is "db"',
  ])
  t.same(told({ labelSelectors: [{ matchLabels: { tier: 'web', app: 'x' } }, { matchLabels: { tier: 'web' } }] }), [
    'labelSelectors: wants tier=web, has tier=db',
  ])
  t.same(told({ labelSelectors: [{ matchExpressions: [{ key: 'app', operator: 'Exists' }] }] }), [
    'labelSelectors: wants app, has no label app',
  ])
  t.match(told({ labelSelectors: [{ matchExpressions: [{ key: 'app', operator: 'Nope' }] }] })?.[0], /Nope/)
  t.same(told({ namespaceSelectors: [{ matchLabels: { team: 'b' } }] }), [
    'namespaceSelectors: its namespace: wants team=b, has team=a',
  ])
  const selector = [{ matchLabels: { team: 'b' } }]
  const unread = explainSelection(placement([{ namespaceSelectors: selector }]), secret, undefined)
  t.match(unread.nearest?.misses, [{ message: 'the labels of namespace "shop" cannot be read' }])
})

t.test(
  'a kind that the author of a wide test may not read is named, with the command that has it judged again',
  async t => {
    const wide = { labelSelectors: [{ matchLabels: { tier: 'db' } }] }
    const limits = new Map([[keyOfTest(wide), { kinds: ['configmaps', '*.apps'], skipped: ['secrets'] }]])
    const annotations = { [SELECTED_KINDS_ANNOTATION]: recordOf(limits)! }
    const limited = { ...placement([wide]), metadata: { name: 'p', annotations } }
    const explain = (resource: Matchable['resource']) => explainSelection(limited, { ...secret, resource }, {})
    t.match(explain(secret.resource), {
      selects: false,
      nearest: {
        misses: [
          {
            field: 'spec.downsync[0]',
            message: /without secrets\. .*kubectl annotate edgeplacement p edge\.kubestellar\.io/,
          },
        ],
      },
    })
    t.match(explain({ group: '', resource: 'configmaps' }), { selects: true })
    t.match(explain({ group: 'apps', resource: 'deployments' }), { selects: true })
    t.match(explain({ group: 'batch', resource: 'jobs' }), { selects: false })
  },
)

t.test('of several tests the one that is nearest is told, and the one that passes', async t => {
  const object = placement([
    { resources: ['configmaps'] },
    { resources: ['secrets'], labelSelectors: [{ matchLabels: { tier: 'web' } }] },
    { resources: ['secrets'], namespaces: ['other'] },
  ])
  t.match(explainSelection(object, secret, {}), { selects: false, nearest: { test: 'spec.downsync[1]' } })
  const passing = explainSelection(object, { ...secret, namespace: 'other' }, {})
  t.same(passing, { selects: true, by: 'spec.downsync[2]' })
  t.match(explainSelection(placement([]), secret, {}), { selects: false, message: /no test/ })
  const sets = [
    { apiGroup: 'apps', resources: ['*'], namespaces: ['*'], names: ['*'] },
    { apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['db'] },
  ]
  t.match(explainSelection(placement([{}], sets), secret, {}), { selects: true, heldBackBy: 'spec.upsync[1]' })
})

t.test('it selects what the translator selects', async t => {
  const word = fc.constantFrom('a', 'b', '*')
  const words = fc.option(fc.array(word, { maxLength: 2 }), { nil: undefined })
  const labels = fc.dictionary(fc.constantFrom('x', 'y'), fc.constantFrom('1', '2'))
  const selectors = fc.option(fc.array(fc.record({ matchLabels: labels }), { maxLength: 2 }), { nil: undefined })
  const test = fc.record({
    apiGroup: fc.option(fc.constantFrom('', 'a'), { nil: undefined }),
    resources: words,
    namespaces: words,
    objectNames: words,
    labelSelectors: selectors,
    namespaceSelectors: selectors,
  })
  const object = fc.record({
    resource: fc.record({ group: fc.constantFrom('', 'a'), resource: fc.constantFrom('a', 'b') }),
    namespace: fc.constantFrom('', 'a', 'b'),
    name: fc.constantFrom('a', 'b'),
    labels,
  })
  fc.assert(
    fc.property(fc.array(test, { maxLength: 3 }), object, labels, (tests, one, namespaceLabels) => {
      const spec = placement(tests)
      const { selects } = explainSelection(spec, one, namespaceLabels)
      t.equal(selects, downsyncs(compilePlacement(spec), one, namespaceLabels))
    }),
    { numRuns: 300 },
  )
})
