/** The session in which a command of `kubectl kubestellar` runs, and the flags by which it is chosen. */
import type { GroupResource, KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { SYNC_TARGETS } from '../../placement/words/placement.ts'
import { CommandError } from '../shell/commandError.ts'
import { pathOf, type Session, SPACE, withSession } from '../shell/session/session.ts'
import { flag } from '../shell/settings.ts'
import type { Terminal } from '../shell/terminal.ts'
import { servesNone } from './grants/grants.ts'

export interface CommonOptions {
  kubeconfig?: string
  space?: string
  context?: string
}

export const COMMON = [
  flag('--kubeconfig <file>', 'kubeconfig to use; default: $KUBECONFIG, then ~/.kube/config'),
  flag('--context <name>', '', { hidden: true }),
]

export interface InventoryOptions extends CommonOptions {
  imw: string
}

export const INVENTORY = [
  ...COMMON,
  SPACE,
  flag('--imw <path>', 'inventory space; "." is the current workspace', { default: '.' }),
]

/** The current workspace is what the commands go by, and it is not a matter of contexts. @throws CommandError for a context */
export async function inSession<R>(
  { kubeconfig, space, context }: CommonOptions,
  terminal: Terminal,
  use: (session: Session) => Promise<R>,
): Promise<R> {
  if (context !== undefined) throw new CommandError('--context flag not supported')
  const named = { ...(kubeconfig !== undefined && { kubeconfig }), ...(space !== undefined && { space }) }
  return await withSession({ warn: terminal.err, ...named }, use)
}

/** For what needs SyncTargets. @throws CommandError, in one line, where the space serves none */
export async function inInventory<R>(
  options: InventoryOptions,
  terminal: Terminal,
  use: (inventory: SpaceClient, session: Session) => Promise<R>,
): Promise<R> {
  return await inSession(options, terminal, async session => {
    const path = await pathOf(session, options.imw)
    const inventory = session.client.in(path)
    try {
      return await use(inventory, session)
    } catch (error) {
      if (!servesNone(error) || (await serves(inventory, SYNC_TARGETS))) throw error
      const message = `${path} serves no SyncTargets: it is no inventory; name one with --imw, such as --imw root:imw1`
      throw new CommandError(message, 1, { cause: error })
    }
  })
}

async function serves(space: SpaceClient, { group, resource }: GroupResource): Promise<boolean> {
  return (await space.discover()).some(served => served.group === group && served.resource === resource)
}

export type Change<O> = (
  session: Session,
  name: string,
  options: O,
  terminal: Terminal,
) => Promise<KubeObject | readonly KubeObject[]>

/** Changes in whatever space the options name. */
export const ofSpace =
  <O>(change: Change<O>) =>
  (options: O & CommonOptions, terminal: Terminal, name: string) =>
    inSession(options, terminal, s => change(s, name, options, terminal))
