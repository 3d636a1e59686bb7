/** Each mark on an object stands in the table of marks, which decides where it goes. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { createdCopy, project } from '../../../src/placement/content/projection.ts'
import { goesToCluster, goesToMailbox, isShownMark, MARKS, NOTES } from '../../../src/placement/words/marks.ts'
import * as words from '../../../src/placement/words/placement.ts'

/** Annotations that workload objects, their copies and what of them is in clusters do not have. */
const ELSEWHERE = [
  'CARRIES_ANNOTATION',
  'CONFIRM_DELETION_ANNOTATION',
  'FORCE_DETACH_ANNOTATION',
  'LEAVE_ANNOTATION',
  'RELEASE_OWNER_ANNOTATION',
  'SELECTED_KINDS_ANNOTATION',
  'STANDBY_ANNOTATION',
  'SYNC_TARGET_NAME_ANNOTATION',
]
const MARK =
  /_ANNOTATION$|^(DOWNSYNCED|UPSYNCED|UPSYNCED_FOR|ASSOCIATED_WITH|OVERWRITE|ADOPT|CREATE_ONLY|KEEP_ON_DELETE|WAVE)$/

t.test('an annotation among the words of placement is in the table, or is said to be on other kinds', async t => {
  const keys = Object.entries(words).filter(([name]) => MARK.test(name) && !ELSEWHERE.includes(name))
  t.strictSame(
    keys.flatMap(([name, key]) => (Object.hasOwn(MARKS, String(key)) ? [] : [name])),
    [],
  )
})

t.test("authors do not write what is the center's or a syncer's to say, and are told what is noted", async t => {
  for (const [key, { by, toMailbox }] of Object.entries(MARKS)) if (by !== 'author') t.notOk(toMailbox, key)
  t.strictSame(NOTES.toSorted(), [
    'edge.kubestellar.io/customization-error',
    'edge.kubestellar.io/object-conflict',
    'kubestellar.io/executing-count',
  ])
  for (const key of NOTES) t.notOk(goesToMailbox(key) || goesToCluster(key), key)
})

t.test("a server's own keys go nowhere and are not shown; an author's own go everywhere", async t => {
  for (const goes of [goesToMailbox, goesToCluster, isShownMark]) {
    t.notOk(goes('kcp.io/cluster'))
    t.notOk(goes('internal.kcp.io/shard'))
    t.ok(goes('example.com/kcp.io'))
    t.ok(goes('notkcp.io/cluster'))
  }
})

t.test('a copy has the marks that go to a mailbox and no value of the others', async t => {
  const annotations = Object.fromEntries(Object.keys(MARKS).map(key => [key, 'said']))
  const source: KubeObject = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'n', annotations },
  }
  const copied = createdCopy(project('w', source)).metadata.annotations ?? {}
  for (const [key, { toMailbox }] of Object.entries(MARKS)) t.equal(copied[key] === 'said', toMailbox, key)
})
