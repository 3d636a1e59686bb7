/** Facts of the topology reach every controller of placement, whatever another one makes of them. */
import t from 'tap'
import { silentLogger } from '../../../../src/client/logger.ts'
import { Topology } from '../../../../src/controllers/placement/inventory/topology.ts'
import { TopologyFacts, type TopologyReader } from '../../../../src/controllers/placement/inventory/topologyFacts.ts'
import { EVERYTHING, inventoryBinding, placementGrant } from '../../../../src/placement/consent/consentObjects.ts'
import { realTime } from '../../../support/time.ts'
import { FakeServer } from '../fakeServer.ts'

function fails(): never {
  throw new Error('a reader fails')
}

const FAILING: TopologyReader = {
  targetChanged: fails,
  consentChanged: fails,
  bindingJudged: fails,
  bindingChanged: fails,
}

/** Facts with a reader that fails, and one behind it. */
function world() {
  const places = new FakeServer()
  const facts = new TopologyFacts(places)
  const read: string[] = []
  facts.read(FAILING)
  facts.read({
    targetChanged: ({ before, after }) => read.push(`target ${before?.uid} ${after?.uid}`),
    consentChanged: (space, inventory) => read.push(`consent ${space} ${inventory}`),
    bindingJudged: (space, name) => read.push(`judged ${space} ${name}`),
    bindingChanged: ({ space, name }) => read.push(`binding ${space} ${name}`),
    grantChanged: inventory => read.push(`grant ${inventory}`),
  })
  return { places, facts, read }
}

const binding = inventoryBinding('inv', 'root:inv1')

t.test('a SyncTarget that is made again reaches all readers with both mailboxes, though one reader fails', t => {
  const { facts, read } = world()
  const target = (uid: string) => ({ apiVersion: '', kind: 'SyncTarget', metadata: { name: 'florin', uid } })
  const id = { space: 'inv1', name: 'florin' }
  t.throws(() => facts.setTarget(id, target('u1')), /a reader fails/)
  t.throws(() => facts.setTarget(id, target('u2')), /a reader fails/)
  t.same(read, ['target undefined u1', 'target u1 undefined', 'target undefined u2'])
  t.end()
})

t.test('consents reach all readers in full, though one reader fails', t => {
  const { facts, read } = world()
  for (const space of ['wds1', 'wds2']) t.throws(() => facts.setBinding(space, 'inv', binding), /a reader fails/)
  t.same(read.splice(0), [
    ...['consent wds1 inv1', 'judged wds1 inv', 'binding wds1 inv'],
    ...['consent wds2 inv1', 'judged wds2 inv', 'binding wds2 inv'],
  ])
  t.throws(() => facts.setGrant('inv1', 'all', placementGrant('all', { path: 'root' }, EVERYTHING)), /a reader fails/)
  t.same(read, [...['consent wds1 inv1', 'judged wds1 inv', 'consent wds2 inv1', 'judged wds2 inv'], 'grant inv1'])
  t.end()
})

t.test('a space that comes reaches all who bind it, and the tree of spaces meets no error of a reader', t => {
  const { places, facts, read } = world()
  places.unplaced.add('inv1')
  const failures: unknown[] = []
  const unfollow = facts.follow(error => failures.push(error))
  for (const space of ['wds1', 'wds2']) t.throws(() => facts.setBinding(space, 'inv', binding), /a reader fails/)
  read.length = 0
  places.place('inv1', 'root:inv1')
  t.same(read, ['consent wds1 inv1', 'judged wds1 inv', 'consent wds2 inv1', 'judged wds2 inv'])
  t.match(failures, [{ message: 'a reader fails' }])
  unfollow()
  t.end()
})

t.test('a controller begins although another one fails on the first snapshot', async () => {
  const server = new FakeServer()
  const topology = new Topology({ ...realTime(), client: server, places: server, logger: silentLogger })
  topology.facts.read({ synced: fails, mailboxesSynced: fails })
  topology.start()
  await topology.source.synced
  await topology.stop()
})
