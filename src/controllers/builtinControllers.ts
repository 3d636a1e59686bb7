/** All controllers that belong to the server, started and stopped as one. */
import { EVERYTHING_ACTS, natureOf, type Places } from '../apimachinery/nature.ts'
import { WHERE_RESOLVER } from '../apimachinery/placement.ts'
import type { Client } from '../client/client.ts'
import type { Logger } from '../client/logger.ts'
import { MAILBOX_CONTROLLER, PLACEMENT_TRANSLATOR } from './carriers.ts'
import { clusterRoleAggregationController } from './cluster-role-aggregation/clusterRoleAggregationController.ts'
import { csrController, type SignCertificate } from './csr/csrController.ts'
import { startEventTtl } from './event-ttl/eventTtlController.ts'
import { garbageCollector } from './garbage-collector/garbageCollector.ts'
import { startMailboxController } from './mailbox/mailboxController.ts'
import { startSyncerLiveness } from './mailbox/syncerLiveness.ts'
import { namespaceController } from './namespace/namespaceController.ts'
import { patientLogger } from './patientLogger.ts'
import type { SpacePlaces } from './placedSource.ts'
import { startPlacementTranslator } from './placement-translator/translator.ts'
import { resourceQuotaController } from './resource-quota/resourceQuotaController.ts'
import { serviceAccountController } from './service-account/serviceAccountController.ts'
import { storageProtectionController } from './storage-protection/storageProtectionController.ts'
import { startWhereResolver } from './where-resolver/whereResolver.ts'

export interface BuiltinControllersOptions {
  /** A client that acts as one component. */
  clientFor(component: string): Client
  caPem: string
  /** Where spaces stand, for the controllers of placement. Absent in a plain cluster: it has none of them. */
  places?: SpacePlaces & Places
  /** Signs what approved CertificateSigningRequests ask for. Absent: nobody does. */
  sign?: SignCertificate
  /** How long Events live after they were last written. Default an hour. */
  eventTtlMs?: number
  logger: Logger
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
  const { clientFor, caPem } = options
  const nature = options.places ? natureOf(options.places) : EVERYTHING_ACTS
  const logger = patientLogger(options.logger)
  const serviceAccounts = serviceAccountController({
    client: clientFor('service-account-controller'),
    caPem,
    logger,
  })
  const machinery = [
    namespaceController({ client: clientFor('namespace-controller'), logger }),
    garbageCollector({ client: clientFor('garbage-collector'), logger }),
    serviceAccounts,
    resourceQuotaController({
      client: clientFor('resourcequota-controller'),
      nature,
      logger,
    }),
    storageProtectionController({ client: clientFor('storage-protection-controller'), logger }),
    clusterRoleAggregationController({ client: clientFor('clusterrole-aggregation-controller'), nature, logger }),
    ...(options.sign
      ? [csrController({ client: clientFor('certificate-controller'), sign: options.sign, nature, logger })]
      : []),
  ]
  for (const controller of machinery) controller.start()
  const { signal } = new AbortController()
  const eventTtl = startEventTtl({
    client: clientFor('event-ttl-controller'),
    ttlMs: options.eventTtlMs ?? EVENT_TTL_MS,
    logger,
  })
  const { places } = options
  const placement = places
    ? [
        startWhereResolver({ client: clientFor(WHERE_RESOLVER), places, logger, signal }),
        startMailboxController({ client: clientFor(MAILBOX_CONTROLLER), places, logger, signal }),
        startSyncerLiveness({ client: clientFor(MAILBOX_CONTROLLER), places, logger, signal }),
        startPlacementTranslator({ client: clientFor(PLACEMENT_TRANSLATOR), places, logger, signal }),
      ]
    : []
  return {
    useAuthority: renewed => serviceAccounts.useAuthority(renewed),
    async idle() {
      await Promise.all([...machinery.map(controller => controller.queue.idle()), ...placement.map(c => c.idle())])
    },
    async stop() {
      await Promise.all([...machinery, eventTtl, ...placement].map(controller => controller.stop()))
    },
  }
}
