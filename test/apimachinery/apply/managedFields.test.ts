import t from 'tap'
import { fromFieldsV1, intersection, isEmptySet, pathsOf, union } from '../../../src/apimachinery/apply/fieldSet.ts'
import { applyInSteps, trackInSteps } from '../../../src/apimachinery/apply/managedFields.ts'
import { compare } from '../../../src/apimachinery/apply/typed.ts'
import { isStatusError } from '../../../src/apimachinery/errors.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../../src/apimachinery/object.ts'
import type { Schema } from '../../../src/apimachinery/schema.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { cloneJson, equalJson } from '../../../src/apimachinery/values.ts'
import * as fc from '../../support/fastCheck.ts'
import { deployment, deploymentSchema, zeroDeployment } from './deploymentSchema.ts'

const trackUpdate = (options: Parameters<typeof trackInSteps>[0]) => atOnce(trackInSteps(options))
const applyServerSide = (options: Parameters<typeof applyInSteps>[0]) => atOnce(applyInSteps(options))

const gr = { group: 'apps', resource: 'deployments' }
const common = { schema: deploymentSchema, apiVersion: 'apps/v1' }
const at = (second: number) => `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`
type Spec = Record<string, unknown>

const config = (spec?: Spec, metadata: Record<string, unknown> = {}): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default', ...metadata },
  ...(spec && { spec }),
})
const containers = (...list: unknown[]): Spec => ({ template: { spec: { containers: list } } })

function apply(
  live: KubeObject | undefined,
  applied: KubeObject,
  manager = 'a',
  second = 0,
  force = false,
): KubeObject {
  return applyServerSide({ ...common, live, applied, manager, force, now: at(second), gr })
}
function update(before: KubeObject | undefined, after: KubeObject, manager = 'u', second = 0): KubeObject {
  const { managedFields: _sent, ...metadata } = after.metadata
  const managedFields = trackUpdate({ ...common, before, after, manager, now: at(second) })
  return { ...after, metadata: managedFields ? { ...metadata, managedFields } : metadata }
}
function change(before: KubeObject, spec: Spec, manager = 'u', second = 0): KubeObject {
  return update(before, { ...cloneJson(before), spec: { ...cloneJson(before.spec as Spec), ...spec } }, manager, second)
}
const claims = (object: KubeObject) =>
  (object.metadata.managedFields ?? []).map(e => `${e.manager} ${e.operation} ${JSON.stringify(e.fieldsV1)}`)

t.test('a created Deployment is recorded exactly as kube-apiserver records it', async t => {
  const managed = trackUpdate({
    ...common,
    before: undefined,
    after: deployment(),
    zero: zeroDeployment,
    manager: 'kubectl-create',
    now: at(0),
  })
  t.equal(
    JSON.stringify(managed),
    '[{"manager":"kubectl-create","operation":"Update","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z",' +
      '"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{' +
      '"f:progressDeadlineSeconds":{},"f:replicas":{},"f:revisionHistoryLimit":{},"f:selector":{},"f:strategy":{' +
      '"f:rollingUpdate":{".":{},"f:maxSurge":{},"f:maxUnavailable":{}},"f:type":{}},"f:template":{"f:metadata":{' +
      '"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{"k:{\\"name\\":\\"web\\"}":{".":{},"f:env":{".":{},' +
      '"k:{\\"name\\":\\"A\\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},' +
      '"f:ports":{".":{},"k:{\\"containerPort\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:containerPort":{},' +
      '"f:protocol":{}}},"f:resources":{},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{}}},' +
      '"f:dnsPolicy":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},' +
      '"f:terminationGracePeriodSeconds":{}}}}}}]',
  )
})

t.test('an update moves what it changes to its manager; what it removes belongs to nobody', async t => {
  const created = update(undefined, config({ replicas: 1, paused: true }), 'one')
  const changed = change(created, { replicas: 2, paused: undefined, minReadySeconds: 3 }, 'two', 5)
  t.strictSame(claims(changed), [
    'one Update {"f:spec":{}}',
    'two Update {"f:spec":{"f:minReadySeconds":{},"f:replicas":{}}}',
  ])
  t.strictSame(
    changed.metadata.managedFields?.map(e => e.time),
    [at(0), at(5)],
  )
  const emptied = update(changed, { ...changed, spec: undefined } as unknown as KubeObject, 'two', 6)
  t.equal(emptied.metadata.managedFields, undefined)
})

t.test('an update that changes nothing leaves the record as it is', async t => {
  const created = update(undefined, deployment(), 'one', 0)
  const same = trackUpdate({ ...common, before: created, after: cloneJson(created), manager: 'two', now: at(9) })
  t.strictSame(same, created.metadata.managedFields)
})

