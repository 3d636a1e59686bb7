/**
 * The mailbox controller: one Workspace under the mailbox parent for each SyncTarget, there as long as the SyncTarget is,
 * and inside it the syncer's identity. A SyncTarget that is being deleted and whose syncer has yet to leave the cluster
 * (departure.ts) keeps its mailbox until that is over, and goes itself once the mailbox is gone. A Workspace is garbage only when its name and its annotation both say that it is a
 * mailbox and its SyncTarget is known to be gone. A SyncTarget that stands in a mailbox itself counts as none.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import { Controller } from '../../client/controller.ts'
import type { Logger } from '../../client/logger.ts'
import type { KeyGuard } from '../../client/setAside/keyGuard.ts'
import { type StreamHandler, StreamSource } from '../../client/streamSource.ts'
import { TYPES_PATH } from '../../placement/spaces/spaceTypes.ts'
import {
  MAILBOX_NAME,
  MAILBOX_PARENT,
  mailboxName,
  SYNC_TARGET_NAME_ANNOTATION,
  SYNC_TARGETS,
  SYNCER_NAME,
} from '../../placement/words/placement.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import type { ControllerHandle } from '../controllerHandle.ts'
import { PlacedSource, type SpacePlaces } from '../placedSource.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import { hasLeft, isLeaving, letGo } from './departure.ts'
import { ensureSyncerAccount, SERVICE_ACCOUNTS } from './syncerAccount.ts'

export interface MailboxControllerDeps {
  client: Client
  places: SpacePlaces
  logger: Logger
  /** Of its work queue. */
  guard?: KeyGuard | undefined
  /** Slices of the loop's time in which it takes events and works. */
  turns: WorkTurns
  clock: Clock
  random: () => number
  signal: AbortSignal
}

interface MailboxFact {
  readonly uid: string
  /** Logical-cluster id once it is ready, else `''`. */
  readonly readySpace: string
  readonly terminating: boolean
  /** The annotation; `undefined` on Workspaces that we did not make. */
  readonly syncTargetName: string | undefined
}

interface TargetFact {
  readonly space: string
  readonly name: string
  /** Of one that is being deleted: whether its syncer is waited for. */
  readonly leaving: 'waits' | 'over' | undefined
}

const OPTIONS = { fieldManager: 'mailbox-controller' }

/** Starts at once and runs until `signal` aborts or `stop`. */
export function startMailboxController(deps: MailboxControllerDeps): ControllerHandle {
  const running = new MailboxController(deps)
  return { depth: () => running.depth, idle: () => running.idle(), stop: () => running.stop() }
}

/** Keys are mailbox names. */
class MailboxController {
  readonly #client: Client
  readonly #controller: Controller<string>
  readonly #inventories: PlacedSource
  /** By mailbox name; SyncTargets that are being deleted, and whose syncer nobody has heard of, are not in it. */
  readonly #targets = new Map<string, TargetFact>()
  /** Mailbox name by `space/name` of the SyncTarget, to notice a new uid under an old name. */
  readonly #mailboxOf = new Map<string, string>()
  readonly #workspaces = new Map<string, MailboxFact>()
  /** Mailbox name by logical-cluster id. */
  readonly #bySpace = new Map<string, string>()
  readonly #stop = new AbortController()
  readonly #running: Promise<void>

