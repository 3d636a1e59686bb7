/** Which spaces give way in a mailbox: as long as its SyncTarget names them, and no longer. */
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { Releases } from '../../../../src/controllers/placement/mailboxes/releases.ts'
import { RELEASE_OWNER_ANNOTATION } from '../../../../src/placement/words/placement.ts'
import { mailboxOf } from '../../../../src/placement/words/topology.ts'

const AT = { space: 'inv1', name: 'florin' }

function target(uid: string, text?: string): KubeObject {
  const annotations = text === undefined ? {} : { [RELEASE_OWNER_ANNOTATION]: text }
  return {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'SyncTarget',
    metadata: { name: 'florin', uid, annotations },
  }
}

const mailboxFor = (uid: string): string => mailboxOf({ space: AT.space, object: target(uid) })

t.test('a release ends when its SyncTarget names it no more, is gone, or is another one', t => {
  for (const [end, after] of [
    ['withdrawn', target('u1')],
    ['deleted', undefined],
    ['made anew', target('u2', 'wds1')],
  ] as const) {
    const releases = new Releases()
    releases.set(AT, target('u1', 'wds1'))
    t.strictSame(releases.of(mailboxFor('u1')), ['wds1'], end)
    releases.set(AT, after)
    t.strictSame(releases.of(mailboxFor('u1')), [], end)
  }
  t.end()
})

t.test('only news names a mailbox to look at', t => {
  const releases = new Releases()
  t.equal(releases.set(AT, target('u1')), undefined)
  t.equal(releases.set(AT, target('u1', 'wds1, root:wds2')), mailboxFor('u1'))
  t.strictSame(releases.of(mailboxFor('u1')), ['wds1', 'root:wds2'])
  t.equal(releases.set(AT, target('u1', 'wds1,root:wds2,')), undefined)
  t.equal(releases.set(AT, target('u1', 'wds1')), mailboxFor('u1'))
  t.equal(releases.set({ ...AT, name: 'guilder' }, undefined), undefined)
  t.strictSame(releases.of(mailboxFor('u1')), ['wds1'])
  t.end()
})
