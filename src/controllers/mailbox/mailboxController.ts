/**
 * The mailbox controller: one Workspace under the mailbox parent for each SyncTarget, there as long as the SyncTarget is, and inside it the
 * syncer's identity. A SyncTarget under deletion whose syncer has yet to leave the cluster (departure.ts) keeps its mailbox until then. It
 * goes itself once the mailbox is gone. A Workspace is garbage only when its name and its annotation both mark it as a mailbox and its
 * SyncTarget is known to be gone. A SyncTarget that stands in a mailbox itself counts as none.
 */

import { apiVersionOf } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client, StreamEvent } from '../../client/client.ts'
import { Controller } from '../../client/controller.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { unlessChanged, unlessThere } from '../../client/unlessGone.ts'
import { TYPES_PATH } from '../../placement/spaces/spaceTypes.ts'
import {
  MAILBOX_NAME,
  MAILBOX_PARENT,
  SYNC_TARGET_NAME_ANNOTATION,
  SYNC_TARGETS,
  SYNCER_NAME,
} from '../../placement/words/placement.ts'
import { type ControllerHandle, startController } from '../controllerHandle.ts'
import type { Inventory, MailboxFact } from '../placement/inventory/inventory.ts'
import type { Topology } from '../placement/inventory/topology.ts'
import { unlessSpaceGone } from '../spaceGone.ts'
import type { ControllerRuntime } from '../spacesController.ts'
import { letGo } from './leaving.ts'
import { ensureSyncerAccount, SERVICE_ACCOUNTS } from './syncerAccount.ts'

interface MailboxControllerDeps extends ControllerRuntime {
  /** Feeds it. */
  topology: Topology
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
  readonly #topology: Topology
  readonly #inventory: Inventory

  constructor(deps: MailboxControllerDeps) {
    const { client, topology } = deps
    this.#client = client
    this.#topology = topology
    this.#inventory = topology.facts.inventory
    this.#controller = new Controller<string>({
      name: 'mailbox-controller',
      ...deps,
      sources: [
        topology.targetSource,
        // the syncer's identity, when somebody deletes it
        new StreamSource({
          ...deps,
          space: '*',
          resources: [SERVICE_ACCOUNTS],
          handler: { change: event => this.#accountChanged(event) },
        }),
      ],
      party: name => this.#inventory.mailbox(name)?.space || MAILBOX_PARENT,
      lane: name => ({ owner: MAILBOX_NAME.exec(name)?.[1] ?? '' }),
      reconcile: name => this.#reconcile(name),
    })
    topology.facts.read({
      targetChanged: ({ mailbox, before, after }) => {
        if (before?.state !== after?.state) this.#controller.add(mailbox)
      },
      mailboxChanged: ({ name }) => this.#controller.add(name),
    })
    this.handle = startController(this.#controller)
  }

  #accountChanged(event: StreamEvent): void {
    if (event.name !== SYNCER_NAME || event.type !== 'DELETED') return
    const mailbox = this.#inventory.mailboxAt(event.space)
    if (mailbox) this.#controller.add(mailbox)
  }

  async #reconcile(name: string): Promise<void> {
    const target = this.#inventory.target(name)
    const workspace = this.#inventory.mailbox(name)
    if (target === undefined || target.state === 'goes') {
      // its SyncTarget may be among what is held; then it comes again
      if (this.#topology.holds(MAILBOX_NAME.exec(name)?.[1] ?? '', SYNC_TARGETS)) return
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
    const { space } = workspace
    if (!space) return
    await unlessSpaceGone(space, ensureSyncerAccount(this.#client.in(space)))
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
    // the event of one that is there is on the way and wakes this key again
    await unlessThere(this.#client.in(MAILBOX_PARENT).create(WORKSPACES, object, OPTIONS))
  }

  async #remove(name: string, { uid }: MailboxFact): Promise<void> {
    // the event of another Workspace of that name is on the way
    await unlessChanged(this.#client.in(MAILBOX_PARENT).delete(WORKSPACES, { name }, { preconditions: { uid } }))
  }
}
