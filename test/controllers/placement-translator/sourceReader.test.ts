/** Objects as their destinations get them: what is dear is done once, and one at a time for each space. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { ObjectCache } from '../../../src/controllers/placement-translator/objectCache.ts'
import { SourceReader } from '../../../src/controllers/placement-translator/sourceReader.ts'
import type { ObjectFact } from '../../../src/controllers/placement-translator/workload.ts'
import { WorkTurns } from '../../../src/program/workTurns.ts'
import { FakeServer } from './fakeServer.ts'
import { MAPS } from './translatorWorld.ts'

const EXPAND = { 'edge.kubestellar.io/expand-parameters': 'true' }
const bomb = (metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'bomb', namespace: 'default', annotations: EXPAND, ...metadata },
  data: { v: '%(a)'.repeat(1000) },
})
const florin = (value: string): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'Location',
  metadata: { name: 'florin', annotations: { a: value } },
})

class CountedTurns extends WorkTurns {
  begun = 0
  override begin(options: { owner: string }) {
    this.begun++
    return super.begin(options)
  }
}

function reader(turns = new CountedTurns()) {
  const at = { location: florin('x'.repeat(16_000)) }
  const sources = new SourceReader({
    client: new FakeServer(),
    cache: new ObjectCache(10),
    location: () => at.location,
    customizer: () => undefined,
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
  const { sources, at, turns } = reader()
  const [fault] = await sources.faults(of(1), bomb())
  t.match(fault, /^the object is not expanded/)
  t.equal(await sources.flawless(of(1), bomb()), undefined)
  t.same(await sources.faults(of(1), bomb()), [fault])
  t.equal(turns.begun, 1)

  const annotations = { ...EXPAND, 'edge.kubestellar.io/customization-error': `${fault} (for florin)` }
  const told = bomb({ annotations, resourceVersion: '2', managedFields: [{ manager: 'placement-translator' }] })
  t.same(await sources.faults(of(2), told), [fault], 'telling its authors changes nothing of what is told')
  t.equal(turns.begun, 1)

  t.match(await sources.faults(of(3), { ...bomb(), data: { v: '%(a)'.repeat(999) } }), [/not expanded/])
  t.equal(turns.begun, 2, 'another object')
  at.location = florin('short')
  t.match(await sources.flawless(of(3), bomb()), { data: { v: 'short'.repeat(1000) } })
  t.equal(turns.begun, 3, 'another Location')
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
