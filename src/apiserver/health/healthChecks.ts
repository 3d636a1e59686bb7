/** The checks of a server's health, by upstream's names: probes and tools name these. */
import { isStorageError, type Store } from '../../storage/store.ts'
import { ROOT } from '../spaces/tree.ts'
import type { Health, HealthChecks } from './health.ts'

/**
 * The part of the server's start that does what upstream does in each of its hooks. Hooks without such a part (leases of
 * servers, aggregated servers, cluster authentication) are left out.
 */
const HOOKS: readonly [hook: string, part: string][] = [
  ['start-apiserver-admission-initializer', 'admission'],
  ['generic-apiserver-start-informers', 'requests'],
  ['priority-and-fairness-config-consumer', 'flow control'],
  ['priority-and-fairness-config-producer', 'flow control'],
  ['priority-and-fairness-filter', 'flow control'],
  ['start-apiextensions-informers', 'definitions'],
  ['start-apiextensions-controllers', 'definitions'],
  ['crd-informer-synced', 'definitions'],
  ['bootstrap-controller', 'address'],
  ['start-system-namespaces-controller', 'initial spaces'],
  ['rbac/bootstrap-roles', 'initial spaces'],
  ['scheduling/bootstrap-system-priority-classes', 'initial spaces'],
]

interface HealthDeps {
  store: Pick<Store, 'update'>
  /** Whether a part of the server has started. */
  hasStarted(part: string): boolean
  draining: AbortSignal
}

export function healthChecks({ store, hasStarted, draining }: HealthDeps): Health {
  const hooks: HealthChecks = Object.fromEntries(
    HOOKS.map(([hook, part]) => [`poststarthook/${hook}`, () => hasStarted(part)]),
  )
  const writes = (): Promise<boolean> => takesWrites(store)
  return {
    checks: {
      ping: () => true,
      etcd: writes,
      'etcd-readiness': writes,
      'informer-sync': () => hasStarted('requests'),
      ...hooks,
      shutdown: () => !draining.aborted,
    },
    readinessOnly: ['etcd-readiness', 'informer-sync', 'shutdown'],
  }
}

/** Asks the store for a write that changes nothing: it refuses when the disk has failed it. */
export async function takesWrites(store: Pick<Store, 'update'>): Promise<boolean> {
  const key = { space: ROOT, group: '', resource: 'health', namespace: '', name: 'probe' }
  try {
    await store.update(key, () => undefined)
    return true
  } catch (error) {
    if (isStorageError(error)) return false
    throw error
  }
}
