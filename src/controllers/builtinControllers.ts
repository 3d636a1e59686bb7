/**
 * All controllers that belong to the server, started and stopped as one. This is the gate of leadership: of several servers on one store,
 * the leader alone starts them, and with them the providers of the desks.
 */

import type { Client } from '../client/client.ts'
import type { WorkRuntime } from '../client/runtime.ts'
import type { KeyGuard } from '../client/setAside/keyGuard.ts'
import type { Desks } from '../placement/desks/desks.ts'
import { EVERYTHING_ACTS, type Nature, natureOf, type Places } from '../placement/spaces/nature.ts'
import { MAILBOX_CONTROLLER, PLACEMENT_TRANSLATOR, WHERE_RESOLVER } from '../placement/words/placement.ts'
import { clusterRoleAggregationController } from './cluster-role-aggregation/clusterRoleAggregationController.ts'
import { type ControllerHandle, type Startable, startController } from './controllerHandle.ts'
import { CONTROLLER_NAMES, type ControllerName, type QueueName, queuesOf } from './controllerNames.ts'
import { csrController, type SignCertificate } from './csr/csrController.ts'
import { startEventTtl } from './event-ttl/eventTtlController.ts'
import { EventRecorder } from './eventRecorder.ts'
import { garbageCollector } from './garbage-collector/garbageCollector.ts'
import { startMailboxController } from './mailbox/mailboxController.ts'
import { startSyncerLiveness } from './mailbox/syncerLiveness.ts'
import { namespaceController } from './namespace/namespaceController.ts'
import { NOTICE_CONTROLLER, startNoticeController } from './notices/noticeController.ts'
import { patientLogger } from './patientLogger.ts'
import type { SpacePlaces } from './placedSource.ts'
import { Topology } from './placement/inventory/topology.ts'
import { startPlacementTranslator } from './placement/translator.ts'
import { replicaSetStandInController } from './replica-set-stand-in/replicaSetStandInController.ts'
import { resourceQuotaController } from './resource-quota/resourceQuotaController.ts'
import { serviceAccountController } from './service-account/serviceAccountController.ts'
import type { ControllerRuntime } from './spacesController.ts'
import { storageProtectionController } from './storage-protection/storageProtectionController.ts'
import { startWhereResolver } from './where-resolver/whereResolver.ts'
import { WhereDesk } from './whereDesk.ts'

interface BuiltinControllersOptions extends Omit<WorkRuntime, 'guard'> {
  /** A client that acts as one component. */
  clientFor(component: string): Client
  caPem: string
  /** Where spaces stand, for the controllers of placement. Absent in a plain cluster: it has none of them. */
  places?: SpacePlaces & Places
  /** Desks of the server in their process. */
  desks?: Partial<Desks>
  /** Signs what approved CertificateSigningRequests ask for. Absent: nobody does. */
  sign?: SignCertificate
  /** Those that run. Default: all. */
  controllers?: ReadonlySet<ControllerName>
  /** Guard of each work queue. Default: none. */
  guardFor?: (queue: QueueName) => KeyGuard
  /** How long Events live after they were last written. Default an hour. */
  eventTtlMs?: number
}

const EVENT_TTL_MS = 3_600_000

export interface RunningControllers {
  /** Spreads a renewed authority, PEM. */
  useAuthority(caPem: string): void
  /** Resolves when no controller has work at hand; what waits for a timer (a retry, a deadline) does not count. */
  idle(): Promise<void>
  /** Resolves when all have ended. */
  stop(): Promise<void>
}

