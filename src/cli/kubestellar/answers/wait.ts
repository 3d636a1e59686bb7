/**
 * Whether objects, at their present resourceVersion, are in all clusters of their placements: by placements, slices and work statuses of
 * their space. Pure.
 */
import { num, objects, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../client/client.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import { nameOfObject } from './objectArgument.ts'
import { why } from './why/why.ts'
import type { WhyFacts } from './why/whyAnswer.ts'
import { type ClusterState, isDone } from './workStatus.ts'

export type Goal = 'applied' | 'healthy'

export interface Progress {
  readonly object: string
  /** `stays`: there is nothing to wait for. `unplaced`: it goes nowhere as all is now. */
  readonly state: 'there' | 'stays' | 'unplaced' | 'missing'
  /** Missing copies by place, or the reason why there is nothing to wait for. */
  readonly lines: readonly string[]
  /** In how many it is placed. */
  readonly clusters: number
}

/** Health at which a cluster does not do yet, or no more, what the object asks for. */
const UNWELL: ReadonlySet<string> = new Set(['Progressing', 'Degraded', 'Unknown'])

/** @param version the resourceVersion that is waited for */
export function progressOf(facts: WhyFacts, version: string, goal: Goal): Progress {
  const { resource, object, placements } = facts
  const { name = '', namespace = '' } = object.metadata
  const title = nameOfObject(resource, namespace, name)
  const progress = (state: Progress['state'], lines: readonly string[], clusters = 0): Progress => ({
    object: title,
    state,
    lines,
    clusters,
  })
  if (isPlacement(resource)) return { ...placementProgress(object, goal), object: title }
  const answer = why(facts)
  const selecting = answer.placements.filter(({ selects }) => selects)
  if (['KindStays', 'Natured', 'SystemObject'].includes(answer.verdict)) return progress('stays', [answer.message])
  if (selecting.length === 0) {
    // where its content goes it comes along
    const follows = answer.notes.find(({ reason }) => reason === 'NamespacesFollow')
    return follows ? progress('stays', [`${title}: ${follows.message}`]) : progress('unplaced', [answer.message])
  }
  const names = new Set(selecting.map(one => one.name))
  const open = placements.items.filter(one => names.has(one.metadata.name ?? '') && !isScheduled(one))
  const unscheduled = open.map(one => `edgeplacement ${one.metadata.name}: where it leads is not worked out yet`)
  const wanted = answer.clusters.filter(one => one.placements.length > 0)
  if (wanted.length === 0 && open.length === 0) return progress('unplaced', [answer.message])
  const lines = wanted.flatMap(one => missingIn(one, version, goal) ?? [])
  const missing = [...unscheduled, ...lines]
  return progress(missing.length === 0 ? 'there' : 'missing', missing, wanted.length)
}

function isPlacement({ group, resource }: DiscoveredResource): boolean {
  return group === EDGE_PLACEMENTS.group && resource === EDGE_PLACEMENTS.resource
}

/** Whether its slices are those of its newest spec. */
function isScheduled({ metadata, status }: KubeObject): boolean {
  return num(status, 'specGeneration') >= (metadata.generation ?? 1)
}

function missingIn(one: ClusterState, version: string, goal: Goal): string | undefined {
  const { location, state, reason, message, sourceResourceVersion = '0', health = '', healthMessage } = one
  const words = [reason === state ? '' : (reason ?? ''), message ?? ''].filter(text => text !== '').join(': ')
  if (!isDone({ state })) return `${location}: ${state}${words === '' ? '' : ` (${words})`}`
  if (Number(sourceResourceVersion) < Number(version)) return `${location}: ${state}, of the content before`
  if (goal === 'applied' || !UNWELL.has(health)) return undefined
  return `${location}: ${health}${healthMessage ? ` (${healthMessage})` : ''}`
}

/** Progress of an EdgePlacement itself: all that it selects is there. */
function placementProgress(placement: KubeObject, goal: Goal): Omit<Progress, 'object'> {
  const { metadata, status } = placement
  const { generation = 1 } = metadata
  const clusters = num(status, 'counts', 'clusters')
  const condition = (type: string) =>
    objects(status, 'conditions').find(one => one.type === type && one.observedGeneration === generation)
  if (!isScheduled(placement) || num(status, 'observedGeneration') < generation)
    return { state: 'missing', lines: ['its newest spec is not taken in yet'], clusters }
  const resolved = condition('Resolved')
  if (resolved?.status === 'False') return { state: 'unplaced', lines: [sentence(resolved)], clusters }
  const missing = (goal === 'applied' ? ['Applied'] : ['Applied', 'Healthy']).flatMap(type => {
    const found = condition(type)
    return found?.status === 'True' ? [] : [`${type}: ${found ? sentence(found) : 'not known yet'}`]
  })
  return { state: missing.length === 0 ? 'there' : 'missing', lines: missing.slice(0, 1), clusters }
}

function sentence(condition: Readonly<Record<string, unknown>>): string {
  return [str(condition, 'reason'), str(condition, 'message')].filter(text => text !== '').join(': ')
}

/** Lines of one object, and of all objects. */
const FEW = 5
const MANY = 50

/** Text for people about objects that are missing in their clusters. */
export function missingText(all: readonly Progress[]): string[] {
  const lines = all.flatMap(({ object, lines: own }) => {
    const more = own.length > FEW ? [`  and ${own.length - FEW} more`] : []
    return [object, ...own.slice(0, FEW).map(line => `  ${line}`), ...more]
  })
  return lines.length > MANY ? [...lines.slice(0, MANY), `and ${lines.length - MANY} more lines`] : lines
}
