/** `kubectl ws delete`: a space goes, with all that is in it and below it. */
import { homedir } from 'node:os'
import type { KubeObject } from '../../apimachinery/object.ts'
import { CommandError } from '../shell/commandError.ts'
import { type DeletionOptions, deleteSpace } from '../shell/session/deleteSpace.ts'
import { type Session, type SessionOptions, targetPath, withSession } from '../shell/session/session.ts'
import { parseTarget } from '../shell/session/spacePath.ts'
import type { Terminal } from '../shell/terminal.ts'

interface DeleteOptions extends SessionOptions, DeletionOptions {}

/**
 * @returns the Workspace as it was; none where that is well
 * @throws CommandError when there is no such space, or it is not gone in time
 */
export async function deleteCommand(
  options: DeleteOptions,
  terminal: Terminal,
  argument: string,
): Promise<KubeObject | readonly KubeObject[]> {
  return await withSession({ ...options, warn: terminal.err }, async session => {
    const path = await deletable(session, argument)
    return (await deleteSpace(session, path, options, terminal)) ?? []
  })
}

/** Nobody means home, or where they stand, by a word that the shell left empty. */
async function deletable(session: Session, argument: string): Promise<string> {
  const target = parseTarget(argument, homedir())
  if (argument.trim() === '' || (target.kind !== 'absolute' && target.kind !== 'relative'))
    throw new CommandError(
      `${JSON.stringify(argument)} does not name a workspace to delete; write its name or its path`,
    )
  const path = await targetPath(session, target)
  if (!path.includes(':')) throw new CommandError(`the workspace "${path}" has no parent: it cannot be deleted`)
  return path
}