export function startBuiltinControllers(options: BuiltinControllersOptions): RunningControllers {
  const { clientFor, caPem, places, clock, random } = options
  const nature = places ? natureOf(places) : EVERYTHING_ACTS
  const logger = patientLogger(options.logger)
  // a start tells all of them of everything at once: together they take no more of the loop's time than one would
  const { turns } = options
  const as = (component: string, make: (deps: Deps) => ControllerHandle | Startable): Start => {
    return runtime => {
      const made = make({ ...runtime, client: clientFor(component), nature })
      return 'start' in made ? startController(made) : made
    }
  }
  const placed = (component: string, make: (deps: PlacedDeps) => ControllerHandle | Startable): Start | undefined =>
    places && as(component, deps => make({ ...deps, places, topology: topology! }))
  const placementRuntime = { ...options, logger, guard: options.guardFor?.('placement-translator') }
  const topology = places && new Topology({ ...placementRuntime, places, client: clientFor(PLACEMENT_TRANSLATOR) })
  const where = new WhereDesk()
  const events = new EventRecorder({ client: clientFor(PLACEMENT_TRANSLATOR), clock })
  let useAuthority = (_renewed: string): void => {}
  const { sign, desks = {}, eventTtlMs: ttlMs = EVENT_TTL_MS } = options
  const starts: Record<QueueName, Start | undefined> = {
    'namespace-controller': as('namespace-controller', namespaceController),
    'garbage-collector-controller': as('garbage-collector', garbageCollector),
    'serviceaccount-controller': as('service-account-controller', deps => {
      const controller = serviceAccountController({ ...deps, caPem })
      useAuthority = renewed => controller.useAuthority(renewed)
      return controller
    }),
    'resourcequota-controller': as('resourcequota-controller', resourceQuotaController),
    'storage-protection-controller': as('storage-protection-controller', storageProtectionController),
    'clusterrole-aggregation-controller': as('clusterrole-aggregation-controller', clusterRoleAggregationController),
    'certificatesigningrequest-signing-controller':
      sign && as('certificate-controller', deps => csrController({ ...deps, sign })),
    'event-ttl-controller': as('event-ttl-controller', deps => startEventTtl({ ...deps, ttlMs })),
    'notice-controller':
      desks.postNotice &&
      placed(NOTICE_CONTROLLER, deps =>
        startNoticeController({ ...deps, post: desks.postNotice!, figures: desks.figures }),
      ),
    'replicaset-stand-in-controller': placed('replicaset-stand-in-controller', replicaSetStandInController),
    'where-resolver': placed(WHERE_RESOLVER, deps => startWhereResolver({ ...deps, desk: where })),
    'mailbox-controller': placed(MAILBOX_CONTROLLER, startMailboxController),
    'syncer-liveness-controller': placed(MAILBOX_CONTROLLER, deps =>
      startSyncerLiveness({ ...deps, events, connections: desks.outcomes, refusedClaims: desks.refusedClaims }),
    ),
    'placement-translator': placed(PLACEMENT_TRANSLATOR, deps =>
      startPlacementTranslator({ ...deps, ...desks, events, where }),
    ),
  }
  const chosen = options.controllers ?? new Set(CONTROLLER_NAMES)
  const left = CONTROLLER_NAMES.filter(name => !chosen.has(name))
  if (left.length > 0) options.logger.warn({ controllers: left }, 'controllers that do not run, as --controllers says')
  const running = new Map<QueueName, ControllerHandle>()
  for (const queue of CONTROLLER_NAMES.flatMap(name => (chosen.has(name) ? queuesOf(name) : []))) {
    const handle = starts[queue]?.({ logger, turns, guard: options.guardFor?.(queue), clock, random })
    if (handle) running.set(queue, handle)
  }
  // where, mailboxes, copies: its readers were added as they started
  if (chosen.has('placement')) topology?.start()
  desks.figures?.showQueues(() =>
    Object.fromEntries(Array.from(running, ([name, controller]) => [name, controller.depth()])),
  )
  return {
    useAuthority: renewed => useAuthority(renewed),
    async idle() {
      await Promise.all(Array.from(running.values(), controller => controller.idle()))
    },
    async stop() {
      await Promise.all([topology?.stop(), ...Array.from(running.values(), controller => controller.stop())])
      desks.figures?.showQueues(undefined)
    },
  }
}

type Start = (runtime: WorkRuntime) => ControllerHandle

interface Deps extends ControllerRuntime {
  nature: Nature
}

interface PlacedDeps extends Deps {
  topology: Topology
  places: SpacePlaces & Places
}
