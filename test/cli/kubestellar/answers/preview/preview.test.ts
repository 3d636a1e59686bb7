import t from 'tap'
import { Clusters } from '../../../../../src/cli/kubestellar/answers/clusters.ts'
import { Places } from '../../../../../src/cli/kubestellar/answers/destinations.ts'
import { previewExit } from '../../../../../src/cli/kubestellar/answers/exitCodes.ts'
import { chosenOtherwise } from '../../../../../src/cli/kubestellar/answers/preview/chosenLocations.ts'
import { diffOf, readPreview, withSentences } from '../../../../../src/cli/kubestellar/answers/preview/preview.ts'
import { previewMarkdown } from '../../../../../src/cli/kubestellar/answers/preview/previewMarkdown.ts'
import { previewText, rolloutText } from '../../../../../src/cli/kubestellar/answers/preview/previewText.ts'

const plain = { wide: false, paint: (text: string) => text }
const places = new Clusters(
  new Places(
    [
      {
        apiVersion: 'e/v1',
        kind: 'GrantedLocation',
        metadata: { name: 'imw1.florin' },
        inventory: 'root:imw1',
        location: 'florin',
      },
    ],
    [
      {
        apiVersion: 'e/v1',
        kind: 'InventoryBinding',
        metadata: { name: 'imw1' },
        spec: { path: 'root:imw1' },
        status: { cluster: 'id1' },
      },
    ],
  ),
  [],
)
const group = (action: string, count: number, more: object = {}) => ({
  action,
  count,
  locations: [{ cluster: 'id1', name: 'florin' }],
  ...more,
})
const object = (groups: object[], more: object = {}) => ({
  group: 'apps',
  resource: 'deployments',
  kind: 'Deployment',
  namespace: 'shop',
  name: 'web',
  operation: 'update',
  placements: ['p'],
  groups,
  ...more,
})

t.test('a unified diff for each group of clusters, and a summary', async t => {
  const before = { spec: { replicas: 1, image: 'a' } }
  const after = { spec: { image: 'a', replicas: 2 } }
  const answer = readPreview([object([group('Update', 3, { before, after }), group('Unchanged', 1)])], places)
  t.match(answer, { changes: true, counts: { Update: 3, Unchanged: 1 } })
  t.match(answer.objects[0]?.groups[0]?.locations, [
    { location: 'imw1.florin', inventory: 'root:imw1', name: 'florin' },
  ])
  t.same(previewText(answer, plain), [
    'deployments.apps "shop/web" updated in imw1.florin and 2 more',
    '--- now',
    '+++ then',
    '@@ -1,3 +1,3 @@',
    ' spec:',
    '   image: a',
    '-  replicas: 1',
    '+  replicas: 2',
    'deployments.apps "shop/web" unchanged in imw1.florin',
    '',
    '1 object: 3 updated, 1 unchanged in clusters',
  ])
})

t.test('what goes nowhere says why, and is no change', async t => {
  const told = [
    object([], { placements: [] }),
    object([]),
    object([], { placements: [], message: 'it travels nowhere' }),
    object([group('Conflict', 1, { message: 'another owns it' })]),
  ]
  const answer = readPreview(told, places)
  t.equal(answer.changes, false)
  t.same(previewText(answer, plain).slice(0, 4), [
    'deployments.apps "shop/web": no EdgePlacement selects it',
    'deployments.apps "shop/web": selected by p, which lead nowhere',
    'deployments.apps "shop/web": it travels nowhere',
    'deployments.apps "shop/web" in conflict in imw1.florin: another owns it',
  ])
})

t.test('texts that differ everywhere are shown as replaced as a whole, in little time', async t => {
  const lines = (word: string) => Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`${word}${i}`, word]))
  const diff = diffOf({ before: lines('a'), after: lines('b') })
  t.equal(diff.length, 2 + 6000)
  t.equal(diff[2], '-a0: a')
})

