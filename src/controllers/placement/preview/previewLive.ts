/**
 * Present content of an object in the clusters, from their syncers, beside the content that is on its way. A missing answer is reported,
 * and the syncer's last report stands.
 */

import { record } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { inSlices, type Rests } from '../../../apimachinery/steps.ts'
import {
  type LIVE_STATES,
  type LiveAnswer,
  type LiveAsker,
  MAX_LIVE_CLUSTERS,
  type Unanswered,
} from '../../../placement/desks/liveObjects.ts'
import type { LiveWish, PreviewAction } from '../../../placement/desks/placementPreview.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { ObjectFact } from '../join/workload.ts'
import type { Mailbox } from '../mailboxes/mailbox.ts'
import type { Finding } from './previewGroups.ts'

export interface PreviewLiveDeps {
  live: LiveAsker | undefined
  mailbox: (name: string) => Pick<Mailbox, 'space' | 'synced' | 'copies' | 'ownerOf'> | undefined
}

export interface LiveRequest {
  readonly space: string
  readonly fact: ObjectFact
  readonly object: KubeObject
  /** Where it is placed, by mailbox. */
  readonly ways: ReadonlyMap<string, Destination>
  /** Whether what is on its way there may be shown. */
  readonly shows: (mailbox: string, way: Destination) => Promise<boolean>
}

interface Found {
  readonly action: PreviewAction
  readonly why?: Reason | undefined
  readonly content?: { readonly before: KubeObject; readonly after: KubeObject }
}

export interface LiveAsking {
  readonly wish: LiveWish
  /** Key of this preview alone. */
  readonly hashKey: string
  /** Aborts when the caller has gone. */
  readonly gone?: AbortSignal | undefined
  readonly work?: Rests | undefined
}

/** Live content for one preview. */
export class PreviewLive {
  readonly #deps: PreviewLiveDeps
  readonly #asking: LiveAsking
  /** Mailboxes whose syncers were waited for in vain: not once more for each object. */
  readonly #silent = new Set<string>()
  #left = MAX_LIVE_CLUSTERS

  constructor(deps: PreviewLiveDeps, asking: LiveAsking) {
    this.#deps = deps
    this.#asking = asking
  }

  async find(live: LiveRequest, findings: Finding): Promise<void> {
    const { locations } = this.#asking.wish
    const wanted = [...live.ways].filter(([, way]) => locations?.includes(way.locationName) ?? true)
    const found = await Promise.all(wanted.map(([mailbox, way]) => this.#ask(live, mailbox, way)))
    // in the order of the places, whoever answers first
    for (const [i, { action, why, content }] of found.entries()) {
      if (content) await inSlices(findings.show(action, wanted[i]![1], content, why), this.#asking.work)
      else findings.add(action, wanted[i]![1], why)
    }
  }

  async #ask(live: LiveRequest, name: string, way: Destination): Promise<Found> {
    const { space, fact, object } = live
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox?.synced || !mailbox.copies.has(fact.key) || mailbox.ownerOf(fact.key) !== space)
      return { action: 'Unknown', why: NOT_THERE }
    if (this.#silent.has(name)) return { action: 'Unknown', why: UNANSWERED.SilentSyncer }
    if (this.#left-- <= 0) return { action: 'Unknown', why: NOT_REQUESTED }
    const { group, resource } = fact.resource
    const question = { group, resource, namespace: fact.namespace, name: fact.name, hashKey: this.#asking.hashKey }
    const answer = (await this.#deps.live?.ask(mailbox.space, space, question, this.#asking.gone)) ?? 'NoSyncer'
    if (answer === 'SilentSyncer') this.#silent.add(name)
    if (typeof answer === 'string') return { action: 'Unknown', why: UNANSWERED[answer] }
    const { action, why } = MEANINGS[answer.state]
    if (answer.state !== 'differs') return { action, why: why && { ...why, message: wordsOf(why, answer) } }
    if (!(await live.shows(name, way))) return { action, why: HIDDEN }
    if (!answer.wanted || !answer.live) return { action, why: TOO_LARGE }
    return { action, content: { before: objectOf(object, answer.live), after: objectOf(object, answer.wanted) } }
  }
}

/** A syncer's word, in the form of the object that it is about: it may say anything. */
function objectOf(
  { apiVersion, kind, metadata: { name, namespace } }: KubeObject,
  reported: Record<string, unknown>,
): KubeObject {
  const { metadata, ...fields } = reported
  const texts = (field: 'labels' | 'annotations'): Record<string, string> => {
    const entries = Object.entries(record(metadata, field))
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  }
  const place = { ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) }
  return {
    ...fields,
    apiVersion,
    kind,
    metadata: { ...place, labels: texts('labels'), annotations: texts('annotations') },
  }
}

function wordsOf({ message }: Reason, answer: LiveAnswer): string {
  return answer.message === '' ? message : `${message}: ${answer.message}`
}

const MEANINGS: Readonly<Record<(typeof LIVE_STATES)[number], { action: PreviewAction; why?: Reason }>> = {
  same: { action: 'Unchanged' },
  differs: { action: 'Update' },
  missing: { action: 'Create', why: { reason: 'Missing', message: 'the cluster has none' } },
  finished: {
    action: 'Unchanged',
    why: { reason: 'Finished', message: 'it has run to its end there, and the cluster holds it no more' },
  },
  notOurs: {
    action: 'Conflict',
    why: { reason: 'NotOurs', message: 'what is there was there before, or is left alone: it is not compared' },
  },
  notCarried: {
    action: 'Unknown',
    why: { reason: 'NotCarried', message: 'its syncer does not carry it, or not yet' },
  },
  failed: { action: 'Unknown', why: { reason: 'ClusterFailed', message: 'the cluster could not be read' } },
}

const STANDS = 'what it last reported stands'
const UNANSWERED: Readonly<Record<Unanswered, Reason>> = {
  NoSyncer: { reason: 'NoSyncer', message: `the cluster was not read, for no syncer of it is connected; ${STANDS}` },
  SilentSyncer: {
    reason: 'SilentSyncer',
    message: `the cluster was not read, for its syncer did not answer; ${STANDS}`,
  },
  TooMany: {
    reason: 'TooMany',
    message: `the cluster was not read, for too many questions wait; ${STANDS}; try again`,
  },
}
const NOT_REQUESTED: Reason = {
  reason: 'NotAsked',
  message: `no more than ${MAX_LIVE_CLUSTERS} clusters are read for one question; ${STANDS}`,
}
const NOT_THERE: Reason = { reason: 'NotPlaced', message: 'it is not on its way to the cluster yet' }
const TOO_LARGE: Reason = { reason: 'TooLarge', message: 'it is not as it should be, and too large to be shown' }
const HIDDEN: Reason = {
  reason: 'NotShown',
  message:
    'it is not as it should be. The difference is not shown: it has annotations of the location, which this space may not read',
}
