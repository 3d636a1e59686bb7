/** `kubectl ws delete`: a space goes, with all that is in it and below it. */
import { homedir } from 'node:os'
import { isStatusError } from '../../apimachinery/errors.ts'
import { apiVersionOf, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client, SpaceClient } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { CommandError } from '../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../shell/confirm.ts'
import type { Terminal } from '../shell/runProgram.ts'
import { currentPath, type Session, type SessionOptions, withSession } from '../shell/session/session.ts'
import { parseTarget, ROOT_SPACE, resolveDots, splitPath } from '../shell/session/spacePath.ts'
import { alikeBelow, READY_TIMEOUT_MS } from '../shell/session/spaces.ts'
import { waitFor } from '../shell/waitFor.ts'

export interface DeleteOptions extends SessionOptions, ConfirmOptions {
  ignoreNotFound?: boolean
  /** `--no-wait`: end when the deletion has begun. */
  wait?: boolean
}

/**
 * @returns the Workspace as it was; none where that is well
 * @throws CommandError when there is no such space, or it is not gone in time
 */
export async function deleteCommand(
  argument: string,
  options: DeleteOptions,
  terminal: Terminal,
): Promise<KubeObject | readonly KubeObject[]> {
  return await withSession({ ...options, warn: terminal.err }, async session => {
    const path = await deletable(session, argument)
    const found = await deleteSpace(session, path, options, terminal)
    if (found) return found
    if (options.ignoreNotFound) return []
    const { parent = '', name } = splitPath(path)
    throw new CommandError(`workspace "${path}" not found${await alikeBelow(session.client, parent, name)}`)
  })
}

/** Nobody means home, or where they stand, by a word that the shell left empty. */
async function deletable(session: Session, argument: string): Promise<string> {
  const target = parseTarget(argument, homedir())
  if (argument.trim() === '' || (target.kind !== 'absolute' && target.kind !== 'relative'))
    throw new CommandError(
      `${JSON.stringify(argument)} does not name a workspace to delete; write its name or its path`,
    )
  const path = resolveDots(target.kind === 'absolute' ? target.path : `${await currentPath(session)}:${target.path}`)
  if (!path.includes(':')) throw new CommandError(`the workspace "${path}" has no parent: it cannot be deleted`)
  return path
}

/**
 * Asks, deletes and waits until the space is gone.
 * @returns the Workspace as it was, `undefined` when there is none
 * @throws CommandError when it is not confirmed, or still there after {@link READY_TIMEOUT_MS}
 */
export async function deleteSpace(
  { client, space }: Session,
  path: string,
  { yes, wait = true }: Pick<DeleteOptions, 'yes' | 'wait'>,
  terminal: Terminal,
): Promise<KubeObject | undefined> {
  const { parent = ROOT_SPACE, name } = splitPath(path)
  const above = client.in(parent)
  let workspace: KubeObject
  try {
    workspace = await asSeen(above, name)
    if (terminal.ask !== undefined && yes !== true) {
      const what = `This deletes the workspace "${path}"${await contents(client, path)}, and what it placed in clusters.`
      await confirm(what, {}, terminal)
    }
    await above.delete(WORKSPACES, { name })
  } catch (error) {
    if (isStatusError(error, 'NotFound') && error.details?.kind === WORKSPACES.resource) return undefined
    throw error
  }
  if (space === path || space?.startsWith(`${path}:`))
    terminal.err(`Note: you are inside ${path}; leave it with: kubectl ws :${parent}`)
  if (wait) await waitUntilGone(client, path, terminal)
  terminal.out(`workspace.tenancy.kcp.io "${name}" ${wait ? 'deleted' : 'is being deleted'}`)
  return workspace
}

/** Who may delete it need not be one who may read it. */
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
