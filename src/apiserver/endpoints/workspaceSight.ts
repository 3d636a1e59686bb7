/**
 * Workspaces of a space that a user sees. A granted right to read them covers all. The public right in the root covers the user's own, and
 * those whose space they may enter. Names and URLs of other teams' spaces stay private. The maker of a space is visible to that user and to
 * those who may write Workspaces.
 *
 * A Workspace costs one question to the index of its space's rights, which is made at the first one; a list asks them in slices.
 * Requests for anything else, and those of system:masters, cost nothing.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { type GroupResource, isRecord, isSameResource } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Stored } from '../../storage/store.ts'
import { versionOf } from '../../storage/texts.ts'
import type { UserInfo } from '../auth/types.ts'
import { ANONYMOUS, effectiveUser, GROUPS } from '../auth/users.ts'
import type { Exchange, Services } from '../exchange/exchange.ts'
import { decodeObject, encodeObject } from '../registry/codec.ts'
import type { SelectedEvent } from '../registry/eventSelector.ts'
import type { ListResult } from '../registry/reader.ts'
import type { Selection } from '../registry/selection.ts'
import { nameAware, type ResourceRequest } from '../request/requestInfo.ts'
import { OWNER_ANNOTATION, ownerName } from '../spaces/workspace.ts'

type Asker = Pick<Exchange, 'user' | 'space' | 'type' | 'info' | 'resource'>
type Judge = Services['authorizer']
type SeenEvent = Pick<SelectedEvent, 'type' | 'stored'>

/** `undefined` for who sees everything, and for other kinds. */
export function sightOf(authorizer: Judge, exchange: Asker): Soon<WorkspaceSight | undefined> {
  if (!showsWorkspaces(exchange.type)) return undefined
  const user = effectiveUser(exchange.user, exchange.space)
  return user.groups.includes(GROUPS.masters) ? undefined : narrowedSight(authorizer, exchange, user)
}

export const showsWorkspaces = (type: GroupResource): boolean => isSameResource(type, WORKSPACES)

async function narrowedSight(authorizer: Judge, exchange: Asker, user: UserInfo): Promise<WorkspaceSight | undefined> {
  const may = async (verb: string, resource: ResourceRequest): Promise<boolean> =>
    (await authorizer.authorize({ user, space: exchange.space, verb, resource, path: '', ownOnly: true })).allowed
  const target = nameAware(exchange.info, exchange.resource)
  const [all, owners] = await Promise.all([
    may(exchange.info.verb, target),
    may('update', { ...target, subresource: '' }),
  ])
  return all && owners
    ? undefined
    : new WorkspaceSight({ authorizer, user: exchange.user, name: user.name, all, owners })
}

interface Sights {
  authorizer: Judge
  user: Exchange['user']
  /** Name of the user in the space. */
  name: string
  /** Sees every Workspace. */
  all: boolean
  /** Sees whose each one is. */
  owners: boolean
}

export class WorkspaceSight {
  readonly #sights: Sights
  /** By the space's id, as of the last check. */
  readonly #enters = new Map<string, boolean>()

  constructor(sights: Sights) {
    this.#sights = sights
  }

  /** `before`: a sight of the same user; `undefined` for everything. */
  isLessThan(before: WorkspaceSight | undefined): boolean {
    const { all, owners } = this.#sights
    const was = before === undefined ? { all: true, owners: true } : before.#sights
    return (was.all && !all) || (was.owners && !owners)
  }

  /** View of one object for this user. */
  async seen(stored: Stored): Promise<Stored | undefined> {
    await this.#learn([stored])
    return this.#sees(stored) ? this.shown(stored) : undefined
  }

  /** The selection without what the user does not see. */
  narrowed(selection: Selection): Selection {
    if (this.#sights.all) return selection
    return { ...selection, sight: { learn: (found, work) => this.#learn(found, work), sees: one => this.#sees(one) } }
  }

  /** An object that the user sees, without its owner where that is not theirs to know. */
  shown(stored: Stored): Stored {
    return this.#sights.owners || this.#owns(stored) ? stored : withoutOwner(stored)
  }

  /** The same of all of a list. @throws Abandoned */
  async shownAll(list: ListResult, work?: Work): Promise<ListResult> {
    const items: Stored[] = []
    for (const stored of list.items) {
      if (work?.due) await work.rest()
      items.push(this.shown(stored))
    }
    return { ...list, items }
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
      await this.#learn(events.map(({ stored }) => stored))
      return events.flatMap(({ type, stored, event }) => {
        const seen = this.#sights.all ? type : this.#seenType(names, type, stored)
        // whether the user saw it before it went is unknown now: its rights went with it
        if (seen === undefined && type === 'DELETED' && event.revision <= revision && selection.everything) {
          throw new StatusError('Expired', `too old resource version: ${event.revision} (${revision}); list again`)
        }
        return seen === undefined ? [] : [{ type: seen, stored: this.shown(stored) }]
      })
    }
  }

  /** A space that opens is added, a known one that closes is deleted. */
  #seenType(names: Set<string>, type: SeenEvent['type'], stored: Stored): SeenEvent['type'] | undefined {
    const { name } = stored.key
    const wasKnown = names.has(name)
    if (type === 'DELETED') {
      names.delete(name)
      return wasKnown || this.#owns(stored) ? 'DELETED' : undefined
    }
    if (this.#sees(stored)) {
      names.add(name)
      return wasKnown ? 'MODIFIED' : 'ADDED'
    }
    names.delete(name)
    return wasKnown ? 'DELETED' : undefined
  }

  /** `work`: in whose slices; without, it is about few. */
  async #learn(found: readonly Stored[], work?: Work): Promise<void> {
    if (this.#sights.all) return
    const { authorizer, user } = this.#sights
    for (const stored of found) {
      if (work?.due) await work.rest()
      const { space } = factsOf(stored)
      if (this.#owns(stored)) continue
      const may = space !== '' && authorizer.mayAccessSpace(user, space)
      // of thousands nearly all are known: nobody waits for those
      this.#enters.set(space, typeof may === 'boolean' ? may : await may)
    }
  }

  #sees(stored: Stored): boolean {
    return this.#sights.all || this.#owns(stored) || this.#enters.get(factsOf(stored).space) === true
  }

  #owns(stored: Stored): boolean {
    return this.#sights.name !== ANONYMOUS && factsOf(stored).owner === this.#sights.name
  }
}

interface Facts {
  /** Id of the space; `''` where it has none yet. */
  readonly space: string
  readonly owner: string | undefined
}

// Follow from the version alone, and every list of everybody asks for them.
const facts = new WeakMap<Stored, Facts>()

function factsOf(stored: Stored): Facts {
  return getOrInsert(facts, stored, () => {
    const object = decodeObject(stored)
    const { spec } = object
    const space = isRecord(spec) && typeof spec.cluster === 'string' ? spec.cluster : ''
    return { space, owner: ownerName({ object }) }
  })
}

// Follows from the version alone, and many may ask for it.
const ownerless = new WeakMap<Stored, Stored>()

function withoutOwner(stored: Stored): Stored {
  return getOrInsert(ownerless, stored, () => {
    const object = decodeObject(stored)
    const { [OWNER_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {}
    object.metadata.annotations = annotations
    if (Object.keys(annotations).length === 0) delete object.metadata.annotations
    return versionOf(stored.key, stored.revision, encodeObject(object))
  })
}
