// Facts from a stored Workspace, in each of its forms.
import t from 'tap'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { glanceAt, OWNER_ANNOTATION, ownerName, viewOf, workFor } from '../../../src/apiserver/spaces/workspace.ts'
import { BUDGET_ANNOTATIONS, budgetOf } from '../../../src/placement/spaces/spaceBudget.ts'
import { versionOf } from '../../../src/storage/texts.ts'

function stored(object: object) {
  const key = { space: 'root', group: 'tenancy.kcp.io', resource: 'workspaces', namespace: '', name: 'w' }
  const whole = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'w' }, ...object }
  return versionOf(key, 1, encodeObject(whole))
}

t.test('an owner that is not told is nobody, and no reason to fail', async t => {
  const owner = (text: string) => ownerName(viewOf(stored({ metadata: { annotations: { [OWNER_ANNOTATION]: text } } })))
  t.equal(owner('{"username":"alice","groups":["g"]}'), 'alice')
  for (const text of ['', '{', 'alice', '"alice"', 'null', '[]', '{}', '{"username":7}', '{"username":""}'])
    t.equal(owner(text), undefined, text)
  t.equal(ownerName(viewOf(stored({}))), undefined)
})

t.test('what remains to be done', async t => {
  const work = (object: object) => workFor(viewOf(stored(object)))
  const spec = { cluster: 'abc' }
  t.equal(work({}), undefined, 'no space yet')
  t.equal(work({ spec }), 'provision')
  t.equal(work({ spec, status: { phase: 'Scheduling' } }), 'provision')
  t.equal(work({ spec, status: { phase: 'Ready' } }), undefined)
  t.equal(work({ spec, status: 7 }), 'provision')
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z' }
  t.equal(work({ spec, metadata, status: { phase: 'Ready' } }), 'empty')
})

t.test('a glance tells what a look at all of it does', async t => {
  const spec = { type: { name: 'mailbox' }, cluster: 'abc' }
  const budget = { [BUDGET_ANNOTATIONS.objects]: '7' }
  for (const object of [
    {},
    { spec },
    { spec, status: { phase: 'Ready' } },
    { spec, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } },
    { spec, metadata: { annotations: { a: '"deletionTimestamp"', b: '"},"spec":{"cluster":"b"}' } } },
    { spec, metadata: { annotations: budget } },
    { spec: 7, metadata: { annotations: { ...budget, [OWNER_ANNOTATION]: '{"username":"alice"}' } } },
    { spec: { cluster: 7, type: 'x' }, a: { spec } },
    { spec: { cluster: 'é"},{' } },
  ]) {
    const [glance, view] = [glanceAt(stored(object)), viewOf(stored(object))]
    const { id, parent, name, type, deleting } = view
    const { annotations, ...seen } = glance
    t.strictSame(seen, { id, parent, name, type, deleting })
    t.strictSame(budgetOf(type, annotations), budgetOf(type, view.object.metadata.annotations))
  }
  const { key } = stored({})
  t.throws(() => glanceAt(versionOf(key, 1, { head: '{"v":', tail: '' })), SyntaxError)
})