t.test('an edit of location selectors tells which locations it would choose', async t => {
  const row = (name: string, env: string) => ({ apiVersion: 'e/v1', kind: 'X', metadata: { name, labels: { env } } })
  const granted = [row('imw1.a', 'prod'), row('imw1.b', 'prod'), row('imw1.c', 'test')]
  const choosing = (env: string) => ({
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'EdgePlacement',
    metadata: { name: 'p' },
    spec: { locationSelectors: [{ matchLabels: { env } }] },
  })
  const sentence = chosenOtherwise(choosing('prod'), choosing('test'), granted)
  t.equal(sentence, 'its locationSelectors would choose 1 (imw1.c) more and 2 (imw1.a, imw1.b) fewer')
  t.equal(chosenOtherwise(choosing('prod'), choosing('prod'), granted), undefined)
  t.match(chosenOtherwise(undefined, choosing('prod'), granted), /choose 2 \(imw1.a, imw1.b\) more$/)
  const told = object([], { kind: 'EdgePlacement', name: 'p', message: 'moves 0 other objects of this space' })
  const sentences = new Map([['p', sentence!]])
  const message = /^moves 0 other objects of this space; its locationSelectors/
  const answer = withSentences(readPreview([{ ...told, moves: moves({ clusters: 0 }) }], places), sentences)
  t.match(answer, { changes: false, unknown: undefined, objects: [{ message }] }, 'nothing is there that would move')
  t.equal(previewExit(answer), 0)
})

const moves = (more: object = {}) => ({ creates: 0, deletes: 0, unknown: 0, clusters: 1, locations: [], ...more })

t.test(
  'what an EdgePlacement moves is counted whether it is shown or not, and what the brake would hold is told',
  async t => {
    const locations = [{ cluster: 'id1', name: 'florin', creates: 0, deletes: 60, unknown: 0 }]
    const told = [
      object([], {
        kind: 'EdgePlacement',
        name: 'p',
        message: 'moves 60 other objects of this space; 1 are shown',
        moves: moves({ deletes: 60, isHeld: true, locations }),
      }),
      object([group('Delete', 1)], { isMoved: true }),
    ]
    const answer = readPreview(told, places)
    t.match(answer, { changes: true, counts: { Delete: 60 } })
    t.equal(previewExit(answer), 1)
    t.same(previewText(answer, plain), [
      'deployments.apps "shop/p": moves 60 other objects of this space; 1 are shown',
      '  copies: 60 deleted in 1 cluster',
      '    imw1.florin: 60 deleted',
      '  the brake would hold these deletions (DeletionHeld on the EdgePlacement) until somebody confirms them; what is created comes at once',
      'deployments.apps "shop/web" deleted in imw1.florin',
      '',
      '2 objects: 60 deleted in clusters; deletions would be held until they are confirmed',
    ])
    const unsure = readPreview([object([], { unknown: 'who knows', message: 'm' }), ...told], places)
    t.match(previewText(unsure, plain).at(-1), /60 deleted in clusters; what else would change is not known; deletions/)
    t.equal(previewExit(unsure), 1)
  },
)

t.test('exit codes: what a cluster would refuse is no change to go on with, nor is what nobody knows', async t => {
  const code = (...actions: string[]) =>
    previewExit(readPreview([object(actions.map(action => group(action, 1)))], places))
  t.equal(code('Unchanged', 'Paused', 'Conflict', 'NotPermitted'), 0)
  t.equal(code('Create', 'Unknown'), 1)
  t.equal(code('Create', 'Invalid'), 2)
  t.equal(code('Unchanged', 'Unknown'), 2)
  const deleting = (count: number, more: object = {}) =>
    previewExit(readPreview([object([group('Delete', count)], more)], places), 2)
  t.equal(deleting(2), 1)
  t.equal(deleting(3), 3)
  t.equal(deleting(1, { unknown: 'who knows', message: 'm' }), 2, 'it may be more')
  t.equal(deleting(1, { moves: moves({ isPartial: true }), message: 'm' }), 2)
})

