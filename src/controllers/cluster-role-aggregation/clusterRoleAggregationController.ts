/**
 * Writes into aggregated ClusterRoles the rules of all ClusterRoles of the space that their selectors match. `kubectl get` so shows the
 * rights that they grant. Roles that do not act in their space neither gather nor are gathered.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 */

import { MapOfSets } from '../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { hasRoleSelectors, roleSelectors } from '../../apimachinery/roleSelectors.ts'
import { inSlices, type Steps } from '../../apimachinery/steps.ts'
import { canonicalJson, equalJson } from '../../apimachinery/values.ts'
import { READ, WorkBudget } from '../../apimachinery/workBudget.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import type { Controller } from '../../client/controller.ts'
import { listAll } from '../../client/listWatch.ts'
import { TerminalError } from '../../client/reconcileFailures.ts'
import type { StreamHandler } from '../../client/streamSource.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'

export interface AggregationKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly name: string
}

const ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }

interface Listener {
  wake(key: AggregationKey): void
  /** A role of the space is other than it was. */
  changed(space: string): void
}

/** Which roles gather others, by space: a change of any role of a space is news for those. */
export class AggregatedRoles implements StreamHandler {
  readonly #bySpace = new MapOfSets<string>()
  readonly #nature: Pick<Nature, 'acts'>
  readonly #listener: Listener
  #synced = false

  constructor(nature: Pick<Nature, 'acts'>, listener: Listener) {
    this.#nature = nature
    this.#listener = listener
  }

  begin(): void {
    this.#bySpace.clear()
    this.#synced = false
  }

  change(event: StreamEvent): void {
    const { space, name } = event
    this.#listener.changed(space)
    const gathers = event.type !== 'DELETED' && event.mentions('"aggregationRule":{') && this.#gathers(event)
    if (gathers) this.#bySpace.add(space, name)
    else this.#bySpace.delete(space, name)
    if (this.#synced) this.#wakeAll(space)
  }

  #gathers({ space, object }: StreamEvent): boolean {
    return hasRoleSelectors(object) && this.#nature.acts(space, ROLES, object)
  }

  synced(): void {
    this.#synced = true
    for (const space of this.#bySpace.keys()) {
      this.#listener.changed(space)
      this.#wakeAll(space)
    }
  }

  #wakeAll(space: string): void {
    for (const name of this.#bySpace.of(space)) this.#listener.wake({ space, name })
  }
}

/**
 * The roles of the latest space, until one of them changes. A change wakes all aggregated roles in its space, and each would read all roles
 * there. Held weakly, as they may be many and have a short use.
 */
class LatestRoles {
  readonly #client: Client
  #latest: { space: string; roles: WeakRef<Promise<readonly KubeObject[]>> } | undefined

  constructor(client: Client) {
    this.#client = client
  }

  forget(space: string): void {
    if (this.#latest?.space === space) this.#latest = undefined
  }

  of(space: string): Promise<readonly KubeObject[]> {
    const known = this.#latest?.space === space ? this.#latest.roles.deref() : undefined
    if (known !== undefined) return known
    const roles = listAll(this.#client.in(space), ROLES, {}).then(({ items }) => items)
    this.#latest = { space, roles: new WeakRef(roles) }
    // the caller gets the error; the next one reads anew
    roles.catch(() => this.forget(space))
    return roles
  }
}

interface AggregationOptions extends ControllerRuntime {
  nature: Pick<Nature, 'acts'>
}

export function clusterRoleAggregationController(options: AggregationOptions): Controller<AggregationKey> {
  const latest = new LatestRoles(options.client)
  const handler = new AggregatedRoles(options.nature, {
    wake: key => controller.add(key),
    changed: space => latest.forget(space),
  })
  const controller = spacesController<AggregationKey>({
    ...options,
    name: 'clusterrole-aggregation-controller',
    resources: [ROLES],
    handler,
    reconcile: key => reconcile(options, latest, key),
    id: key => `${key.space}/${key.name}`,
  })
  return controller
}

/** Selectors held against roles, and rules gathered, for one role: the rules of 10,000 roles several times over. */
export const MOST_WORK = 1_000_000

function tooMuch(name: string): TerminalError {
  return new TerminalError(
    `ClusterRole ${name} gathers more rules, or looks for them with more selectors, than can be gathered: its rules stay as they are`,
  )
}

async function reconcile(
  { client, nature, turns }: AggregationOptions,
  latest: LatestRoles,
  { space, name }: AggregationKey,
): Promise<void> {
  const all = await latest.of(space)
  const items = all.filter(item => nature.acts(space, ROLES, item))
  const role = items.find(item => item.metadata.name === name)
  if (role === undefined || !hasRoleSelectors(role)) return
  const budget = new WorkBudget(MOST_WORK, () => tooMuch(name))
  const rules = await inSlices(gatheredRules(role, items, budget), turns.begin({ owner: space }))
  if (equalJson(role.rules ?? [], rules)) return
  latest.forget(space)
  await client.in(space).update(ROLES, { ...role, rules })
}

/**
 * The rules of what each selector of `role` matches, selectors in their order, roles by name, each rule once.
 * Yields where others may have their turn. @throws the budget's error, and has not gathered anything
 */
export function* gatheredRules(role: KubeObject, all: readonly KubeObject[], budget: WorkBudget): Steps<unknown[]> {
  const others = all.filter(other => other.metadata.name !== role.metadata.name)
  others.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  const rules = new Map<string, unknown>()
  for (const selector of roleSelectors(role)) {
    for (const other of others) {
      budget.spend()
      yield
      if (!selector.matches(other.metadata.labels) || !Array.isArray(other.rules)) continue
      for (const rule of other.rules) {
        const text = canonicalJson(rule)
        budget.spend(text.length * READ)
        if (!rules.has(text)) rules.set(text, rule)
      }
    }
  }
  return [...rules.values()]
}
