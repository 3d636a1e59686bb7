/** The table of scenes: moves that a scene is made of, each alone, and pairs and triples of them that a seed chooses. */

import { CRDS, NAMESPACES, WORKSPACES } from '../../../../src/apimachinery/resources.ts'
import {
  CONFIRM_DELETION_ANNOTATION,
  CUSTOMIZER_ANNOTATION,
  EDGE_PLACEMENTS,
  EXPAND_ANNOTATION,
  HAND_OVER_ANNOTATION,
  INVENTORY_BINDINGS,
  LOCATIONS,
  mailboxName,
  PAUSED_ANNOTATION,
  PLACEMENT_GRANTS,
  SYNC_TARGETS,
  UPSYNC_FULL,
} from '../../../../src/placement/words/placement.ts'
import { Seeded } from '../../../support/seeded.ts'
import { namespace } from '../fakeServer.ts'
import { CRONTABS, configMap, EDGE, FLORIN_UID, MAPS, SETS } from '../translatorWorld.ts'
import { ALL, CLUSTER_ROLES, type SceneStage, toward } from './sceneStage.ts'

export type Move = (stage: SceneStage) => Promise<unknown> | unknown

const CUSTOMIZERS = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'customizers' }
const at = (name: string) => ({ namespace: 'commonstuff', name })
const annotated = (key: string, value: string) => ({ metadata: { annotations: { [key]: value } } })
const customizer = (path: string) => ({
  apiVersion: EDGE,
  kind: 'Customizer',
  metadata: { ...at('cust'), annotations: { [EXPAND_ANNOTATION]: 'true' } },
  replacements: [{ path, value: '"%(loc-name)"' }],
})
const customized = { ...annotated(CUSTOMIZER_ANNOTATION, 'cust') }
const difference = { path: 'data.v', change: 'Changed', wanted: '"1"', live: '"2"' } as const

