/**
 * Events in a workload space about an author's tasks: a cluster's refusal, another space's object, a state that will not improve by
 * waiting. On the EdgePlacement, and on the object itself.
 *
 * Trouble is reported when it begins. The same one again, after it ended or after the server did, counts on in the same Event ({@link
 * EventRecorder}).
 */
import { groupResourceName, type KubeObject } from '../../../../apimachinery/object.ts'
import { objectKey } from '../../../../placement/words/names.ts'
import { type NamedPlace, placeName } from '../../../../placement/words/placeNames.ts'
import type { EventRecorder } from '../../../eventRecorder.ts'

/** One object's, in one cluster, as the status of the EdgePlacement lists it. */
export interface Trouble extends NamedPlace {
  readonly group: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
  /** In lower case, as syncers say them; `degraded` of what is applied. */
  readonly state: string
  readonly reason: string
  readonly message: string
}

export interface TroubleEventsDeps {
  events: Pick<EventRecorder, 'record'>
  /** An object of a space, by key; `undefined`: it is gone. */
  read: (space: string, key: string) => Promise<KubeObject | undefined>
}

/** By the state in which a trouble is listed. Absent: its own reason. */
const REASONS: Readonly<Record<string, string>> = {
  refused: 'RefusedByCluster',
  conflict: 'ObjectConflict',
  degraded: 'Degraded',
}
/** Reasons that describe the change to an altered object, or to an applied one with differences. */
const BY_REASON: ReadonlySet<string> = new Set(['altered', 'applied'])

export class TroubleEvents {
  readonly #deps: TroubleEventsDeps
  /** Reported trouble of each placement: as much as its status lists. */
  readonly #reported = new Map<string, ReadonlySet<string>>()

  constructor(deps: TroubleEventsDeps) {
    this.#deps = deps
  }

  forget(space: string, placement: string): void {
    this.#reported.delete(`${space} ${placement}`)
  }

  /** All that is listed now of a placement. `ambiguous`: as {@link placeName} wants it. */
  async report(
    space: string,
    placement: KubeObject,
    troubles: readonly Trouble[],
    ambiguous: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const id = `${space} ${placement.metadata.name ?? ''}`
    const before = this.#reported.get(id)
    const serious = troubles.filter(({ state }) => Object.hasOwn(REASONS, state) || BY_REASON.has(state))
    const now = new Map(serious.map(trouble => [idOf(trouble), trouble]))
    // remembered first: what cannot be written is not tried at every turn
    if (now.size > 0) this.#reported.set(id, new Set(now.keys()))
    else this.#reported.delete(id)
    for (const [one, trouble] of now)
      if (!before?.has(one)) await this.#reportOne(space, placement, trouble, placeName(trouble, ambiguous))
  }

  async #reportOne(space: string, placement: KubeObject, trouble: Trouble, where: string): Promise<void> {
    const { name, namespace = '', message, state } = trouble
    const { events, read } = this.#deps
    const reason = REASONS[state] ?? trouble.reason
    const place = placeOf(trouble)
    const object = `${groupResourceName(trouble)} "${namespace ? `${namespace}/` : ''}${name}"`
    await events.record(space, placement, { reason, place, message: `at ${where}, ${object}: ${message}` })
    // the finder of a conflict reports it on the object
    if (state === 'conflict') return
    const source = await read(space, objectKey(trouble, namespace, name))
    if (source) await events.record(space, source, { reason, place, message: `at ${where}: ${message}` })
  }
}

function idOf(trouble: Trouble): string {
  const { group, resource, namespace = '', name, state } = trouble
  return `${state} ${placeOf(trouble)} ${objectKey({ group, resource }, namespace, name)}`
}

function placeOf({ cluster, location }: Trouble): string {
  return cluster === undefined ? location : `${cluster}/${location}`
}
