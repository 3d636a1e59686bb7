/**
 * Finishes the deletion of namespaces: everything in them goes first, then the finalizer `kubernetes`. A namespace whose
 * content is not known for sure (discovery or a list failed) stays.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import type { Random } from '../../client/backoff.ts'
import type { Client } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import { deletionConditions, isEmpty, statusWith } from './conditions.ts'
import { deleteContent } from './content.ts'

interface NamespaceKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly name: string
}

interface NamespaceControllerOptions {
  client: Client
  logger: Logger
  /** Of its work queue. */
  guard?: KeyGuard | undefined
  /** Slices of the loop's time in which it takes events and works. */
  turns: WorkTurns
  clock: Clock
  random: Random
}

const FINALIZER = 'kubernetes'

class NamespaceReconciler {
  readonly #client: Client
  readonly #clock: Clock
  readonly #turns: WorkTurns

  constructor(options: NamespaceControllerOptions) {
    this.#turns = options.turns
    this.#client = options.client
    this.#clock = options.clock
  }

  async reconcile(key: NamespaceKey, signal: AbortSignal): Promise<ReconcileResult> {
    const client = this.#client.in(key.space)
    const namespace = await unlessGone(client.get(NAMESPACES, { name: key.name }))
    if (!namespace || !isTerminating(namespace)) return {}
    const report = await deleteContent(client, key.name, { signal, work: this.#turns.begin({ owner: key.space }) })
    const empty = isEmpty(report)
    const status = statusWith(namespace, deletionConditions(report), new Date(this.#clock.now()))
    try {
      const current = status
        ? await client.update(NAMESPACES, { ...namespace, status }, { subresource: 'status' })
        : namespace
      if (empty) await client.update(NAMESPACES, withoutFinalizer(current), { subresource: 'finalize' })
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return {}
      throw error
    }
    return empty ? {} : { requeueAfterMs: waitMs(namespace, this.#clock.now()) }
  }
}

/** Wakes for every namespace of every space that is being deleted. */
export function namespaceController(options: NamespaceControllerOptions): Controller<NamespaceKey> {
  const reconciler = new NamespaceReconciler(options)
  const source = new StreamSource({
    client: options.client,
    space: '*',
    resources: [NAMESPACES],
    guard: options.guard,
    turns: options.turns,
    logger: options.logger,
    clock: options.clock,
    random: options.random,
    handler: {
      change(event) {
        if (event.type === 'DELETED' || !event.mentions('"deletionTimestamp"')) return
        if (isTerminating(event.object)) controller.add({ space: event.space, name: event.name })
      },
    },
  })
  const controller = new Controller<NamespaceKey>({
    name: 'namespace-controller',
    guard: options.guard,
    turns: options.turns,
    party: ({ space }) => space,
    sources: [source],
    reconcile: (key, signal) => unlessSpaceGone(key.space, reconciler.reconcile(key, signal)),
    logger: options.logger,
    id: key => `${key.space}/${key.name}`,
    clock: options.clock,
    random: options.random,
  })
  return controller
}

/** Under deletion, and ours to finish. */
function isTerminating(namespace: KubeObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined && finalizersOf(namespace).includes(FINALIZER)
}

function finalizersOf(namespace: KubeObject): unknown[] {
  return isRecord(namespace.spec) && Array.isArray(namespace.spec.finalizers) ? namespace.spec.finalizers : []
}

function withoutFinalizer(namespace: KubeObject): KubeObject {
  const spec = isRecord(namespace.spec) ? namespace.spec : {}
  return { ...namespace, spec: { ...spec, finalizers: finalizersOf(namespace).filter(name => name !== FINALIZER) } }
}

/** The longer the content has resisted (its finalizers belong to others), the rarer we look: a fifth of its age. */
function waitMs(namespace: KubeObject, nowMs: number): number {
  const ageMs = nowMs - Date.parse(namespace.metadata.deletionTimestamp ?? '')
  return Math.min(30_000, Math.max(200, (Number.isNaN(ageMs) ? 0 : ageMs) / 5))
}
