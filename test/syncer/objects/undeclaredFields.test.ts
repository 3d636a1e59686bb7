/** Fields that a cluster's release does not know, by what it says of them. */
import t from 'tap'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import { undeclaredFields } from '../../../src/syncer/objects/undeclaredFields.ts'

const said = (message: string) => undeclaredFields(new StatusError('InternalError', message))

t.test('the fields that a cluster does not declare are found in its words, items as such', async t => {
  const intro = 'failed to create typed patch object (default/a; apps/v1, Kind=Deployment): '
  t.same(said(`${intro}.spec.template.spec.hostUsers: field not declared in schema`), ['.spec.template.spec.hostUsers'])
  t.same(
    said(
      `${intro}errors:\n  .spec.template.spec.containers[name="a]b.c"].resizePolicy: field not declared in schema\n` +
        '  .spec.ports[port=80,protocol="TCP"].appProtocol: field not declared in schema\n' +
        '  .spec.template.metadata.labels: field not declared in schema',
    ),
    ['.spec.template.spec.containers[].resizePolicy', '.spec.ports[].appProtocol', '.spec.template.metadata.labels'],
  )
  t.same(said('.spec.a: expected string, got &value.valueUnstructured{Value:1}'), [])
  t.same(said(': field not declared in schema'), [])
  t.same(undeclaredFields(new Error('.spec.a: field not declared in schema')), [])
})

t.test('what a cluster says at any length is read once', async t => {
  for (const text of ['.', '.a', '.[', '.["', '.["a.[', '["]."'])
    t.same(said(text.repeat(4_000_000 / text.length)), [], text)
  t.equal(said('.a[b]: field not declared in schema\n'.repeat(100_000)).length, 7281)
})
