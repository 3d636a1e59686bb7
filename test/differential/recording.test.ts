/** Names of a recording's steps, and the judges of their answers. */
import t from 'tap'
import type { Verdict } from './compare.ts'
import { countsOf } from './counts.ts'
import type { Opinion } from './judges.ts'
import type { Outcome } from './play.ts'
import { judged } from './recording.ts'
import { get, merge, post, type Script, type Step } from './script.ts'
import { stepIds } from './stepIds.ts'

const steps: readonly Step[] = [
  post('/api/v1/namespaces/{ns}/configmaps', { metadata: { name: 'a' } }),
  merge('/api/v1/namespaces/{ns}/configmaps/a', { data: { k: 'v' } }),
  get('/api/v1/namespaces/{ns}/configmaps/a'),
]
const script: Script = { name: 'no-such-recording', steps }
const outcomes: readonly Outcome[] = steps.map((_, i) => ({ code: 200 + i, headers: {} }))
const SAME: Verdict = { unexplained: [], explained: [], idle: [] }
const says = (verdicts: readonly (Verdict | undefined)[], judge = 'kube-apiserver v1.20.2'): Opinion => ({
  judge,
  verdicts,
})
const agreed = judged(script, outcomes, [says([SAME, SAME, SAME])], []).recorded

t.test('a step that is put in between renames no other', async t => {
  const [first, ...rest] = steps
  const more = stepIds([first!, get('/api/v1/namespaces/{ns}/secrets'), ...rest])
  t.strictSame(
    stepIds(steps),
    more.filter((_, i) => i !== 1),
  )
  t.equal(new Set(more).size, 4)
})

t.test('what is made of the answer does not rename a step; what is asked does', async t => {
  const path = '/api/v1/namespaces/{ns}/pods'
  const plain = stepIds([get(path)])[0]
  t.strictSame(stepIds([get(path, { only: ['code'], since: '1.30', save: { rv: 'metadata' } })]), [plain])
  for (const rest of [{ as: 'somebody' }, { headers: { Accept: 'application/yaml' } }, { watch: 1 }])
    t.notSame(stepIds([get(path, rest)]), [plain])
})

t.test('equal requests are counted', async t => {
  const [id] = stepIds([steps[2]!])
  t.strictSame(stepIds([steps[2]!, steps[2]!, steps[2]!]), [id, `${id}-2`, `${id}-3`])
})

t.test('a recording names its judges, with the parts in which they answer otherwise', async t => {
  const inPart = { ...SAME, explained: ['body.message', 'body.details'] }
  const today = says([undefined, SAME, undefined], 'apiextensions-apiserver v1.36.4')
  const { recorded, refused } = judged(script, outcomes, [says([SAME, inPart, SAME]), today], [])
  t.strictSame(refused, [])
  t.strictSame(
    recorded.map(line => line.judges),
    [
      { 'kube-apiserver v1.20.2': [] },
      { 'apiextensions-apiserver v1.36.4': [], 'kube-apiserver v1.20.2': ['body.details', 'body.message'] },
      { 'kube-apiserver v1.20.2': [] },
    ],
  )
})

t.test('what nobody judged is refused, unless the script says why nobody can', async t => {
  const [id] = stepIds(steps)
  const first = `${id} POST /api/v1/namespaces/{ns}/configmaps`
  const refusedFor = (verdict: Verdict | undefined, rest: Partial<Step> = {}): string[] => {
    const its: Script = { ...script, steps: steps.map((step, i) => (i === 0 ? { ...step, ...rest } : step)) }
    return judged(its, outcomes, [says([verdict, SAME, SAME])], []).refused
  }
  t.strictSame(refusedFor(undefined), [first], 'nobody was asked')
  t.strictSame(refusedFor({ ...SAME, unexplained: [{ path: 'code', ours: 1, theirs: 2 }] }), [first], 'it disagrees')
  t.strictSame(refusedFor({ ...SAME, explained: ['body', 'code'] }), [first], 'another code is no agreement')
  t.strictSame(refusedFor(undefined, { since: '1.30: newer' }), [])
  t.strictSame(refusedFor({ ...SAME, explained: ['code'] }, { unlike120: { code: 'it says 500' } }), [])
  t.strictSame(refusedFor({ ...SAME, explained: [''] }, { unlike120: { '?': 'another wording' } }), [])
  t.strictSame(
    refusedFor(undefined, { unlikeToday: { '': 'x' } }),
    [first],
    'a reason about a peer that is not the script’s',
  )
})

t.test('without peers, answers that are as they were keep their judges; others are refused', async t => {
  t.strictSame(judged(script, outcomes, [], agreed), { recorded: agreed, refused: [] })
  const changed = outcomes.map((outcome, i) => (i === 1 ? { ...outcome, code: 500 } : outcome))
  const { recorded, refused } = judged(script, changed, [], agreed)
  t.strictSame(refused, [`${agreed[1]!.id} PATCH (merge) /api/v1/namespaces/{ns}/configmaps/a`])
  t.equal(recorded[1]!.judges, undefined)
  t.strictSame(recorded[2], agreed[2])
})

t.test('a peer that is here has the last word, whatever its version', async t => {
  const { recorded, refused } = judged(
    script,
    outcomes,
    [says([SAME, SAME, undefined], 'kube-apiserver v1.31.0')],
    agreed,
  )
  t.strictSame(recorded[0]!.judges, { 'kube-apiserver v1.31.0': [] })
  t.equal(refused.length, 1)
})

t.test('the counts say how many steps each judged, and where nobody did', async t => {
  const inPart = { ...agreed[0]!, judges: { 'kube-apiserver v1.20.2': ['body'] } }
  const { judges: _, ...line } = agreed[1]!
  const recordings = new Map([
    ['one', agreed],
    ['two', [inPart, { ...line, unjudged: 'why' }]],
  ])
  t.strictSame(countsOf(recordings), [
    '5 steps',
    '4 judged by kube-apiserver v1.20.2, 1 of them in part',
    '1 judged by nobody: two 1',
  ])
})