  constructor(deps: MailboxControllerDeps) {
    const { client, places, guard, turns, logger, clock, random, signal } = deps
    const common = { client, guard, turns, logger, clock, random }
    this.#client = client
    this.#inventories = new PlacedSource({
      ...common,
      places,
      space: '*',
      resources: [SYNC_TARGETS],
      handler: this.#targetHandler(),
    })
    this.#controller = new Controller<string>({
      name: 'mailbox-controller',
      ...common,
      sources: [
        this.#inventories,
        new StreamSource({
          ...common,
          space: MAILBOX_PARENT,
          resources: [WORKSPACES],
          handler: {
            change: event => this.#workspaceChanged(event.name, event.type === 'DELETED' ? undefined : event.object),
            vanished: ref => this.#workspaceChanged(ref.name, undefined),
          },
        }),
        // the syncer's identity, when somebody deletes it
        new StreamSource({
          ...common,
          space: '*',
          resources: [SERVICE_ACCOUNTS],
          handler: { change: event => this.#accountChanged(event) },
        }),
      ],
      party: name => this.#workspaces.get(name)?.readySpace || MAILBOX_PARENT,
      lane: name => ({ owner: MAILBOX_NAME.exec(name)?.[1] ?? '' }),
      reconcile: name => this.#reconcile(name),
    })
    this.#running = this.#controller.run(AbortSignal.any([signal, this.#stop.signal]))
  }

  get depth(): number {
    return this.#controller.queue.size
  }

  idle(): Promise<void> {
    return this.#controller.queue.idle()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  #targetHandler(): StreamHandler {
    const handle = (space: string, name: string, object: KubeObject | undefined) => {
      const id = `${space}/${name}`
      const old = this.#mailboxOf.get(id)
      const mailbox = object && mailboxName(space, object.metadata.uid ?? '')
      if (old !== undefined && old !== mailbox) {
        this.#targets.delete(old)
        this.#controller.add(old)
      }
      if (object === undefined || mailbox === undefined) {
        this.#mailboxOf.delete(id)
        return
      }
      const leaving = isLeaving(object) ? (hasLeft(object) ? 'over' : 'waits') : undefined
      const known = this.#targets.get(mailbox)
      if (old === mailbox && known?.leaving === leaving) return
      this.#mailboxOf.set(id, mailbox)
      this.#targets.set(mailbox, { space, name, leaving })
      this.#controller.add(mailbox)
    }
    return {
      change: ({ type, space, name, object }) => {
        const gone = type === 'DELETED' || (object.metadata.deletionTimestamp !== undefined && !isLeaving(object))
        handle(space, name, gone ? undefined : object)
      },
      vanished: ({ space, name }) => handle(space, name, undefined),
    }
  }

  #workspaceChanged(name: string, object: KubeObject | undefined): void {
    if (!MAILBOX_NAME.test(name)) return
    const old = this.#workspaces.get(name)
    if (old?.readySpace) this.#bySpace.delete(old.readySpace)
    if (object) {
      const { spec, status, metadata } = object
      const ready = isRecord(status) && status.phase === 'Ready' && isRecord(spec) && typeof spec.cluster === 'string'
      const readySpace = ready ? String(spec.cluster) : ''
      this.#workspaces.set(name, {
        uid: metadata.uid ?? '',
        readySpace,
        terminating: metadata.deletionTimestamp !== undefined,
        syncTargetName: metadata.annotations?.[SYNC_TARGET_NAME_ANNOTATION],
      })
      if (readySpace) this.#bySpace.set(readySpace, name)
    } else this.#workspaces.delete(name)
    this.#controller.add(name)
  }

  #accountChanged(event: StreamEvent): void {
    if (event.name !== SYNCER_NAME || event.type !== 'DELETED') return
    const mailbox = this.#bySpace.get(event.space)
    if (mailbox) this.#controller.add(mailbox)
  }

  async #reconcile(name: string): Promise<void> {
    const target = this.#targets.get(name)
    const workspace = this.#workspaces.get(name)
    if (target === undefined) {
      // its SyncTarget may be among what is held; then it comes again
      if (this.#inventories.holds(MAILBOX_NAME.exec(name)?.[1] ?? '')) return
      if (workspace && !workspace.terminating && workspace.syncTargetName !== undefined)
        await this.#remove(name, workspace)
      return
    }
    if (target.leaving) {
      if (!workspace) return await letGo(this.#client.in(target.space), target.name, name)
      if (target.leaving === 'over' && !workspace.terminating) await this.#remove(name, workspace)
      return
    }
    if (!workspace) return await this.#create(name, target.name)
    if (workspace.terminating) return // made again, empty, when it is gone
    if (workspace.syncTargetName !== target.name)
      await this.#annotate(name, { [SYNC_TARGET_NAME_ANNOTATION]: target.name })
    const { readySpace } = workspace
    if (!readySpace) return
    await unlessSpaceGone(readySpace, ensureSyncerAccount(this.#client.in(readySpace)))
  }

  async #annotate(name: string, annotations: Record<string, string>): Promise<void> {
    await this.#client.in(MAILBOX_PARENT).patch(WORKSPACES, { name }, 'merge', { metadata: { annotations } }, OPTIONS)
  }

  async #create(name: string, target: string): Promise<void> {
    const object = {
      apiVersion: apiVersionOf(WORKSPACES),
      kind: 'Workspace',
      metadata: {
        name,
        annotations: { [SYNC_TARGET_NAME_ANNOTATION]: target },
      },
      spec: { type: { name: 'mailbox', path: TYPES_PATH } },
    }
    try {
      await this.#client.in(MAILBOX_PARENT).create(WORKSPACES, object, OPTIONS)
    } catch (error) {
      // its event is on the way and wakes this key again
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }

  async #remove(name: string, { uid }: MailboxFact): Promise<void> {
    try {
      await this.#client.in(MAILBOX_PARENT).delete(WORKSPACES, { name }, { preconditions: { uid } })
    } catch (error) {
      // gone already, or another Workspace of that name whose event is on the way
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
  }
}