t.test('status has an entry of its own, and cannot be used to edit the record', async t => {
  const created = update(undefined, deployment(), 'one')
  const after: KubeObject = { ...cloneJson(created), status: { replicas: 1 } }
  after.metadata.managedFields = [{}]
  const managed = trackUpdate({
    ...common,
    before: created,
    after,
    manager: 'one',
    subresource: 'status',
    now: at(1),
  })
  t.match(managed, [
    { manager: 'one', operation: 'Update' },
    { manager: 'one', subresource: 'status', fieldsV1: { 'f:status': { '.': {}, 'f:replicas': {} } } },
  ])
})

t.test('clients may edit the record, reset it, and cannot lose it by sending nothing or nonsense', async t => {
  const created = update(undefined, config({ replicas: 1 }), 'one')
  const entries = created.metadata.managedFields as ManagedFieldsEntry[]
  const send = (managedFields: unknown, spec: Spec = { replicas: 1 }) =>
    trackUpdate({
      ...common,
      before: created,
      after: config(spec, { managedFields }),
      manager: 'two',
      now: at(1),
    })
  t.strictSame(send(undefined), entries)
  t.strictSame(send([]), entries)
  t.strictSame(send([{ manager: 'x', operation: 'Nope' }]), entries)
  t.strictSame(send([{ ...entries[0], fieldsV1: { 'k:{': {} } }]), entries)
  t.strictSame(send('nonsense'), entries)
  t.equal(send([{}]), undefined)
  t.strictSame(send([{ ...entries[0], manager: 'renamed' }]), [{ ...entries[0], manager: 'renamed' }])
  t.match(send([{ ...entries[0], manager: 'renamed' }], { replicas: 2 }), [
    { manager: 'renamed', fieldsV1: { 'f:spec': {} } },
    { manager: 'two', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
  ])
})

t.test('the oldest of more than ten updaters become ancient-changes', async t => {
  let object = update(undefined, config({ replicas: 0 }), 'm0', 0)
  const annotations: Record<string, string> = {}
  for (let i = 1; i <= 12; i++) {
    annotations[`a${i}`] = 'x'
    object = update(
      object,
      { ...object, metadata: { ...object.metadata, annotations: { ...annotations } } },
      `m${i}`,
      i,
    )
  }
  const names = object.metadata.managedFields?.map(e => e.manager)
  t.strictSame(names, ['ancient-changes', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11', 'm12'])
  t.match(object.metadata.managedFields?.[0], {
    time: at(3),
    fieldsV1: { 'f:spec': { 'f:replicas': {} }, 'f:metadata': { 'f:annotations': { 'f:a1': {}, 'f:a3': {} } } },
  })
})

t.test('an apply claims a bounded number of fields', async t => {
  const labelled = (count: number): KubeObject =>
    config(undefined, { labels: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, ''])) })
  t.equal(apply(undefined, labelled(39_000)).metadata.managedFields?.length, 1)
  t.throws(() => apply(undefined, labelled(40_001)), {
    reason: 'RequestEntityTooLarge',
    message: /^an apply may claim 40000 fields at most: split the object, or use an update or a patch/,
  })
})

t.test('applying again with a field left out removes it, unless somebody else owns it', async t => {
  let object = apply(undefined, config({ replicas: 1, paused: true, minReadySeconds: 1 }), 'a')
  object = apply(object, config({ paused: true }), 'b', 1)
  object = apply(object, config({ minReadySeconds: 1 }), 'a', 2)
  t.strictSame(object.spec, { paused: true, minReadySeconds: 1 })
  t.strictSame(claims(object), ['b Apply {"f:spec":{"f:paused":{}}}', 'a Apply {"f:spec":{"f:minReadySeconds":{}}}'])
  object = apply(object, config(), 'a', 3)
  object = apply(object, config(), 'b', 4)
  t.equal(object.spec, undefined)
  t.equal(object.metadata.managedFields, undefined)
})

t.test('list elements and map keys come and go with their owners', async t => {
  let object = apply(
    undefined,
    config(containers({ name: 'a', image: '1' }, { name: 'b' }), { labels: { x: '1' } }),
    'a',
  )
  object = change(object, containers({ name: 'a', image: '1' }, { name: 'b' }, { name: 'c' }), 'u', 1)
  object = apply(object, config(containers({ name: 'b', image: '2' })), 'a', 2)
  t.strictSame(object.spec, containers({ name: 'b', image: '2' }, { name: 'c' }))
  t.equal(object.metadata.labels, undefined)
})

