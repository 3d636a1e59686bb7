/**
 * What of the Workspaces of a space somebody sees. Who was given the right to read them sees all; who has it as everybody has
 * in the root sees those that are their own, and those whose space they may enter: names and URLs of other teams' spaces are
 * nobody else's business. Who made a space is told to themselves and to those who may write Workspaces.
 *
 * A Workspace costs one question to the index of its space's rights, which is made at the first one. Requests for anything
 * else, and those of system:masters, cost nothing.
 */
import { setImmediate } from 'node:timers/promises'
import { StatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import { ANONYMOUS, effectiveUser, GROUPS } from '../auth/users.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import type { SelectedEvent } from '../registry/eventSelector.ts'
import type { Selection } from '../registry/selection.ts'
import { nameAware, type ResourceRequest } from '../request/requestInfo.ts'
import { OWNER_ANNOTATION, ownerName } from '../spaces/workspace.ts'
import type { Exchange, Services } from './exchange.ts'

type Asker = Pick<Exchange, 'user' | 'space' | 'type' | 'info' | 'resource'>
type Judge = Services['authorizer']
export type SeenEvent = Pick<SelectedEvent, 'type' | 'stored'>

/** Indexes of rights that are made before others get their turn. */
const LEARNT_AT_ONCE = 100

/** `undefined` for who sees everything, and for other kinds. */
export async function sightOf(authorizer: Judge, exchange: Asker): Promise<WorkspaceSight | undefined> {
  if (exchange.type.resource !== WORKSPACES.resource || exchange.type.group !== WORKSPACES.group) return undefined
  const user = effectiveUser(exchange.user, exchange.space)
  if (user.groups.includes(GROUPS.masters)) return undefined
  const may = async (verb: string, resource: ResourceRequest): Promise<boolean> =>
    (await authorizer.authorize({ user, space: exchange.space, verb, resource, path: '', ownOnly: true })).allowed
  const asked = nameAware(exchange.info, exchange.resource)
  const [all, owners] = await Promise.all([
    may(exchange.info.verb, asked),
    may('update', { ...asked, subresource: '' }),
  ])
  return all && owners
    ? undefined
    : new WorkspaceSight({ authorizer, user: exchange.user, name: user.name, all, owners })
}

interface Sights {
  authorizer: Judge
  user: Exchange['user']
  /** Who the user is in the space. */
  name: string
  /** Sees every Workspace. */
  all: boolean
  /** Sees whose each one is. */
  owners: boolean
}

export class WorkspaceSight {
  readonly #sights: Sights
  /** By the space's id, as of the last time that it was asked about. */
  readonly #enters = new Map<string, boolean>()

  constructor(sights: Sights) {
    this.#sights = sights
  }

  /** What there is of one object for this user. */
  async seen(stored: Stored): Promise<Stored | undefined> {
    const object = decodeObject(stored)
    await this.#learn([object])
    return this.#sees(object) ? this.shown(stored) : undefined
  }

  /** The selection without what the user does not see. */
  narrowed(selection: Selection): Selection {
    if (this.#sights.all) return selection
    return {
      ...selection,
      everything: false,
      matchesLabels: undefined,
      ready: objects => this.#learn(objects.filter(object => selection.matches(object))),
      matches: object => selection.matches(object) && this.#sees(object),
    }
  }

  /** An object that the user sees, without its owner where that is not theirs to know. */
  shown(stored: Stored): Stored {
    return this.#sights.owners || this.#owns(decodeObject(stored)) ? stored : withoutOwner(stored)
  }

  /** Turns changes of Workspaces into those that the user sees. `known` are the names that they have seen, at `revision`. */
  follow(
    known: Iterable<string>,
    revision: number,
    selection: Selection,
  ): (events: readonly SelectedEvent[]) => Promise<SeenEvent[]> {
    const names = new Set(known)
    return async events => {
      this.#enters.clear()
      await this.#learn(events.map(({ stored }) => decodeObject(stored)))
      return events.flatMap(({ type, stored, event }) => {
        const told = this.#sights.all ? type : this.#told(names, type, stored)
        // whether the user saw it before it went cannot be told any more: its rights went with it
        if (told === undefined && type === 'DELETED' && event.revision <= revision && selection.everything) {
          throw new StatusError('Expired', `too old resource version: ${event.revision} (${revision}); list again`)
        }
        return told === undefined ? [] : [{ type: told, stored: this.shown(stored) }]
      })
    }
  }

  /** What becomes known comes, what was known and is closed goes. */
  #told(names: Set<string>, type: SeenEvent['type'], stored: Stored): SeenEvent['type'] | undefined {
    const { name } = stored.key
    const object = decodeObject(stored)
    const wasKnown = names.has(name)
    if (type === 'DELETED') {
      names.delete(name)
      return wasKnown || this.#owns(object) ? 'DELETED' : undefined
    }
    if (this.#sees(object)) {
      names.add(name)
      return wasKnown ? 'MODIFIED' : 'ADDED'
    }
    names.delete(name)
    return wasKnown ? 'DELETED' : undefined
  }

  async #learn(objects: readonly Readonly<KubeObject>[]): Promise<void> {
    if (this.#sights.all) return
    const { authorizer, user } = this.#sights
    const ids = objects.filter(object => !this.#owns(object)).map(spaceOf)
    for (let i = 0; i < ids.length; i += LEARNT_AT_ONCE) {
      if (i > 0) await setImmediate()
      await Promise.all(
        ids.slice(i, i + LEARNT_AT_ONCE).map(async id => {
          this.#enters.set(id, id !== '' && (await authorizer.mayAccessSpace(user, id)))
        }),
      )
    }
  }

  #sees(object: Readonly<KubeObject>): boolean {
    return this.#sights.all || this.#owns(object) || this.#enters.get(spaceOf(object)) === true
  }

  #owns(object: Readonly<KubeObject>): boolean {
    return this.#sights.name !== ANONYMOUS && ownerName({ object }) === this.#sights.name
  }
}

function spaceOf({ spec }: Readonly<KubeObject>): string {
  return isRecord(spec) && typeof spec.cluster === 'string' ? spec.cluster : ''
}

// Follows from the version alone, and many may ask for it.
const ownerless = new WeakMap<Stored, Stored>()

function withoutOwner(stored: Stored): Stored {
  let without = ownerless.get(stored)
  if (without === undefined) {
    const object = decodeObject(stored)
    const { [OWNER_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {}
    object.metadata.annotations = annotations
    if (Object.keys(annotations).length === 0) delete object.metadata.annotations
    without = versionOf(stored.key, stored.revision, encodeObject(object))
    ownerless.set(stored, without)
  }
  return without
}
