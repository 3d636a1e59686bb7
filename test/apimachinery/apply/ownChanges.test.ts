import t from 'tap'
import { fromFieldsV1, setOfField } from '../../../src/apimachinery/apply/fieldSet.ts'
import { trackInSteps } from '../../../src/apimachinery/apply/managedFields.ts'
import { ownChanges } from '../../../src/apimachinery/apply/ownChanges.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../../src/apimachinery/object.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { cloneJson } from '../../../src/apimachinery/values.ts'
import * as fc from '../../support/fastCheck.ts'
import { deploymentSchema } from './deploymentSchema.ts'

const trackUpdate = (options: Parameters<typeof trackInSteps>[0]) => atOnce(trackInSteps(options))

const NOW = '2026-01-01T00:01:00Z'
const BEFORE = '2026-01-01T00:00:00Z'
const own = { name: 'me', operation: 'Update', apiVersion: 'apps/v1', subresource: '' } as const
const entry = (manager: string, fieldsV1: object, more: object = {}): ManagedFieldsEntry =>
  ({
    manager,
    operation: 'Update',
    apiVersion: 'apps/v1',
    time: BEFORE,
    fieldsType: 'FieldsV1',
    fieldsV1,
    ...more,
  }) as ManagedFieldsEntry
const replicas = { 'f:spec': { 'f:replicas': {} } }
const paused = { 'f:spec': { 'f:paused': {} } }
const changed = setOfField('spec', 'replicas')

t.test('who changes what is its own alone claims it anew', async t => {
  const other = entry('other', paused)
  t.same(ownChanges([entry('me', replicas), other], own, changed, NOW), [other, entry('me', replicas, { time: NOW })])
})

t.test('it may be in a list', async t => {
  const image = fromFieldsV1({ 'f:containers': { 'k:{"name":"c"}': { 'f:image': {} } } })
  const mine = entry('me', { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {} } } })
  t.same(ownChanges([mine, entry('other', paused)], own, image, NOW), [entry('other', paused), { ...mine, time: NOW }])
  const other = entry('other', { 'f:containers': { 'k:{ "name":"\\u0063" }': { 'f:image': {} } } })
  t.equal(ownChanges([mine, other], own, image, NOW), undefined, 'others may write its key in another way')
  t.equal(ownChanges([other, { ...other, manager: 'me' }], own, image, NOW), undefined, 'and so may its own claim')
})

t.test('what another claims is looked through once, whatever number of elements changes', async t => {
  const elements = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k:{"name":"${i}"}`, { 'f:image': {} }]))
  const mine = entry('me', { 'f:containers': elements })
  let looks = 0
  const ownKeys = (target: object): (string | symbol)[] => {
    looks++
    return Reflect.ownKeys(target)
  }
  const forged = new Proxy({ 'f:a': {}, 'f:b': {} }, { ownKeys })
  const other = entry('other', { 'f:containers': forged })
  const made = ownChanges([mine, other], own, fromFieldsV1({ 'f:containers': elements }), NOW)
  t.equal(made?.length, 2)
  t.equal(looks, 1)
})

t.test('everything else is read', async t => {
  const cases: Record<string, ManagedFieldsEntry[]> = {
    'it is new': [entry('other', paused)],
    'it did not own that': [entry('me', paused)],
    'another owns it, too': [entry('me', replicas), entry('other', replicas)],
    'an applier owns it, too': [entry('me', replicas), entry('other', replicas, { operation: 'Apply' })],
    'its own is another version': [entry('me', replicas, { apiVersion: 'apps/v1beta1' })],
    'its own is a sub-resource': [entry('me', replicas, { subresource: 'scale' })],
    'somebody claims nothing': [entry('me', replicas), entry('other', {})],
    'somebody claims what nobody can own': [entry('me', replicas), entry('other', { 'f:kind': {} })],
    'metadata is claimed as a whole': [
      entry('me', replicas),
      entry('other', { 'f:metadata': { '.': {}, 'f:labels': {} } }),
    ],
    'one is there twice': [entry('me', replicas), entry('other', paused), entry('other', paused)],
    'an operation is unknown': [entry('me', replicas), entry('other', paused, { operation: 'Patch' })],
  }
  for (const [what, entries] of Object.entries(cases)) t.equal(ownChanges(entries, own, changed, NOW), undefined, what)
})

const managers = fc.constantFrom('a', 'b', 'c')
const edits = fc.record({
  manager: managers,
  replicas: fc.nat(2),
  paused: fc.boolean(),
  image: fc.constantFrom('i:1', 'i:2'),
  label: fc.constantFrom(undefined, 'x', 'y'),
  subresource: fc.constantFrom('', '', 'scale'),
})

t.test('it comes to the same as reading all claims', async t => {
  await fc.assert(
    fc.property(fc.array(edits, { minLength: 2, maxLength: 8 }), steps => {
      let live: KubeObject | undefined
      for (const [second, { manager, subresource, ...said }] of steps.entries()) {
        const after: KubeObject = {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web', ...(said.label !== undefined && { labels: { l: said.label } }) },
          spec: {
            replicas: said.replicas,
            paused: said.paused,
            template: { spec: { containers: [{ name: 'c', image: said.image }] } },
          },
        }
        const options = {
          schema: deploymentSchema,
          apiVersion: 'apps/v1',
          before: live,
          after,
          manager,
          now: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
          ...(subresource && { subresource }),
        }
        // of kinds whose versions differ all claims are read
        const inVersion = () => ({ schema: deploymentSchema, object: (object: KubeObject) => cloneJson(object) })
        const quick = trackUpdate({ ...options, isSmall: true })
        t.same(quick, trackUpdate({ ...options, inVersion }))
        live = { ...after, metadata: { ...after.metadata, ...(quick && { managedFields: quick }) } }
      }
      return true
    }),
    { numRuns: 150 },
  )
})
