/** Fields that an apply releases, and those that stay in the cluster all the same. */
import t from 'tap'
import { EMPTY_SET, toFieldsV1 } from '../../../src/apimachinery/apply/fieldSet.ts'
import type { FieldsV1, KubeObject } from '../../../src/apimachinery/object.ts'
import {
  claimOf,
  declaredAtCreation,
  LEFT_MANAGER,
  leftCopy,
  releasedBy,
  toHandOver,
} from '../../../src/syncer/objects/handOver.ts'
import { SYNCER_MANAGER } from '../../../src/syncer/objects/marks.ts'

const claim = (manager: string, fieldsV1: FieldsV1) => ({
  manager,
  operation: 'Apply' as const,
  apiVersion: 'apps/v1',
  fieldsType: 'FieldsV1' as const,
  fieldsV1,
})
const container = (fields: object) => ({ name: 'c', image: 'i', ...fields })
const object = (spec: object, ...managedFields: ReturnType<typeof claim>[]): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'app', uid: 'u', resourceVersion: '7', managedFields },
  spec,
})
const MINE = claim(SYNCER_MANAGER, {
  'f:metadata': { 'f:labels': { 'f:gone': {} } },
  'f:spec': {
    'f:replicas': {},
    'f:paused': {},
    'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:image': {}, 'f:tty': {} } },
  },
})
const live = object(
  { replicas: 3, paused: true, progressDeadlineSeconds: 9, containers: [container({ tty: true })] },
  MINE,
  claim(LEFT_MANAGER, { 'f:spec': { 'f:progressDeadlineSeconds': {} } }),
)

t.test('an apply that says all that it said before lets go of nothing', async t => {
  const copy = object({ replicas: 4, paused: false, containers: [container({ tty: false })] })
  t.same(releasedBy(copy, live), { undeclared: EMPTY_SET, left: EMPTY_SET })
})

t.test('what defaults would change is handed over; what would be gone, or is a default already, is not', async t => {
  const { undeclared: released } = releasedBy(object({ containers: [container({})] }), live)
  t.same(toFieldsV1(released), {
    'f:spec': { 'f:containers': { 'k:{"name":"c"}': { 'f:tty': {} } }, 'f:paused': {}, 'f:replicas': {} },
  })
  const without = object({ replicas: 1, progressDeadlineSeconds: 9, containers: [container({ tty: true })] })
  const handed = toHandOver(released, live, without)
  t.same(toFieldsV1(handed), { 'f:spec': { 'f:replicas': {} } })
  t.same(
    leftCopy(live, handed),
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'app', uid: 'u', resourceVersion: '7' },
      spec: { replicas: 3, progressDeadlineSeconds: 9 },
    },
    'with what was left before',
  )
})

t.test('a map that is gone from the source as a whole stays nowhere, also where others own keys of it', async t => {
  const data = (manager: string, ...keys: string[]) =>
    claim(manager, { 'f:data': Object.fromEntries(keys.map(key => [`f:${key}`, {}])) })
  const map = (values: object | undefined, ...managedFields: ReturnType<typeof claim>[]): KubeObject => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'm', uid: 'u', resourceVersion: '7', managedFields },
    ...(values && { data: values }),
  })
  const there = map(
    { ours: '1', both: '2', theirs: '3' },
    data(SYNCER_MANAGER, 'ours', 'both'),
    data('them', 'both', 'theirs'),
  )
  const { undeclared } = releasedBy(map(undefined), there)
  const handed = toHandOver(undeclared, there, map({ both: '2', theirs: '3' }))
  t.same(toFieldsV1(handed), {}, 'nothing of it is handed over, and ours is gone')
  const changed = toHandOver(undeclared, there, map({ ours: 'a default', both: '2', theirs: '3' }))
  t.same(toFieldsV1(changed), { 'f:data': { 'f:ours': {} } }, 'but for what a default would change')
})

t.test('what is left of a list item names the item', async t => {
  const { undeclared: released } = releasedBy(object({ replicas: 3, paused: true, containers: [container({})] }), live)
  const without = object({ replicas: 3, paused: true, containers: [container({ tty: false })] })
  t.match(leftCopy(live, toHandOver(released, live, without)), { spec: { containers: [{ name: 'c', tty: true }] } })
})

t.test('of a creation what was sent is owned, and not what the cluster filled in', async t => {
  const port = (containerPort: number) => ({
    [`k:{"containerPort":${containerPort},"protocol":"TCP"}`]: { '.': {}, 'f:containerPort': {}, 'f:protocol': {} },
  })
  const created = {
    ...claim(SYNCER_MANAGER, {
      'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
      'f:spec': {
        'f:replicas': {},
        'f:strategy': { 'f:type': {}, 'f:rollingUpdate': { '.': {}, 'f:maxSurge': {} } },
        'f:template': {
          'f:containers': {
            'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:pullPolicy': {}, 'f:ports': { '.': {}, ...port(80) } },
            'k:{"name":"injected"}': { '.': {}, 'f:name': {}, 'f:image': {} },
          },
        },
        'f:empty': { '.': {}, 'f:size': {} },
        'f:finalizers': { '.': {}, 'v:"x"': {} },
      },
    }),
    operation: 'Update' as const,
  }
  const other = { ...claim('controller', { 'f:status': {} }), subresource: 'status' }
  const copy = object({
    strategy: { type: 'RollingUpdate' },
    template: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] },
    empty: {},
    finalizers: ['x'],
  })
  copy.metadata.labels = { a: 'b' }
  const made = object({}, other as never, created as never)
  const said = declaredAtCreation(copy, made)!
  t.same(toFieldsV1(said), {
    'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
    'f:spec': {
      'f:strategy': { 'f:type': {} },
      'f:template': {
        'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:ports': { '.': {}, ...port(80) } } },
      },
      'f:finalizers': { '.': {}, 'v:"x"': {} },
    },
  })
  const at = '/metadata/managedFields/1'
  t.same(claimOf(made, said), [
    { op: 'test', path: '/metadata/uid', value: 'u' },
    { op: 'test', path: `${at}/manager`, value: SYNCER_MANAGER },
    { op: 'test', path: `${at}/operation`, value: 'Update' },
    { op: 'replace', path: `${at}/operation`, value: 'Apply' },
    { op: 'replace', path: `${at}/fieldsV1`, value: toFieldsV1(said) },
  ])
  t.equal(
    declaredAtCreation(object({ a: 1 }), object({ a: 1 }, claim(SYNCER_MANAGER, { 'f:spec': { 'f:a': {} } }))),
    undefined,
  )
  t.equal(claimOf(live), undefined, 'of what was applied')
  t.equal(claimOf(object({})), undefined)
})
