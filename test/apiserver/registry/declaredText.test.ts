/**
 * Declared gaps: the text is the same to the byte, and texts that differ in nothing else have one body. Texts are those of the old form.
 */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { atOnce } from '../../../src/apimachinery/steps.ts'
import { encodeInSteps, encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { Bodies } from '../../../src/storage/bodies.ts'
import type { Key } from '../../../src/storage/store.ts'
import { versionOf } from '../../../src/storage/texts.ts'
import * as fc from '../../support/fastCheck.ts'

const SPACES = ['0abcdefghijklmn1', '0abcdefghijklmn2', 'root']
const UIDS = [0, 1, 2, 3].map(n => `0000000${n}-1111-4222-8333-44444444444${n}`)
const TIMES = ['2026-01-01T00:00:00Z', '2027-11-30T23:59:59Z']

const anyTime = fc.constantFrom(...TIMES)
const anyText = fc.constantFrom('x', 'ä "', '\u{1f600}', TIMES[0]!, UIDS[0]!, SPACES[0]!, '')

/** The values of an object that are its own. */
const anyOwn = fc.record({
  uid: fc.constantFrom(...UIDS),
  space: fc.constantFrom(...SPACES),
  made: anyTime,
  claimed: anyTime,
  reported: anyTime,
})
type Own = typeof anyOwn extends fc.Arbitrary<infer T> ? T : never

/** Content that it shares with others. */
const anySaid = fc.record({
  kind: fc.constantFrom('ConfigMap', 'Deployment', 'ControllerRevision'),
  data: anyText,
  label: anyText,
  hasSpace: fc.boolean(),
  claims: fc.nat(3),
  deleted: fc.boolean(),
  status: fc.constantFrom('none', 'timed', 'words', 'large', 'text'),
  isEmpty: fc.boolean(),
  selects: fc.constantFrom('nothing', 'itself', 'another'),
})
type Said = typeof anySaid extends fc.Arbitrary<infer T> ? T : never

function objectOf(said: Said, { uid, space, made, claimed, reported }: Own): KubeObject {
  const { kind, data, label, hasSpace, claims, deleted, status, isEmpty, selects } = said
  const managed = { manager: 'm', fieldsType: 'FieldsV1', fieldsV1: { 'f:ü': {} } }
  const labels = { app: label, 'batch.kubernetes.io/controller-uid': selects === 'itself' ? uid : 'another' }
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: null }, list: [label] }
  const statuses = {
    none: undefined,
    timed: { at: reported, conditions: [{ type: data, lastUpdateTime: reported, message: data }, null], n: 1 },
    words: { phase: data, list: [] },
    large: { list: Array.from({ length: 300 }, () => reported) },
    text: reported,
  }
  return {
    apiVersion: 'v1',
    kind,
    metadata: {
      name: 'a-name',
      labels: selects === 'nothing' ? { app: label } : labels,
      annotations: { before: data, ...(hasSpace && { 'kcp.io/cluster': space }), behind: data },
      ownerReferences: undefined,
      uid,
      creationTimestamp: made,
      ...(deleted && { deletionTimestamp: claimed }),
      resourceVersion: '7',
      managedFields: Array.from({ length: claims }, (_, i) => ({ ...managed, time: i === 0 ? made : claimed })),
    },
    ...(!isEmpty && {
      data: { [data]: data, none: null },
      ...(selects !== 'nothing' && { spec }),
      status: statuses[status],
    }),
  } as unknown as KubeObject
}

const keyOf = (space: string): Key => ({ space, group: '', resource: 'things', namespace: '', name: 'a-name' })

t.test('a text with its gaps is the text, at once and in steps', async t => {
  fc.assert(
    fc.property(anySaid, anyOwn, (said, own) => {
      const object = objectOf(said, own)
      const { head, tail } = encodeObject(object)
      for (const text of [encodeObject(object, true), atOnce(encodeInSteps(object, true))]) {
        t.equal(text.head, head)
        t.equal(text.tail, tail)
        const bytes = Buffer.from(head + tail)
        for (const { at, length, kind } of text.gaps ?? []) {
          const value = bytes.toString('utf8', at, at + length)
          const values = { uid: [own.uid], space: [own.space], time: TIMES }
          if (!values[kind].includes(value) || bytes[at - 1] !== 0x22) throw new Error(`${kind}: ${value}`)
        }
      }
    }),
    { numRuns: 500 },
  )
})

t.test('objects have one body where they differ in own values alone, which make their texts again', async t => {
  const shapeOf = (said: Said, own: Own): unknown =>
    JSON.stringify(
      objectOf(said, { ...own, uid: 'u', made: 't', claimed: 't', space: own.space === 'root' ? 'r' : 's' }),
    )
  let shared = 0
  fc.assert(
    fc.property(anySaid, fc.option(anySaid, { freq: 2 }), anyOwn, anyOwn, (said, another, one, two) => {
      const bodies = new Bodies()
      const objects = [objectOf(said, one), objectOf(another ?? said, two)] as const
      const made = ([one, two] as const).map(({ space }, i) => {
        const text = encodeObject(objects[i]!, true)
        const declared = bodies.declared(keyOf(space), text)
        const whole = versionOf(keyOf(space), 10 ** (i + 3), text)
        const stored = declared && bodies.stored(whole, declared)
        if (stored && !stored.bytes.equals(whole.bytes)) throw new Error(`${stored.bytes} is not ${whole.bytes}`)
        return { stored, whole }
      })
      const [a, b] = made
      t.equal(a!.stored === undefined, said.kind === 'ControllerRevision')
      if (!a!.stored || !b!.stored) return
      const isTimed = said.status === 'timed' || said.status === 'none' || said.status === 'words' || said.isEmpty
      const isSame = one.reported === two.reported || isTimed || said.status === 'text'
      const unreported = { ...two, reported: one.reported }
      const wanted = isSame && shapeOf(said, one) === shapeOf(another ?? said, unreported)
      t.equal(a!.stored.body === b!.stored.body, wanted)
      if (!wanted) return
      shared++
      const again = bodies.read(b!.whole, a!.stored.outline)
      t.equal(again.body, a!.stored.body)
      t.same(again.own, { uid: two.uid, times: b!.stored.times })
    }),
    { numRuns: 1000 },
  )
  t.ok(shared > 100, `${shared} pairs`)
})