export const MOVES: Readonly<Record<string, Move>> = {
  // where a placement leads
  'ep leads to florin alone': s => s.edit({ locationSelectors: toward('florin') }),
  'ep leads nowhere': s => s.edit({ locationSelectors: [{ matchLabels: { 'loc-name': 'nobody' } }] }),
  'ep leads to one cluster with its status': s =>
    s.edit({ locationSelectors: toward('guilder'), wantSingletonReportedState: true }),
  'Location guilder goes': s => s.inventory.delete(LOCATIONS, { name: 'guilder' }),
  'SyncTarget florin goes': s => s.inventory.delete(SYNC_TARGETS, { name: 'florin' }),
  'SyncTarget florin is unschedulable': s =>
    s.inventory.patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { spec: { unschedulable: true } }),
  'the mailbox of florin goes': s =>
    s.world.server.in('root:espw').delete(WORKSPACES, { name: mailboxName('inv1', FLORIN_UID) }),
  'the mailbox of florin takes nothing': s => s.refuseWrites('florin'),
  // what is placed
  'ep leaves ConfigMaps out': s => s.edit({ downsync: ALL.slice(1) }),
  'ep goes': s => s.wds.delete(EDGE_PLACEMENTS, { name: 'ep' }),
  'a changes': s => s.wds.patch(MAPS, at('a'), 'merge', { data: { v: '2' } }),
  'a goes': s => s.wds.delete(MAPS, at('a')),
  'c comes': s => s.wds.create(MAPS, configMap('c', { v: '1' })),
  'a CronTab comes with its definition': async s => {
    const names = { plural: 'crontabs', kind: 'CronTab' }
    const metadata = { name: 'crontabs.stable.example.com' }
    const spec = { group: CRONTABS.group, names, scope: 'Namespaced' }
    await s.wds.create(CRDS, {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata,
      spec,
    })
    await s.wds.create(CRONTABS, {
      apiVersion: 'stable.example.com/v1',
      kind: 'CronTab',
      metadata: at('tick'),
      spec: {},
    })
  },
  'a ClusterRole changes': s =>
    s.wds.patch(CLUSTER_ROLES, { name: 'r' }, 'merge', { metadata: { labels: { x: 'y' } } }),
  'q places a and b, too, on guilder': s =>
    s.place(s.wds, 'q', { locationSelectors: toward('guilder'), downsync: ALL.slice(0, 1) }),
  // consent
  'the grant goes': s => s.inventory.delete(PLACEMENT_GRANTS, { name: 'wds1' }),
  'the grant allows ConfigMaps alone': s =>
    s.inventory.patch(PLACEMENT_GRANTS, { name: 'wds1' }, 'merge', {
      spec: { clusterScoped: false, downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['*'] }] },
    }),
  'the grant is for florin alone': s =>
    s.inventory.patch(PLACEMENT_GRANTS, { name: 'wds1' }, 'merge', { spec: { locations: toward('florin')[0] } }),
  'the binding goes': s => s.wds.delete(INVENTORY_BINDINGS, { name: 'inv1' }),
  'the binding is made again': s =>
    s.wds
      .create(INVENTORY_BINDINGS, {
        apiVersion: EDGE,
        kind: 'InventoryBinding',
        metadata: { name: 'inv1' },
        spec: { path: 'root:inv1' },
      })
      .catch(() => {}),
  'ep wishes a carried up': s =>
    s.edit({ upsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], names: ['a'] }] }),
  // two owners
  'wds2 places another a': async s => {
    await s.other.create(MAPS, configMap('a', { v: 'theirs' }))
    await s.place(s.other, 'theirs', { downsync: ALL.slice(0, 1) })
  },
  'wds1 hands a over to wds2': s => s.wds.patch(MAPS, at('a'), 'merge', annotated(HAND_OVER_ANNOTATION, 'root:wds2')),
  'wds2 places something of its own': async s => {
    await s.other.create(MAPS, configMap('own', { v: 'theirs' }))
    await s.place(s.other, 'own', { downsync: ALL.slice(0, 1), locationSelectors: toward('guilder') })
  },
  // pauses and holds
  'ep is paused': s => s.edit({ paused: true }),
  'a is paused': s => s.wds.patch(MAPS, at('a'), 'merge', annotated(PAUSED_ANNOTATION, 'true')),
  'Location florin is paused': s =>
    s.inventory.patch(LOCATIONS, { name: 'florin' }, 'merge', annotated(PAUSED_ANNOTATION, 'true')),
  'pauses end': async s => {
    const none = { metadata: { annotations: { [PAUSED_ANNOTATION]: null } } }
    await s.edit({ paused: null }).catch(() => {})
    await s.wds.patch(MAPS, at('a'), 'merge', none).catch(() => {})
    await s.inventory.patch(LOCATIONS, { name: 'florin' }, 'merge', none)
  },
  'thirty come and are left out': async s => {
    for (let i = 0; i < 30; i++) await s.wds.create(MAPS, configMap(`m${i + 10}`, {}))
    await s.settle()
    await s.edit({ downsync: ALL.slice(1) }).catch(() => {})
  },
  'the hold is confirmed': async s => {
    const ep = s.world.server.peek('wds1', EDGE_PLACEMENTS, 'ep')
    const hash = /confirm-deletion=(\w+)/.exec(JSON.stringify(ep?.status ?? null))?.[1]
    if (hash) await s.wds.patch(EDGE_PLACEMENTS, { name: 'ep' }, 'merge', annotated(CONFIRM_DELETION_ANNOTATION, hash))
  },
  // Customizers
  'a asks for a Customizer that is missing': s => s.wds.patch(MAPS, at('a'), 'merge', customized),
  'a gets a Customizer': async s => {
    await s.wds.create(CUSTOMIZERS, customizer('$.data.v'))
    await s.wds.patch(MAPS, at('a'), 'merge', customized)
  },
  'a gets a broken Customizer': async s => {
    await s.wds.create(CUSTOMIZERS, customizer('$.data['))
    await s.wds.patch(MAPS, at('a'), 'merge', customized)
  },
  'a expands parameters that florin lacks': s =>
    s.wds.patch(MAPS, at('a'), 'merge', { ...annotated(EXPAND_ANNOTATION, 'true'), data: { v: '%(unheard-of)' } }),
  // reports of clusters
  'florin refuses a': s => s.except('florin', MAPS, 'a', {}),
  'both refuse r': s => {
    for (const cluster of ['florin', 'guilder'] as const) s.except(cluster, CLUSTER_ROLES, 'r', { reason: 'Forbidden' })
  },
  'florin retries b': s => s.except('florin', MAPS, 'b', { state: 'retrying', reason: 'Timeout' }),
  'florin waits with a': s => s.except('florin', MAPS, 'a', { state: 'waiting', reason: 'NamespaceMissing' }),
  'florin serves no ReplicaSets': s => s.except('florin', SETS, 's', { state: 'unserved', reason: 'KindNotServed' }),
  'a of guilder is terminating': s => s.except('guilder', MAPS, 'a', { state: 'terminating', reason: 'Terminating' }),
  'the syncer of florin holds a': s => s.except('florin', MAPS, 'a', { state: 'held', reason: 'Paused' }),
  'b drifts at guilder': s => s.except('guilder', MAPS, 'b', { state: 'drifted', reason: 'KeepsChanging' }),
  'florin alters s': s =>
    s.except('florin', SETS, 's', {
      state: 'altered',
      reason: 'FieldsChanged',
      differences: [{ ...difference, path: 'spec.replicas', decisive: true }],
    }),
  'florin holds another field of a': s =>
    s.except('florin', MAPS, 'a', {
      state: 'applied',
      reason: 'FieldsChanged',
      differences: [{ ...difference, decisive: false }],
    }),
  's is finished at florin': s =>
    s.except('florin', SETS, 's', {
      state: 'finished',
      reason: 'Succeeded',
      health: { health: 'Healthy', message: '' },
    }),
  's failed and is finished at florin': s =>
    s.except('florin', SETS, 's', {
      state: 'finished',
      reason: 'Failed',
      health: { health: 'Degraded', message: 'it failed' },
    }),
  's is suspended at guilder': s =>
    s.except('guilder', SETS, 's', {
      state: 'applied',
      reason: 'FieldsChanged',
      health: { health: 'Suspended', message: 'it stands still' },
    }),
  'florin counts more than it lists': s => {
    s.clusters.florin.unlisted = { refused: 3 }
  },
  'florin is silent': s => {
    s.clusters.florin.isSilent = true
  },
  'both are silent': s => {
    for (const cluster of ['florin', 'guilder'] as const) s.clusters[cluster].isSilent = true
  },
  'the syncer of florin does not reach it': s => {
    s.clusters.florin.isUnreachable = true
  },
  'florin has compared nothing yet': s => {
    s.clusters.florin.isCompared = false
  },
  'florin looks at nothing new': s => {
    s.clusters.florin.stoppedAt = s.world.server.revision
  },
  'florin has no more exceptions': s => {
    s.clusters.florin.exceptions.clear()
    Object.assign(s.clusters.florin, { isSilent: false, isUnreachable: false, isCompared: true, stoppedAt: undefined })
  },
  's is available everywhere': async s => {
    const status = { replicas: 1, readyReplicas: 1, availableReplicas: 1, observedGeneration: 1 }
    for (const cluster of ['florin', 'guilder'] as const) await s.report(cluster, status)
  },
  's fails at guilder': s => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message: 'quota' }]
    return s.report('guilder', { replicas: 0, observedGeneration: 1, conditions })
  },
  // around it
  'the Namespace of wds1 gets a label': s =>
    s.wds.patch(NAMESPACES, { name: 'commonstuff' }, 'merge', { metadata: { labels: { team: 'blue' } } }),
  'a Namespace is placed': async s => {
    await s.wds.create(NAMESPACES, namespace('shop'))
    await s.edit({ downsync: [...ALL, { apiGroup: '', resources: ['namespaces'], objectNames: ['shop'] }] })
  },
  'the translator starts anew': s => s.world.restart(async () => {}),
}

