/** Managers' claims may be most of an object: a patch without them does not copy them. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { type PatchForm, patched } from '../../../src/apiserver/operations/patch.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'

const type = new TypeRegistry(loadCatalog().types).in('root').find('', 'v1', 'configmaps')!
const claim = {
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': {} },
}
const current = (): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'c', namespace: 'n', uid: 'u', managedFields: [claim], labels: { a: 'b' } },
    data: { a: 'b' },
  }) as KubeObject

const patch = (form: PatchForm, body: unknown) => {
  const object = current()
  const before = structuredClone(object)
  const result = patched(type, object, form, body, { subresource: '' })
  t.strictSame(object, before, 'what is patched stays as it is')
  return {
    claims: result.metadata.managedFields,
    members: [...Object.keys(result), ...Object.keys(result.metadata)],
    isShared: result.metadata.managedFields === object.metadata.managedFields,
  }
}

t.test('a patch of other fields leaves them where they are', async t => {
  for (const [form, body] of [
    ['merge', { metadata: { labels: { a: 'c' } } }],
    ['merge', { data: { a: 'c' } }],
    ['strategic', { metadata: { labels: { a: 'c' } }, data: { a: 'c' } }],
    ['json', [{ op: 'add', path: '/metadata/labels/x', value: 'y' }]],
    ['json', [{ op: 'copy', from: '/data', path: '/metadata/annotations' }]],
  ] as const) {
    const { isShared, members } = patch(form, body)
    t.ok(isShared, `${form} ${JSON.stringify(body)}`)
    const before = ['apiVersion', 'kind', 'metadata', 'data', 'name', 'namespace', 'uid', 'managedFields', 'labels']
    t.same(members.slice(0, before.length), before, 'refusals show them in their order')
  }
})

t.test('one that asks for them, or changes them, finds them', async t => {
  const other = { ...claim, manager: 'other' }
  const path = '/metadata/managedFields'
  for (const [form, body, claims] of [
    ['merge', { metadata: { managedFields: [other] } }, [other]],
    ['merge', { metadata: { managedFields: null } }, undefined],
    ['strategic', { metadata: { managedFields: [other] } }, [other]],
    ['strategic', { metadata: { $patch: 'replace', name: 'c', namespace: 'n' } }, undefined],
    ['json', [{ op: 'replace', path, value: [other] }], [other]],
    ['json', [{ op: 'replace', path: `${path}/0/manager`, value: 'other' }], [other]],
    ['json', [{ op: 'remove', path }], undefined],
    ['json', [{ op: 'test', path: `${path}/0/manager`, value: 'm' }], [claim]],
    ['json', [{ op: 'replace', path: '/metadata', value: { name: 'c', namespace: 'n' } }], undefined],
    [
      'json',
      [
        { op: 'copy', from: path, path: '/x' },
        { op: 'remove', path },
      ],
      undefined,
    ],
  ] as const)
    t.strictSame(patch(form, body).claims, claims, `${form} ${JSON.stringify(body)}`)
})
