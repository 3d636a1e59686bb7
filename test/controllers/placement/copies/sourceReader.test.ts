/** Objects as their destinations get them: what is dear is done once, and one at a time for each space. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { ParameterExpansion } from '../../../../src/controllers/placement/copies/parameterExpansion.ts'
import { SourceReader } from '../../../../src/controllers/placement/copies/sourceReader.ts'
import { ObjectCache } from '../../../../src/controllers/placement/join/objectCache.ts'
import type { ObjectFact } from '../../../../src/controllers/placement/join/workload.ts'
import { WorkTurns } from '../../../../src/program/workTurns.ts'
import { endlessTurns } from '../../../support/endlessTurns.ts'
import { FakeServer } from '../fakeServer.ts'
import { MAPS } from '../translatorWorld.ts'

const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const bomb = (metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'bomb', namespace: 'default', annotations: EXPAND, ...metadata },
  data: { v: '%(a)'.repeat(1000) },
})
const florin = (value: string, others: object = {}): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'Location',
  metadata: { name: 'florin', annotations: { a: value, ...others } },
})

const { size } = ParameterExpansion.prototype

class CountedTurns extends WorkTurns {
  constructor() {
    super({ clock: () => 0 })
  }

  begun = 0
  override begin(options: { owner: string }) {
    this.begun++
    return super.begin(options)
  }
}

function reader(turns = new CountedTurns()) {
  const at: { location: KubeObject | undefined } = { location: florin('x'.repeat(16_000)) }
  const sources = new SourceReader({
    client: new FakeServer(),
    cache: new ObjectCache(10),
    location: () => at.location,
    customizer: () => undefined,
    schema: () => undefined,
    turns,
  })
  return { sources, at, turns }
}

const of = (revision: number, space = 's') => {
  const fact: ObjectFact = {
    key: 'configmaps/default/bomb',
    resource: MAPS,
    namespace: 'default',
    name: 'bomb',
    labels: {},
    revision,
    customized: true,
    customizer: '',
    annotated: false,
    uid: '',
    defines: [],
  }
  const location = {
    cluster: 'inv',
    locationName: 'florin',
    mailbox: 'mb',
    syncTargetName: 'florin',
    syncTargetUID: '1',
  }
  return { space, fact, location }
}

t.test('what is wrong with an object is found once, until it or its Location is another', async t => {
  const { sources, at } = reader()
  let expanded = 0
  t.capture(ParameterExpansion.prototype, 'size', function (this: ParameterExpansion, value: unknown) {
    expanded++
    return size.call(this, value)
  })
  const [fault] = await sources.faults(of(1), bomb())
  t.match(fault, /^the object is not expanded/)
  t.equal(await sources.flawless(of(1), bomb()), undefined)
  t.same(await sources.faults(of(1), bomb()), [fault])
  t.equal(expanded, 1)

  const annotations = { ...EXPAND, 'edge.kubestellar.io/customization-error': `${fault} (for florin)` }
  const told = bomb({ annotations, resourceVersion: '2', managedFields: [{ manager: 'placement-translator' }] })
  t.same(await sources.faults(of(2), told), [fault], 'telling its authors changes nothing of what is told')
  t.equal(expanded, 1)

  t.match(await sources.faults(of(3), { ...bomb(), data: { v: '%(a)'.repeat(999) } }), [/not expanded/])
  t.equal(expanded, 2, 'another object')
  at.location = florin('short')
  t.match(await sources.flawless(of(3), bomb()), { data: { v: 'short'.repeat(1000) } })
  t.equal(expanded, 3, 'another Location')
})

t.test('what comes out the same for the next destination is made once', async t => {
  const { sources, at } = reader()
  const source = bomb()
  const made = async (location: KubeObject | undefined) => {
    at.location = location
    return await sources.customize(of(1), source)
  }
  const first = await made(florin('v'))
  t.match(first.object.data, { v: 'v'.repeat(1000) })
  t.equal((await made(florin('v', { unasked: '1' }))).object, first.object, 'of what nobody asked for all may differ')
  t.match((await made(florin('w'))).object.data, { v: 'w'.repeat(1000) })
  t.match((await made({ ...florin(''), metadata: { name: 'florin' } })).object.data, { v: '%(a)'.repeat(1000) })
  t.match((await made(undefined)).faults, [/not found/])
  t.match((await made(florin('x'.repeat(16_000)))).faults, [/not expanded/])
  t.match((await made(florin('v'))).object.data, { v: 'v'.repeat(1000) })
  at.location = florin('v')
  const other = { ...source, data: { v: '%(a)' } }
  t.match((await sources.customize(of(2), other)).object.data, { v: 'v' }, 'another object')
})

t.test('what kubectl applied before names no parameters of the object', async t => {
  const { sources, at } = reader()
  at.location = florin('v')
  const applied = { 'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"v":"%(b)"}}' }
  const source = bomb({ annotations: { ...EXPAND, ...applied } })
  t.same(await sources.faults(of(1), source), [])
  t.match(await sources.faults(of(2), { ...source, data: { v: '%(b)' } }), [/^parameter "b" is not defined in /])
})

t.test('an object that asks for nothing still needs its Location', async t => {
  const { sources, at } = reader()
  const source = { ...bomb(), data: { v: 'plain' } }
  t.same((await sources.customize(of(1), source)).faults, [])
  at.location = undefined
  t.match((await sources.customize(of(1), source)).faults, [/not found/])
})

t.test('where only Customizers ask for parameters, they are compared, too', async t => {
  const customizer: { object: KubeObject } = {
    object: {
      apiVersion: 'edge.kubestellar.io/v2alpha1',
      kind: 'Customizer',
      metadata: { name: 'c', annotations: EXPAND },
      replacements: [{ path: '$.data.v', value: '"%(a)"' }],
    },
  }
  const at = { location: florin('1') }
  const sources = new SourceReader({
    client: new FakeServer(),
    cache: new ObjectCache(10),
    location: () => at.location,
    customizer: () => customizer.object,
    schema: () => undefined,
    turns: endlessTurns(),
  })
  const source = bomb({ annotations: { 'edge.kubestellar.io/customizer': 'c' } })
  const { space, fact, location } = of(1)
  const made = async () =>
    (await sources.customize({ space, fact: { ...fact, customizer: 'default/c' }, location }, source)).object
  const first = await made()
  t.match(first.data, { v: '1' })
  at.location = florin('1', { unasked: '1' })
  t.equal(await made(), first)
  at.location = florin('2')
  t.match((await made()).data, { v: '2' })
  customizer.object = { ...customizer.object, replacements: [{ path: '$.data.v', value: '"other"' }] }
  t.match((await made()).data, { v: 'other' })
  const locationSelector = { matchLabels: { env: 'prod' } }
  const replacements = [{ locationSelector, path: '$.data.v', value: '"prod"' }]
  customizer.object = { ...customizer.object, replacements }
  const everywhereElse = await made()
  at.location = florin('3', { unasked: '1' })
  t.equal(await made(), everywhereElse, 'the same rules hold in both Locations')
  at.location = { ...at.location, metadata: { ...at.location.metadata, labels: { env: 'prod' } } }
  t.match((await made()).data, { v: 'prod' })
  customizer.object = {
    ...customizer.object,
    parameters: [{ values: { a: 'own' } }],
    replacements: [{ path: '$.data.v', value: '"%(a)"' }],
  }
  const own = await made()
  t.match(own.data, { v: 'own' })
  at.location = florin('4')
  t.equal(await made(), own, 'what a Location says beside it makes no difference')
})

t.test('one space has one object half made at a time, and keeps no other waiting', async t => {
  const rests: string[] = []
  class NotedTurns extends CountedTurns {
    override begin(options: { owner: string }) {
      super.begin(options)
      const name = `${options.owner}${this.begun}`
      return {
        due: true,
        rest: async () => {
          rests.push(name)
          await setImmediate()
        },
      }
    }
  }
  const { sources } = reader(new NotedTurns())
  await Promise.all(['a', 'a', 'b'].map(space => sources.customize(of(1, space), bomb())))
  const [first, second] = ['a1', 'a3'].map(name => rests.filter(rest => rest === name).length)
  t.ok(first! > 1 && second! > 1, 'there were rests')
  t.ok(rests.lastIndexOf('a1') < rests.indexOf('a3'), 'one after the other')
  t.ok(rests.indexOf('b2') < rests.lastIndexOf('a1'), 'another space meanwhile')
})
