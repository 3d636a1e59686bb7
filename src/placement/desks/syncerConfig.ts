/**
 * What is stored of a mailbox's SyncerConfig `the-one`. Its syncer carries down what is projected into the mailbox, and that is not
 * said again here: who reads the lists gets them made from the mailbox (derivedLists.ts of the server). So an object that comes
 * or goes is no change of it, however many there are.
 */
import { at, objects, str } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { shortLine } from '../../apimachinery/shortened.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { UpsyncSet } from '../select/placementSpec.ts'
import { objectKey } from '../words/names.ts'
import {
  CARRIES_ANNOTATION,
  CARRIES_PROJECTED,
  EDGE_API_VERSION,
  SYNCER_CONFIG_NAME,
  UPSYNC_FULL,
} from '../words/placement.ts'

/** Key of what a cluster refuses to have carried up, in place of an object's key. */
export const UPSYNC_KEY = ''

/** Reasons of a cluster's refusals, in its words, by object key. */
export type Refused = ReadonlyMap<string, string>

export const NOTHING_REFUSED: Refused = new Map()
const MAX_OBJECTS = 100
const MAX_WORDS = 300

export interface SyncerConfigSpec {
  readonly namespaceScope: Readonly<Record<string, never>>
  readonly namespacedObjects: readonly []
  readonly clusterScope: readonly []
  readonly upsync: readonly UpsyncSet[]
}

/** Equal upsync sets count once. */
export function syncerConfigSpec(upsync: readonly UpsyncSet[]): SyncerConfigSpec {
  return { namespaceScope: {}, namespacedObjects: [], clusterScope: [], upsync: distinct(upsync) }
}

export function createdSyncerConfig(spec: SyncerConfigSpec): KubeObject {
  return {
    apiVersion: EDGE_API_VERSION,
    kind: 'SyncerConfig',
    metadata: { name: SYNCER_CONFIG_NAME, annotations: { [CARRIES_ANNOTATION]: CARRIES_PROJECTED } },
    spec,
  }
}

/** The body that brings it up to date, status untouched, or `undefined` when it says the same already. */
export function updatedSyncerConfig(spec: SyncerConfigSpec, current: KubeObject): KubeObject | undefined {
  const { annotations } = current.metadata
  if (equalJson(current.spec, spec) && annotations?.[CARRIES_ANNOTATION] === CARRIES_PROJECTED) return undefined
  const metadata = { ...current.metadata, annotations: { ...annotations, [CARRIES_ANNOTATION]: CARRIES_PROJECTED } }
  return { ...current, metadata, spec }
}

function distinct(sets: readonly UpsyncSet[]): UpsyncSet[] {
  const byText = new Map(
    sets.map(set => [JSON.stringify([set.apiGroup, set.resources, set.namespaces, set.names]), set]),
  )
  return [...byText].sort(byFirst).map(([, { apiGroup, resources, namespaces, names }]) => ({
    apiGroup,
    resources: [...resources],
    namespaces: [...namespaces],
    names: [...names],
  }))
}

function byFirst(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}

/** From the status of a SyncerConfig, by object key; bounded. */
export function refusedIn({ status }: KubeObject): Refused {
  const report = isRecord(status) && isRecord(status.refused) ? status.refused : {}
  const listed = objects(report, 'objects').slice(0, MAX_OBJECTS)
  const isFull = Number(at(report, 'reasons', UPSYNC_FULL)) > 0
  if (listed.length === 0 && !isFull) return NOTHING_REFUSED
  const refused = new Map(
    listed.map(object => [
      objectKey(
        { group: str(object, 'group'), resource: str(object, 'resource') },
        str(object, 'namespace'),
        str(object, 'name'),
      ),
      wordsOf(object),
    ]),
  )
  return isFull ? refused.set(UPSYNC_KEY, CARRIED_TOO_MUCH) : refused
}

const CARRIED_TOO_MUCH =
  'as much is carried up from there as may be: select less, or ask who administers the inventory for a larger budget'

/** On one line. */
function wordsOf(object: Record<string, unknown>): string {
  const words = str(object, 'message') || str(object, 'reason')
  return shortLine(words, MAX_WORDS) || 'it does not say why'
}

/** Keys that are not in both with the same words. */
export function differentRefusals(a: Refused, b: Refused): Set<string> {
  const news = new Set<string>()
  for (const [key, words] of a) if (b.get(key) !== words) news.add(key)
  for (const [key, words] of b) if (a.get(key) !== words) news.add(key)
  return news
}