/** Scenes that no recording has: conditions whose reasons a new run has to look for. */
export const RESTARTED: Readonly<Record<string, Move>> = {
  'the mailbox of florin has no room': async s => {
    await s.edit({ upsync: [{ apiGroup: '', resources: ['events'], namespaces: ['*'], names: ['*'] }] })
    await s.settle()
    await s.syncerReports('florin', { refused: { count: 2, reasons: { [UPSYNC_FULL]: 2 }, objects: [] } })
  },
  'florin leaves associated objects out': async s => {
    await s.inventory.patch(PLACEMENT_GRANTS, { name: 'wds1' }, 'merge', { spec: { associated: ['pods'] } })
    await s.edit({ associated: { kinds: ['pods'] } })
    await s.settle()
    await s.syncerReports('florin', { associated: { leftOut: [], notAllowed: ['pods'] } })
  },
  'no status comes back of what is in several clusters': async s => {
    await s.edit({ wantSingletonReportedState: true })
    await s.settle()
    for (const cluster of ['florin', 'guilder'] as const) await s.report(cluster, { replicas: 1 })
  },
  'a StatusCollector is missing': s => s.edit({ downsync: ALL.map(one => ({ ...one, statusCollectors: ['none'] })) }),
  'an edit comes to one cluster at a time': async s => {
    await s.edit({ rolloutStrategy: { type: 'Progressive', progressive: { maxConcurrency: 1 } } })
    for (let i = 0; i < 4; i++) await s.settle()
    await s.wds.patch(MAPS, at('a'), 'merge', { data: { v: '2' } })
    s.clusters.florin.isCompared = false
    s.clusters.guilder.isCompared = false
  },
}

/** Chooses the pairs and triples. Another seed makes other scenes: record them anew. */
const SEED = 20_261_129
const COUNT = 200

/** Names of moves, in their order, of each scene. */
export function scenes(): readonly (readonly string[])[] {
  const names = Object.keys(MOVES)
  const found = new Map<string, readonly string[]>([['', []]])
  for (const name of names) found.set(name, [name])
  const seeded = new Seeded(SEED)
  while (found.size < COUNT) {
    const scene = Array.from({ length: seeded.chance(70) ? 2 : 3 }, () => seeded.one(names))
    if (new Set(scene).size === scene.length) found.set(scene.join('; '), scene)
  }
  return [...found.values()]
}
