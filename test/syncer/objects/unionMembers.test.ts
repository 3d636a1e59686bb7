/** A choice that was made anew, beside what the cluster still holds of the old one. */
import t from 'tap'
import { EMPTY_SET, fromFieldsV1 } from '../../../src/apimachinery/apply/fieldSet.ts'
import { StatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { choiceOf } from '../../../src/syncer/objects/unionMembers.ts'

const object = (spec: object): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', uid: 'u' },
  spec,
})
const invalid = (field: string) =>
  new StatusError('Invalid', 'no', { causes: [{ reason: 'FieldValueForbidden', message: 'no', field }] })
const REFUSED = invalid('spec.strategy.rollingUpdate')
const body = object({ strategy: { type: 'Recreate' } })
const live = object({ strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } })

t.test('what nobody says makes room in the same write', async t => {
  t.same(choiceOf(REFUSED, body, live, EMPTY_SET), [
    { op: 'test', path: '/metadata/uid', value: 'u' },
    { op: 'remove', path: '/spec/strategy/rollingUpdate' },
    { op: 'add', path: '/spec/strategy/type', value: 'Recreate' },
  ])
})

t.test('an item of a list is found by its name, wherever it is', async t => {
  const configMap = { name: 'x' }
  const there = object({ volumes: [{ name: 'a' }, { name: 'v', emptyDir: {} }] })
  const wanted = object({ volumes: [{ name: 'v', configMap }] })
  t.same(choiceOf(invalid('spec.volumes[0].configMap'), wanted, there, EMPTY_SET), [
    { op: 'test', path: '/metadata/uid', value: 'u' },
    { op: 'test', path: '/spec/volumes/1/name', value: 'v' },
    { op: 'remove', path: '/spec/volumes/1/emptyDir' },
    { op: 'add', path: '/spec/volumes/1/name', value: 'v' },
    { op: 'add', path: '/spec/volumes/1/configMap', value: configMap },
  ])
})

t.test('what somebody says stays, and so does any other refusal', async t => {
  const others = fromFieldsV1({ 'f:spec': { 'f:strategy': { 'f:rollingUpdate': { 'f:maxSurge': {} } } } })
  t.equal(choiceOf(REFUSED, body, live, others), undefined)
  t.equal(choiceOf(invalid('spec.replicas'), body, object({ strategy: {} }), EMPTY_SET), undefined)
  t.equal(choiceOf(invalid('metadata.name'), body, live, EMPTY_SET), undefined)
  t.equal(choiceOf(new StatusError('Conflict', 'no'), body, live, EMPTY_SET), undefined)
})
