/**
 * Finishes the deletion of namespaces: everything in them goes first, then the finalizer `kubernetes`. A namespace whose
 * content is not known for sure (discovery or a list failed) stays.
 * @see https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import { list, record } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import type { Controller } from '../../client/controller.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'
import { deletionConditions, isEmpty, statusWith } from './conditions.ts'
import { deleteContent } from './content.ts'

interface NamespaceKey {
  /** Logical-cluster id. */
  readonly space: string
  readonly name: string
}

const FINALIZER = 'kubernetes'

/** Wakes for every namespace of every space that is being deleted. */
export function namespaceController(runtime: ControllerRuntime): Controller<NamespaceKey> {
  const controller = spacesController<NamespaceKey>({
    ...runtime,
    name: 'namespace-controller',
    resources: [NAMESPACES],
    handler: {
      change(event) {
        if (event.type === 'DELETED' || !event.mentions('"deletionTimestamp"')) return
        if (isTerminating(event.object)) controller.add({ space: event.space, name: event.name })
      },
    },
    reconcile: (key, signal) => reconcile(runtime, key, signal),
    id: key => `${key.space}/${key.name}`,
  })
  return controller
}

async function reconcile(
  { client, turns, clock }: ControllerRuntime,
  { space, name }: NamespaceKey,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const api = client.in(space)
  const namespace = await unlessGone(api.get(NAMESPACES, { name }))
  if (!namespace || !isTerminating(namespace)) return {}
  const report = await deleteContent(api, name, { signal, work: turns.begin({ owner: space }) })
  const empty = isEmpty(report)
  const status = statusWith(namespace, deletionConditions(report), new Date(clock.now()))
  try {
    const current = status
      ? await api.update(NAMESPACES, { ...namespace, status }, { subresource: 'status' })
      : namespace
    if (empty) await api.update(NAMESPACES, withoutFinalizer(current), { subresource: 'finalize' })
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return {}
    throw error
  }
  return empty ? {} : { requeueAfterMs: waitMs(namespace, clock.now()) }
}

/** Under deletion, and ours to finish. */
function isTerminating(namespace: KubeObject): boolean {
  return namespace.metadata.deletionTimestamp !== undefined && finalizersOf(namespace).includes(FINALIZER)
}

function finalizersOf(namespace: KubeObject): unknown[] {
  return list(namespace, 'spec', 'finalizers')
}

function withoutFinalizer(namespace: KubeObject): KubeObject {
  const spec = record(namespace, 'spec')
  return { ...namespace, spec: { ...spec, finalizers: finalizersOf(namespace).filter(name => name !== FINALIZER) } }
}

/** The longer the content has resisted (its finalizers belong to others), the rarer we look: a fifth of its age. */
function waitMs(namespace: KubeObject, nowMs: number): number {
  const ageMs = nowMs - Date.parse(namespace.metadata.deletionTimestamp ?? '')
  return Math.min(30_000, Math.max(200, (Number.isNaN(ageMs) ? 0 : ageMs) / 5))
}