t.test('conflicts name managers and fields as kube-apiserver does; force takes the fields', async t => {
  const live = update(undefined, config({ replicas: 1, progressDeadlineSeconds: 5 }), 'kubectl-create')
  const conflict = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      if (isStatusError(error)) return error.toStatus()
      throw error
    }
    return t.fail('no conflict')
  }
  t.strictSame(
    conflict(() => apply(live, config({ replicas: 2 }))),
    {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Apply failed with 1 conflict: conflict with "kubectl-create" using apps/v1: .spec.replicas',
      reason: 'Conflict',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "kubectl-create" using apps/v1',
            field: '.spec.replicas',
          },
        ],
      },
      code: 409,
    },
  )
  const scaled = change(live, { replicas: 3 }, 'curl', 1)
  t.match(
    conflict(() => apply(scaled, config({ replicas: 2, progressDeadlineSeconds: 6 }))),
    {
      message:
        'Apply failed with 2 conflicts: conflicts with "curl" using apps/v1:\n- .spec.replicas\n' +
        'conflicts with "kubectl-create" using apps/v1:\n- .spec.progressDeadlineSeconds',
    },
  )
  const applied = apply(live, config({ replicas: 1 }), 'a', 1)
  t.match(
    conflict(() => apply(applied, config({ replicas: 7 }), 'b', 2)),
    {
      message:
        'Apply failed with 2 conflicts: conflicts with "a":\n- .spec.replicas\n' +
        'conflicts with "kubectl-create" using apps/v1:\n- .spec.replicas',
    },
    'a shared field conflicts with each of its owners',
  )
  const forced = apply(applied, config({ replicas: 7 }), 'b', 2, true)
  t.strictSame(claims(forced), [
    'b Apply {"f:spec":{"f:replicas":{}}}',
    'kubectl-create Update {"f:spec":{".":{},"f:progressDeadlineSeconds":{}}}',
  ])
})

t.test('the first apply to an unrecorded object leaves the rest to before-first-apply', async t => {
  const object = apply(config({ replicas: 1, paused: true }), config({ replicas: 1 }), 'a', 3)
  t.strictSame(claims(object), [
    'a Apply {"f:spec":{"f:replicas":{}}}',
    'before-first-apply Update {"f:spec":{".":{},"f:paused":{},"f:replicas":{}}}',
  ])
})

t.test('kubectl may take over what its client-side apply wrote, and only that', async t => {
  const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration'
  const text = JSON.stringify(config({ replicas: 1 }))
  const live = update(
    undefined,
    config({ replicas: 1, paused: true }, { annotations: { [lastApplied]: text } }),
    'kubectl-client-side-apply',
  )
  t.throws(() => apply(live, config({ replicas: 2 }), 'other', 1), { code: 409, message: /^Apply failed/ })
  t.throws(() => apply(live, config({ paused: false }), 'kubectl', 1), { code: 409, message: /paused$/ })
  const object = apply(live, config({ replicas: 2 }), 'kubectl', 1)
  t.equal((object.spec as Spec).replicas, 2)
  t.equal(
    object.metadata.annotations?.[lastApplied],
    '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":2}}\n',
  )
})

t.test("kubectl's own migration of its client-side entry makes leaving out a field remove it", async t => {
  const live = update(undefined, config({ replicas: 1, paused: true }), 'kubectl-client-side-apply')
  const [entry] = live.metadata.managedFields as [ManagedFieldsEntry]
  const migrated = update(live, {
    ...live,
    metadata: { ...live.metadata, managedFields: [{ ...entry, manager: 'kubectl', operation: 'Apply' }] },
  })
  t.match(migrated.metadata.managedFields, [{ manager: 'kubectl', operation: 'Apply' }])
  t.strictSame(apply(migrated, config({ replicas: 1 }), 'kubectl', 1).spec, { replicas: 1 })
})

t.test('configurations that cannot be applied are bad requests', async t => {
  const refuse = (applied: KubeObject, message: string) =>
    t.throws(() => apply(undefined, applied), { code: 400, message })
  refuse(config({}, { managedFields: [] }), 'metadata.managedFields must be nil')
  refuse(
    { ...config({}), apiVersion: 'apps/v1beta1' },
    'Incorrect version specified in apply patch. Specified patch version: apps/v1beta1, expected: apps/v1',
  )
  refuse(
    config({ nope: 1 }),
    'failed to create typed patch object (default/web; apps/v1, Kind=Deployment): .spec.nope: field not declared in schema',
  )
})