t.test('a comment of a pull request: what others wrote stays text', async t => {
  const fence = '```'
  const after = { data: { x: `${fence}\n<script>` } }
  const conflict = group('Conflict', 1, { message: 'of | @others `rm`\n<b>' })
  const answer = readPreview([object([group('Create', 7, { after }), conflict, group('Unchanged', 1)])], places)
  const lines = previewMarkdown(answer).split('\n')
  t.match(lines.slice(0, 6), [
    '**1 object: 7 created, 1 in conflict, 1 unchanged in clusters**',
    '',
    '| object | change | clusters |',
    '|---|---|---|',
    '| `deployments.apps "shop/web"` | `created` | `imw1.florin and 6 more` |',
    '| `deployments.apps "shop/web"` | `in conflict: of \\| @others \'rm\' <b>` | `imw1.florin` |',
  ])
  t.ok(
    lines.includes(
      '<details><summary><code>deployments.apps "shop/web" created in imw1.florin and 6 more</code></summary>',
    ),
  )
  t.ok(lines.includes('````diff'), 'the fence is longer than what it holds')
  const many = readPreview(
    Array.from({ length: 999 }, () => object([group('Create', 1, { after })])),
    places,
  )
  t.ok(previewMarkdown(many).length <= 61_000)
  t.match(previewMarkdown(many), /and 799 more/)
})

t.test('the stages of a rollout, with groups, gates and clusters that are away', async t => {
  const at = (name: string, more: object = {}) => ({ cluster: 'id1', name, ...more })
  const groups = [
    { name: 'canary', count: 1, locations: [at('florin')] },
    {
      name: 'prod',
      approval: true,
      windows: ['Mon 09:00-16:00 Etc/UTC'],
      count: 7,
      locations: [at('a', { away: true })],
    },
  ]
  const rollouts = [
    {
      placement: 'web',
      minSuccessSeconds: 5400,
      windows: ['daily 08:00-18:00 Etc/UTC'],
      stages: [
        { atOnce: 1, mayFail: 0, groups: [groups[0]] },
        { atOnce: 2, mayFail: 1, groups: [groups[1], { count: 0, locations: [] }] },
      ],
    },
    { placement: 'shop', pinned: 3, stages: [{ atOnce: 1, mayFail: 0, groups: [{ count: 1, locations: [at('b')] }] }] },
  ]
  const answer = readPreview([], places, [...rollouts, rollouts[0]!])
  t.equal(answer.rollouts.length, 2, 'several answers may have the same')
  t.match(answer.rollouts[0]?.stages[0]?.groups[0]?.locations, [{ location: 'imw1.florin', isAway: false }])
  const lines = [
    'rollout of web: 2 stages; each cluster is done after 1h30m of health; clusters begin within daily 08:00-18:00 Etc/UTC',
    '  1. 1 at once, 0 may fail',
    '     group canary: imw1.florin',
    '  2. 2 at once, 1 may fail',
    '     group prod, after an approval, within Mon 09:00-16:00 Etc/UTC: a (away) and 6 more',
    '     clusters in no group: no cluster',
    'rollout of shop: 1 stage',
    '  1. 1 at once, 0 may fail',
    '     clusters in no group: b',
    '  pinned: clusters keep revision 3 until `kubectl kubestellar rollout unpin shop`',
  ]
  t.strictSame(previewText(answer, plain).slice(0, lines.length), lines)
  t.match(previewMarkdown(answer), /^- `1\. 1 at once, 0 may fail`$/m)
  const [unknown] = readPreview([], places, [{ placement: 'big', stages: [], message: 'too much' }]).rollouts
  t.strictSame(rolloutText(unknown!, { wide: false }), ['rollout of big: too much'])
})
