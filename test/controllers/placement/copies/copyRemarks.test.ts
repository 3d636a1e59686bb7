// Faults of a copy that its author can mend are reported on the EdgePlacement until it is right.

import t, { type Test } from 'tap'
import { statusError } from '../../../../src/apimachinery/errors.ts'
import { CUSTOMIZERS, EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { ALL_MAPS, configMap, EDGE, MAPS, placement, slice, world } from '../translatorWorld.ts'

const NAMED = { annotations: { 'edge.kubestellar.io/customizer': 'c' } }
const customizer = (path: string) => ({
  apiVersion: EDGE,
  kind: 'Customizer',
  metadata: { name: 'c', namespace: 'commonstuff' },
  replacements: [{ path, value: '"custom"' }],
})

async function placed(t: Test) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, wds } = all
  const place = async () => {
    await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
    await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  }
  /** The condition, once the last second is over. */
  const told = async (type: string): Promise<string> => {
    await server.quiet()
    await clock.advance(1000)
    await server.quiet()
    const { conditions } = server.peek('wds1', EDGE_PLACEMENTS, 'ep')!.status as {
      conditions: { type: string; status: string; reason: string; message: string }[]
    }
    const { status, reason, message } = conditions.find(one => one.type === type)!
    return [status, reason, message].join(' ')
  }
  return { ...all, place, told }
}

t.test('what cannot be customized', async t => {
  const { wds, server, florin, place, told } = await placed(t)
  await wds.create(MAPS, configMap('page', { v: 'x' }, NAMED))
  await wds.create(MAPS, configMap('other', { v: 'x' }))
  await place()
  t.match(
    await told('Placed'),
    /^False CustomizationFailed .*1 refused \(2 copies\): configmaps "commonstuff\/page": its newest version is not sent: .*Customizer "commonstuff\/c" not found/,
  )
  t.match(await told('Projected'), /^False CustomizationFailed /)
  await wds.create(CUSTOMIZERS, customizer('$.data.v'))
  t.equal(await told('Placed'), 'True AllPlaced ')
  t.match(server.peek(florin, MAPS, 'page', 'commonstuff')?.data, { v: 'custom' })
  await wds.delete(CUSTOMIZERS, { namespace: 'commonstuff', name: 'c' })
  t.match(await told('Placed'), /^False CustomizationFailed /, 'also where the last good copy stays')
  await wds.delete(MAPS, { namespace: 'commonstuff', name: 'page' })
  t.equal(await told('Placed'), 'True AllPlaced ', 'it ends with the object')
})

t.test('what a mailbox does not take', async t => {
  const { wds, server, florin, place, told } = await placed(t)
  let refuses = true
  server.refuse = (space, verb, _resource, name) => {
    if (!refuses || space !== florin || verb !== 'create' || name !== 'page') return
    throw statusError.invalid({ group: '', kind: 'ConfigMap' }, name, [
      { type: 'Invalid', field: 'data', value: 'x', detail: 'says nothing' },
    ])
  }
  await wds.create(MAPS, configMap('page', { v: 'x' }))
  await place()
  t.match(await told('Placed'), /^False NotTaken .*1 refused \(1 copy\): .*says nothing/)
  refuses = false
  await wds.update(MAPS, { ...server.peek('wds1', MAPS, 'page', 'commonstuff')!, data: { v: 'y' } })
  t.equal(await told('Placed'), 'True AllPlaced ')
})
