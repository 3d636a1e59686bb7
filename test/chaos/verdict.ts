/** Whether every cluster holds exactly the content of the space, every report of it is true, and nothing foreign was touched. */
import { setTimeout as pause } from 'node:timers/promises'
import { list, num, record, str } from '../../src/apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import type { SpaceClient } from '../../src/client/client.ts'
import { unlessGone } from '../../src/client/unlessGone.ts'
import { EDGE_PLACEMENTS, WORK_STATUSES } from '../../src/placement/words/placement.ts'
import { DEPLOYMENTS, LOCATIONS, MAPS, NAMESPACES, TARGETS } from '../syncer/support/kinds.ts'
import { type Cluster, type Fleet, HOME, SETS } from './fleet.ts'

/**
 * Time of the fleet to settle, once no event comes any more. A repeatedly changed object of its cluster is repaired after up to five
 * minutes.
 */
const SETTLE_MS = 400_000
const LOCAL = 'local'
/** In the first cluster before anybody places one of that name. */
const CONTESTED = 'contested'
const KINDS = [MAPS, DEPLOYMENTS] as const
const OF_EVERY_NAMESPACE = 'kube-root-ca.crt'

/** Objects of the clusters alone: `cluster resource namespace/name` with its uid, version and data. */
export type Foreign = ReadonlyMap<string, string>

export async function makeForeign({ wds, clusters }: Fleet): Promise<Foreign> {
  const known = new Map<string, string>()
  for (const [index, { name, api }] of clusters.entries()) {
    await api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: LOCAL } })
    const places = [`${LOCAL}/theirs`, `${LOCAL}/m1`]
    if (index === 0) {
      await api.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: HOME } })
      places.push(`${HOME}/theirs`, `${HOME}/${CONTESTED}`)
    }
    for (const place of places) {
      const [namespace, object] = place.split('/') as [string, string]
      const made = await api.create(MAPS, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace, name: object },
        data: { whose: name },
      })
      known.set(`${name} ${place}`, identity(made))
    }
  }
  await wds.create(MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: HOME, name: CONTESTED, labels: { set: SETS[0] } },
    data: { whose: 'the space' },
  })
  return known
}

function identity({ metadata, data }: KubeObject): string {
  return JSON.stringify([metadata.uid, metadata.resourceVersion, data])
}

export interface Verdict {
  /** So many were to be in clusters. */
  copies: number
  wrong: string[]
  /** Faults of the look before. */
  last: readonly string[]
}

/** Nothing wrong once all is as it should be; else what is, when that took too long. */
export async function judge(fleet: Fleet, foreign: Foreign): Promise<Verdict> {
  const endMs = performance.now() + SETTLE_MS
  for (let last: readonly string[] = []; ; ) {
    await confirmHeld(fleet.wds)
    const verdict = await look(fleet, foreign).catch((error: unknown) => ({ copies: 0, wrong: [String(error)] }))
    if (verdict.wrong.length === 0 || performance.now() > endMs) return { ...verdict, last }
    last = verdict.wrong
    await pause(500)
  }
}

/** Chaos moves many objects at once, and means it. */
async function confirmHeld(wds: SpaceClient): Promise<void> {
  for (const placement of (await wds.list(EDGE_PLACEMENTS)).items) {
    const held = conditionOf(placement, 'DeletionHeld')
    const [, hash] = /confirm-deletion=(\w+)/.exec(str(held, 'message')) ?? []
    if (str(held, 'status') !== 'True' || hash === undefined) continue
    const annotations = { 'edge.kubestellar.io/confirm-deletion': hash }
    await wds.patch(EDGE_PLACEMENTS, { name: placement.metadata.name! }, 'merge', { metadata: { annotations } })
  }
}

function conditionOf({ status }: KubeObject, type: string): Record<string, unknown> {
  const found = list(status, 'conditions').find(each => str(each, 'type') === type)
  return record(found)
}

async function look(fleet: Fleet, foreign: Foreign): Promise<Omit<Verdict, 'last'>> {
  const { wds, inventory, clusters } = fleet
  const wrong: string[] = []
  const sources = await Promise.all(KINDS.map(async kind => (await wds.list(kind, { namespace: HOME })).items))
  /** `cluster resource name`: the expected state, and the object. */
  const expected = new Map<string, { state: string; source: KubeObject }>()
  for (const [index, cluster] of clusters.entries()) {
    const { labels = {} } = (await inventory.get(LOCATIONS, { name: cluster.name })).metadata
    for (const [at, kind] of KINDS.entries()) {
      for (const source of sources[at]!) {
        if (labels[source.metadata.labels?.set ?? ''] !== 'yes') continue
        const isTheirs = index === 0 && kind === MAPS && source.metadata.name === CONTESTED
        const key = `${cluster.name} ${kind.resource} ${source.metadata.name}`
        expected.set(key, { state: isTheirs ? 'Refused' : 'Applied', source })
      }
    }
    await lookInto(cluster, { expected, foreign, wrong })
    const target = await inventory.get(TARGETS, { name: cluster.name })
    if (str(conditionOf(target, 'Ready'), 'status') !== 'True') wrong.push(`${cluster.name} is not Ready`)
  }
  await lookAtOutcome(fleet, expected, wrong)
  return { copies: expected.size, wrong }
}

