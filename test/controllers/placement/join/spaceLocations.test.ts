/** Names of clusters as a space sees them follow its placements. */
import t from 'tap'
import { PlacementJoin } from '../../../../src/controllers/placement/join/placementJoin.ts'
import { SpaceLocations } from '../../../../src/controllers/placement/join/spaceLocations.ts'
import { factOf } from '../../../../src/controllers/placement/join/workloads.ts'
import { Signals } from '../../../../src/controllers/placement/signals/signals.ts'
import { compilePlacement } from '../../../../src/placement/select/placementSpec.ts'
import { ALL_MAPS, MAPS, placement } from '../translatorWorld.ts'

t.test('a placement that is gone leads nowhere, also for who asks while it goes', t => {
  const signals = new Signals()
  const tasks = { configs() {}, sources() {}, report() {}, reports() {} }
  const granted = { allowsAll: true, isUncertain: false, refusal: () => undefined, carriesUp: () => false }
  const join = new PlacementJoin(tasks, signals, { allowance: () => granted as never, anyUncertain: false })
  const locations = new SpaceLocations({
    join,
    inventory: { target: () => undefined },
    consents: { bindingTo: () => 'inv' },
  })
  // as followers of work statuses do
  signals.claimsChanged.on((space, [mailbox = '']) => locations.labelOf(space, mailbox))
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'commonstuff', uid: 'a' } }
  const event = { resource: MAPS, namespace: 'commonstuff', name: 'a', revision: 1, object, mentions: () => false }
  join.workload('w').setObject(factOf(event as never, '|configmaps|commonstuff|a'))
  join.setPlacement('w', 'p', compilePlacement(placement('p', ALL_MAPS)))
  const way = { mailbox: 'm1', cluster: 'inv1', locationName: 'florin', syncTarget: 'florin' }
  join.setDestinations('w', 'p', [way])
  t.same([...locations.of('w').byMailbox.keys()], ['m1'])
  join.removePlacement('w', 'p')
  t.same([...locations.of('w').byMailbox.keys()], [])
  t.same([...locations.of('w').former.keys()], ['m1'])
  t.end()
})
