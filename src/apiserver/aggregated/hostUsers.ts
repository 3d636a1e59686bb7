/**
 * Users of a host cluster as this server sees them. Each name has a prefix, groups too: none is a user or a group of this server. The host's system:masters are `host:system:masters` here, who hold what spaces give them.
 */
import { hash } from 'node:crypto'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { UserInfo } from '../auth/types.ts'
import { GROUPS } from '../auth/users.ts'
import { HOST_PROBES } from '../flowcontrol/flowMatching.ts'

export interface HostUser {
  readonly user: UserInfo
  readonly hostUser: UserInfo
  /** The same for the same user. */
  readonly id: string
}

/** As which the aggregation layer of the host asks by itself: an APIService is unavailable while these wait. */
const PROBES: ReadonlySet<string> = new Set(['system:kube-aggregator', 'system:aggregator'])

/** Remembered, so that rights are worked out once for each. */
const USERS = 4096

export class HostUsers {
  readonly #prefix: string
  readonly #known = new BoundedCache<string, HostUser>(USERS)

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  of(named: UserInfo): HostUser {
    const id = hash('sha256', JSON.stringify([named.name, named.uid, named.groups, named.extra]), 'base64')
    const known = this.#known.get(id)
    if (known !== undefined) return known
    const { name, uid, groups, extra } = named
    const others = groups.filter(group => group !== GROUPS.authenticated && group !== GROUPS.unauthenticated)
    // anonymous users of the host are strangers in each space
    const standing = groups.includes(GROUPS.unauthenticated) ? [] : [GROUPS.authenticated]
    const made: HostUser = {
      id,
      user: {
        name: this.#prefix + name,
        ...(uid !== undefined && { uid }),
        groups: [...others.map(group => this.#prefix + group), ...(PROBES.has(name) ? [HOST_PROBES] : []), ...standing],
      },
      hostUser: {
        name,
        ...(uid !== undefined && { uid }),
        groups: standing.length === 0 ? groups : [...others, ...standing],
        ...(extra && { extra }),
      },
    }
    this.#known.set(id, made)
    return made
  }
}
