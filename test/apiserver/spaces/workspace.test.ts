// What is read of a stored Workspace, however it came to say so.
import t from 'tap'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { OWNER_ANNOTATION, ownerName, viewOf, workFor } from '../../../src/apiserver/spaces/workspace.ts'
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