interface Looking {
  expected: ReadonlyMap<string, { state: string; source: KubeObject }>
  foreign: Foreign
  wrong: string[]
}

async function lookInto({ name, api }: Cluster, { expected, foreign, wrong }: Looking): Promise<void> {
  for (const kind of KINDS) {
    const { items } = await api.list(kind)
    const found = new Map(items.map(item => [`${item.metadata.namespace}/${item.metadata.name}`, item]))
    for (const [key, { state, source }] of expected) {
      const [cluster, resource] = key.split(' ')
      if (cluster !== name || resource !== kind.resource || state !== 'Applied') continue
      const copy = found.get(`${HOME}/${source.metadata.name}`)
      const difference = copy === undefined ? 'is missing' : differenceOf(copy, source, kind)
      if (difference !== '') wrong.push(`${key} ${difference}`)
    }
    for (const [place, item] of found) {
      if (place.endsWith(`/${OF_EVERY_NAMESPACE}`)) continue
      const theirs = foreign.get(`${name} ${place}`)
      const wanted = expected.get(`${name} ${kind.resource} ${item.metadata.name}`)
      if (kind === MAPS && theirs !== undefined) {
        if (identity(item) !== theirs)
          wrong.push(`${name}: ${place}, which is the cluster's own, became ${identity(item)}`)
      } else if (place.startsWith(`${HOME}/`) && wanted?.state !== 'Applied')
        wrong.push(`${name}: ${place} is left over`)
    }
    if (kind !== MAPS) continue
    for (const key of foreign.keys()) {
      const [cluster, place] = key.split(' ') as [string, string]
      if (cluster === name && !found.has(place)) wrong.push(`${name}: ${place}, which is the cluster's own, is gone`)
    }
  }
}

function differenceOf(copy: KubeObject, source: KubeObject, kind: GroupVersionResource): string {
  const said = (object: KubeObject): string =>
    kind === MAPS ? JSON.stringify(object.data) : JSON.stringify([num(object, 'spec', 'replicas'), image(object)])
  if (said(copy) !== said(source)) return `says ${said(copy)} instead of ${said(source)}`
  if (copy.metadata.labels?.set !== source.metadata.labels?.set) return 'has another label'
  return ''
}

function image(object: KubeObject): string {
  return str(list(object, 'spec', 'template', 'spec', 'containers')[0], 'image')
}

async function lookAtOutcome({ wds, clusters }: Fleet, expected: Looking['expected'], wrong: string[]): Promise<void> {
  const told = new Map<string, KubeObject>()
  for (const row of (await wds.list(WORK_STATUSES, { namespace: HOME })).items) {
    const { sourceRef, location } = record(row, 'spec')
    told.set(`${str(location, 'name')} ${str(sourceRef, 'resource')} ${str(sourceRef, 'name')}`, row)
  }
  for (const [key, { state, source }] of expected) {
    const row = told.get(key)
    const found = str(row, 'status', 'state')
    if (found !== state)
      wrong.push(`${key} is told as ${found || 'nothing'} instead of ${state}: ${str(row, 'status', 'message')}`)
    const generation = num(source, 'metadata', 'generation')
    if (state === 'Applied' && num(row, 'status', 'generation') !== generation)
      wrong.push(`${key} is told of another generation`)
    const [name, resource] = key.split(' ')
    if (resource !== DEPLOYMENTS.resource || state !== 'Applied') continue
    const { api } = clusters.find(cluster => cluster.name === name)!
    // what is missing there was found by the look into the cluster, which says more
    const there = await unlessGone(api.get(DEPLOYMENTS, { namespace: HOME, name: source.metadata.name! }))
    if (there === undefined) continue
    const ready = num(there, 'status', 'readyReplicas')
    if (num(row, 'status', 'reported', 'readyReplicas') !== ready) wrong.push(`${key}: the reported status is another`)
    if (str(row, 'status', 'health') !== 'Healthy') wrong.push(`${key} is told as ${str(row, 'status', 'health')}`)
  }
  for (const key of told.keys()) if (!expected.has(key)) wrong.push(`${key} is told, and is not to be there`)
  const counted = { applied: 0, copies: 0, refused: 0 }
  for (const placement of (await wds.list(EDGE_PLACEMENTS)).items)
    for (const what of ['applied', 'copies', 'refused'] as const)
      counted[what] += num(placement, 'status', 'counts', what)
  const states = [...expected.values()].map(({ state }) => state)
  const wanted = {
    applied: states.filter(state => state === 'Applied').length,
    copies: states.length,
    refused: states.filter(state => state === 'Refused').length,
  }
  if (JSON.stringify(counted) !== JSON.stringify(wanted))
    wrong.push(`EdgePlacements count ${JSON.stringify(counted)} instead of ${JSON.stringify(wanted)}`)
}