t.test('fields that a request cannot write are neither gained nor lost through it', async t => {
  const live = update(undefined, { ...config({ replicas: 1 }), status: { replicas: 1 } }, 'one')
  const ignored = [['status']]
  const options = { ...common, manager: 'two', now: at(1), ignored }
  const changed: KubeObject = { ...cloneJson(live), status: { replicas: 2 } }
  t.strictSame(trackUpdate({ ...options, before: live, after: changed }), live.metadata.managedFields)
  const applied: KubeObject = { ...config({ replicas: 1 }), status: { replicas: 2 } }
  const object = applyServerSide({ ...options, live, applied, force: false, gr })
  t.match(claims(object)[0], 'two Apply {"f:spec":{"f:replicas":{}}}')
})

const name = fc.constantFrom('a', 'b', 'c')
const spec: fc.Arbitrary<Spec> = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 2 }),
    paused: fc.boolean(),
    selector: fc.record({ matchLabels: fc.dictionary(name, name) }),
    template: fc.record({
      metadata: fc.record({ labels: fc.dictionary(name, name) }),
      spec: fc.record({
        containers: fc.uniqueArray(
          fc.record({ name, image: name, args: fc.array(name, { maxLength: 2 }) }, { requiredKeys: ['name'] }),
          { selector: c => c.name, maxLength: 3 },
        ),
        nodeSelector: fc.dictionary(name, name),
      }),
    }),
  },
  { requiredKeys: [] },
)
const withoutRecord = (object: KubeObject) => ({
  ...object,
  metadata: { ...object.metadata, managedFields: undefined },
})
const owned = (object: KubeObject) =>
  (object.metadata.managedFields ?? []).map(e => fromFieldsV1(e.fieldsV1)).reduce(union, fromFieldsV1({}))

t.test('applying twice is applying once', async () => {
  fc.assert(
    fc.property(spec, spec, (first, second) => {
      const live = update(undefined, config(first))
      const frozen = JSON.stringify(live)
      const once = apply(live, config(second), 'a', 1, true)
      return equalJson(apply(once, config(second), 'a', 2, true), once) && JSON.stringify(live) === frozen
    }),
    { numRuns: 200 },
  )
})

t.test('applying and taking it all back leaves what others own', async () => {
  fc.assert(
    fc.property(spec, spec, (theirs, mine) => {
      const alone = apply(undefined, config(theirs), 'them')
      let both: KubeObject
      try {
        both = apply(alone, config(mine), 'me', 1)
      } catch (error) {
        return isStatusError(error, 'Conflict')
      }
      const back = apply(both, config(), 'me', 2)
      // Order has no owner, and empty lists and maps within a struct are the same as absent ones.
      const difference = compare(withoutRecord(alone), withoutRecord(back), deploymentSchema)
      return isEmptySet(difference.added) && isEmptySet(intersection(owned(alone), difference.removed))
    }),
    { numRuns: 200 },
  )
})

t.test('a field that no update changes keeps its owner', async () => {
  fc.assert(
    fc.property(spec, spec, (first, second) => {
      const before = apply(undefined, config(first), 'owner')
      const after = update(before, config(second), 'other', 1)
      const { added, modified, removed } = compare(withoutRecord(before), withoutRecord(after), deploymentSchema)
      const changed = union(added, union(modified, removed))
      const mine = (object: KubeObject) =>
        fromFieldsV1(object.metadata.managedFields?.find(e => e.manager === 'owner')?.fieldsV1 ?? {})
      const lost = [...pathStrings(mine(before))].filter(path => !pathStrings(mine(after)).has(path))
      return lost.every(path => pathStrings(changed).has(path))
    }),
    { numRuns: 200 },
  )
})

function pathStrings(set: Parameters<typeof pathsOf>[0]): Set<string> {
  return new Set([...pathsOf(set)].map(path => path.join('/')))
}

t.test('of very many conflicts and errors the first are told, however long their paths', async t => {
  const schema: Schema = {
    type: 'object',
    properties: {
      m: { type: 'object', additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } } },
    },
  }
  const key = 'x'.repeat(100_000)
  const object = (value: unknown): KubeObject => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    m: { [key]: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, value])) },
  })
  const applyBy = (manager: string, value: unknown, live?: KubeObject) =>
    applyServerSide({ ...common, schema, live, applied: object(value), manager, force: false, now: at(0), gr })
  const messageOf = (run: () => unknown): string => {
    try {
      run()
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  const conflict = messageOf(() => applyBy('b', 2, applyBy('a', 1)))
  t.match(conflict, /^Apply failed with 1000 conflicts: conflicts with "a":\n/)
  t.match(conflict.slice(-20), /and 99\d more$/)
  t.ok(conflict.length < 700_000)
  const structure = messageOf(() => applyBy('a', 'no number'))
  t.match(structure.slice(-20), /and 99\d more$/)
  t.ok(structure.length < 700_000)
})
