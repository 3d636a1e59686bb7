/** A ConfigMap that is placed on two clusters, and questions about what would change. */
import type { Test } from 'tap'
import type { GroupVersionResource, KubeObject } from '../../../../src/apimachinery/object.ts'
import type { Clock } from '../../../../src/client/clock.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { ALL_MAPS, configMap, MAPS, placement, slice, world } from '../translatorWorld.ts'

export async function scene(t: Test, clock?: Clock) {
  const around = await world(t, clock)
  const { server, wds, previewer } = around
  await wds.create(MAPS, configMap('page', { v: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const ask = async (...asked: (KubeObject | [GroupVersionResource, KubeObject])[]) => {
    const objects = asked.map(one => {
      const [resource, object] = Array.isArray(one) ? one : [MAPS, one]
      return { resource, object, operation: 'update' as const }
    })
    const before = server.writes.length
    const mayGet = async (_: GroupVersionResource, { name }: { name: string }) => name !== 'hidden'
    const { objects: told } = await previewer().preview({ space: 'wds1', objects, mayGet })
    t.equal(server.writes.length, before, 'nothing is written')
    return told
  }
  /** Actions with the clusters, of the first object. */
  const actions = async (...asked: Parameters<typeof ask>) => {
    const [first] = await ask(...asked)
    return first!.groups.map(({ action, locations, reason }) =>
      `${action} ${locations.map(({ name }) => name)} ${reason ?? ''}`.trim(),
    )
  }
  return { ...around, ask, actions }
}
