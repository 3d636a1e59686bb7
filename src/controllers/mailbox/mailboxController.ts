/**
 * The mailbox controller: one Workspace under the mailbox parent for each SyncTarget, there as long as the SyncTarget is,
 * and inside it the syncer's identity. A SyncTarget that is being deleted and whose syncer has yet to leave the cluster
 * (departure.ts) keeps its mailbox until that is over, and goes itself once the mailbox is gone. A Workspace is garbage only when its name and its annotation both say that it is a
 * mailbox and its SyncTarget is known to be gone. A SyncTarget that stands in a mailbox itself counts as none.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import { Controller } from '../../client/controller.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { TYPES_PATH } from '../../placement/spaces/spaceTypes.ts'
import {
  MAILBOX_NAME,
  MAILBOX_PARENT,
  SYNC_TARGET_NAME_ANNOTATION,
  SYNC_TARGETS,
  SYNCER_NAME,
} from '../../placement/words/placement.ts'
import { readySpaceOf } from '../../placement/words/topology.ts'
import { type ControllerHandle, startController } from '../controllerHandle.ts'
import { PlacedSource, type SpacePlaces } from '../placedSource.ts'
import { Inventory, type ObjectId } from '../placement/inventory/inventory.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import type { ControllerRuntime } from '../spacesController.ts'
import { letGo } from './leaving.ts'
import { ensureSyncerAccount, SERVICE_ACCOUNTS } from './syncerAccount.ts'

interface MailboxControllerDeps extends ControllerRuntime {
  places: SpacePlaces
}

interface MailboxFact {
  readonly uid: string
  /** Logical-cluster id once it is ready, else `''`. */
  readonly readySpace: string
  readonly terminating: boolean
  /** The annotation; `undefined` on Workspaces that we did not make. */
  readonly syncTargetName: string | undefined
}

const OPTIONS = { fieldManager: 'mailbox-controller' }

/** Starts at once and runs until `stop`. */
export function startMailboxController(deps: MailboxControllerDeps): ControllerHandle {
  return new MailboxController(deps).handle
}

/** Keys are mailbox names. */
class MailboxController {
  readonly handle: ControllerHandle
  readonly #client: Client
  readonly #controller: Controller<string>
  readonly #inventories: PlacedSource
  readonly #inventory: Inventory
  readonly #workspaces = new Map<string, MailboxFact>()
  /** Mailbox name by logical-cluster id. */
  readonly #bySpace = new Map<string, string>()

  constructor(deps: MailboxControllerDeps) {
    this.#client = deps.client
    this.#inventory = new Inventory(deps.places)
    this.#inventories = new PlacedSource({
      ...deps,
      space: '*',
      resources: [SYNC_TARGETS],
      handler: {
        change: event => this.#targetChanged(event, event.type === 'DELETED' ? undefined : event.object),
        vanished: ref => this.#targetChanged(ref, undefined),
      },
    })
    this.#controller = new Controller<string>({
      name: 'mailbox-controller',
      ...deps,
      sources: [
        this.#inventories,
        new StreamSource({
          ...deps,
          space: MAILBOX_PARENT,
          resources: [WORKSPACES],
          handler: {
            change: event => this.#workspaceChanged(event.name, event.type === 'DELETED' ? undefined : event.object),
            vanished: ref => this.#workspaceChanged(ref.name, undefined),
          },
        }),
        // the syncer's identity, when somebody deletes it
        new StreamSource({
          ...deps,
          space: '*',
          resources: [SERVICE_ACCOUNTS],
          handler: { change: event => this.#accountChanged(event) },
        }),
      ],
      party: name => this.#workspaces.get(name)?.readySpace || MAILBOX_PARENT,
      lane: name => ({ owner: MAILBOX_NAME.exec(name)?.[1] ?? '' }),
      reconcile: name => this.#reconcile(name),
    })
    this.handle = startController(this.#controller)
  }

  #targetChanged(id: ObjectId, object: KubeObject | undefined): void {
    for (const { mailbox, before, after } of this.#inventory.setTarget(id, object))
      if (before?.state !== after?.state) this.#controller.add(mailbox)
  }

  #workspaceChanged(name: string, object: KubeObject | undefined): void {
    if (!MAILBOX_NAME.test(name)) return
    const old = this.#workspaces.get(name)
    if (old?.readySpace) this.#bySpace.delete(old.readySpace)
    if (object) {
      const { metadata } = object
      const readySpace = readySpaceOf(object)
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
    const target = this.#inventory.target(name)
    const workspace = this.#workspaces.get(name)
    if (target === undefined || target.state === 'goes') {
      // its SyncTarget may be among what is held; then it comes again
      if (this.#inventories.holds(MAILBOX_NAME.exec(name)?.[1] ?? '')) return
      if (workspace && !workspace.terminating && workspace.syncTargetName !== undefined)
        await this.#remove(name, workspace)
      return
    }
    if (target.state !== 'stays') {
      if (!workspace) return await letGo(this.#client.in(target.space), target.name, name)
      if (target.state === 'left' && !workspace.terminating) await this.#remove(name, workspace)
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
