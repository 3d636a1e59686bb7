/** The two consents: a space binds an inventory, and the inventory grants the space. */
import { Picture } from './svg.ts'

export function consents(): Picture {
  return new Picture(760, 250, 'Two consents: the workload space binds the inventory, the inventory grants the space')
    .box({ x: 10, y: 16, width: 240, height: 218, title: 'workload space', tone: 'soft' })
    .box({ x: 30, y: 50, width: 200, height: 56, title: 'EdgePlacement', lines: ['these objects, those labels'] })
    .box({
      x: 30,
      y: 126,
      width: 200,
      height: 86,
      title: 'InventoryBinding',
      lines: ['we place on the clusters', 'of that inventory'],
    })
    .box({ x: 330, y: 16, width: 240, height: 218, title: 'inventory', tone: 'soft' })
    .box({ x: 350, y: 50, width: 200, height: 56, title: 'Location, SyncTarget', lines: ['a cluster and its labels'] })
    .box({
      x: 350,
      y: 126,
      width: 200,
      height: 86,
      title: 'PlacementGrant',
      lines: ['that space may place here:', 'clusters, namespaces, kinds'],
    })
    .arrow([230, 78], [350, 78])
    .text([290, 70], 'chooses', 'small', 'middle')
    .arrow([230, 156], [350, 156])
    .text([290, 148], 'consent 1', 'small', 'middle')
    .arrow([350, 190], [230, 190])
    .text([290, 206], 'consent 2', 'small', 'middle')
    .box({
      x: 630,
      y: 78,
      width: 120,
      height: 86,
      title: 'cluster',
      lines: ['gets copies while', 'both consents hold'],
      tone: 'good',
    })
    .arrow([570, 121], [630, 121])
}
