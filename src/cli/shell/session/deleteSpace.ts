/** Deleting a space, with all that is in it and below it. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../../apimachinery/object.ts'
import { WORKSPACES } from '../../../apimachinery/resources.ts'
import type { Client, SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { CommandError } from '../commandError.ts'
import { type ConfirmOptions, confirm } from '../confirm.ts'
import { flag } from '../settings.ts'
import type { Terminal } from '../terminal.ts'
import { waitFor } from '../waitFor.ts'
import type { Session } from './session.ts'
import { ROOT_SPACE, splitPath } from './spacePath.ts'
import { alikeBelow, READY_TIMEOUT_MS } from './spaces.ts'

export const IGNORE_NOT_FOUND = flag('--ignore-not-found', 'be content if there is none')

export interface DeletionOptions extends ConfirmOptions {
  ignoreNotFound?: boolean
  /** `--no-wait`: end when the deletion has begun. */
  wait?: boolean
  /** The Workspace of a question before this one. */
  seen?: KubeObject | undefined
}

/**
 * Asks, deletes and waits until the space is gone.
 * @returns the Workspace as it was; `undefined` when there is none, and that is well
 * @throws CommandError when there is none, it is not confirmed, or it is still there after {@link READY_TIMEOUT_MS}
 */
export async function deleteSpace(
  { client, space }: Session,
  path: string,
  { yes, wait = true, ignoreNotFound = false, seen }: DeletionOptions,
  terminal: Terminal,
): Promise<KubeObject | undefined> {
  const { parent = ROOT_SPACE, name } = splitPath(path)
  const above = client.in(parent)
  let workspace: KubeObject
  try {
    workspace = seen ?? (await asSeen(above, name))
    if (terminal.ask !== undefined && yes !== true) {
      const what = `This deletes the workspace "${path}"${await contents(client, path)}, and what it placed in clusters.`
      await confirm(what, {}, terminal)
    }
    // somebody may have made another one of the name during the question
    const { uid } = workspace.metadata
    await above.delete(WORKSPACES, { name }, uid === undefined ? {} : { preconditions: { uid } })
  } catch (error) {
    if (!isStatusError(error, 'NotFound') || error.details?.kind !== WORKSPACES.resource) throw error
    if (ignoreNotFound) return undefined
    const message = `workspace "${path}" not found${await alikeBelow(client, parent, name)}`
    throw new CommandError(message, 1, { cause: error })
  }
  if (space === path || space?.startsWith(`${path}:`))
    terminal.err(`Note: you are inside ${path}; leave it with: kubectl ws :${parent}`)
  if (wait) await waitUntilGone(client, path, terminal)
  terminal.out(`workspace.tenancy.kcp.io "${name}" ${wait ? 'deleted' : 'is being deleted'}`)
  return workspace
}

/** A right to delete it may come without a right to read it. */
async function asSeen(above: SpaceClient, name: string): Promise<KubeObject> {
  try {
    return await above.get(WORKSPACES, { name })
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error
    return { apiVersion: apiVersionOf(WORKSPACES), kind: 'Workspace', metadata: { name } }
  }
}

async function waitUntilGone(client: Client, path: string, terminal: Terminal): Promise<void> {
  const { parent = ROOT_SPACE, name } = splitPath(path)
  const { reached } = await waitFor({
    client: client.in(parent),
    resource: WORKSPACES,
    ref: { name },
    done: workspace => workspace === undefined,
    progress: (_, seconds) => terminal.err(`Workspace "${path}" is still there after ${seconds} s; waiting...`),
    signal: AbortSignal.timeout(READY_TIMEOUT_MS),
  })
  if (reached) return
  throw new CommandError(
    `workspace "${path}" is still there after ${READY_TIMEOUT_MS / 1000} s, and goes on being deleted; ` +
      `what it waits for stands in: kubectl get workspace ${name} -o yaml`,
  )
}

/** How much goes with it, as far as whoever deletes may see it. */
async function contents(client: Client, path: string): Promise<string> {
  try {
    const { items } = await listAll(client.in(path), WORKSPACES, { limit: 500 })
    const below = items.length === 0 ? '' : `, ${items.length} workspace${items.length === 1 ? '' : 's'} in it`
    return `${below} with all objects`
  } catch (error) {
    if (isStatusError(error, 'Forbidden', 'NotFound')) return ' with all that is in it'
    throw error
  }
}
