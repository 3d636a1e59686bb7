/** `ensure wmw` and `remove wmw`: workload description spaces under the root. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { CommandError } from '../ws/commandError.ts'
import type { Terminal } from '../ws/runProgram.ts'
import type { Session } from '../ws/session.ts'
import { ROOT_SPACE, resolveDots } from '../ws/spacePath.ts'
import { ensureSpace, READY_TIMEOUT_MS } from '../ws/spaces.ts'
import { enter } from '../ws/use.ts'
import { waitFor } from '../ws/waitFor.ts'
import { singular } from './resources.ts'

const NO_ACCESS = 3

/** Makes the space when it is missing and ends inside it: this command changes the current workspace. */
export async function ensureWmw(session: Session, name: string, withKube: boolean, terminal: Terminal): Promise<void> {
  const path = pathBelowRoot(name)
  await ensureSpace(session.client, path, line => terminal.out(line))
  if (!withKube) terminal.err('Note: every space serves the kinds of Kubernetes; --with-kube false takes none away.')
  try {
    await enter(session, path, {}, terminal)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(error.message, NO_ACCESS, { cause: error })
  }
}

/** Deletes the space with all that is in it, if there is one, and waits until it is gone. */
export async function removeWmw(session: Session, name: string, terminal: Terminal): Promise<void> {
  const path = pathBelowRoot(name)
  const end = path.lastIndexOf(':')
  const client = session.client.in(path.slice(0, end))
  const own = path.slice(end + 1)
  try {
    await client.delete(WORKSPACES, { name: own })
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return
    throw error
  }
  if (session.space === path || session.space?.startsWith(`${path}:`)) {
    terminal.err(`Note: you are inside ${path}; leave it with: kubectl ws :root`)
  }
  const { reached } = await waitFor({
    client,
    resource: WORKSPACES,
    ref: { name: own },
    done: workspace => workspace === undefined,
    signal: AbortSignal.timeout(READY_TIMEOUT_MS),
  })
  if (!reached) throw new CommandError(`workspace "${path}" is still there after ${READY_TIMEOUT_MS / 1000} s`)
  terminal.out(`${singular(WORKSPACES)} "${own}" deleted`)
}

function pathBelowRoot(name: string): string {
  const text = name.replace(/^:/, '')
  const path = resolveDots(text.startsWith(`${ROOT_SPACE}:`) ? text : `${ROOT_SPACE}:${text}`)
  if (!path.includes(':')) throw new CommandError(`${JSON.stringify(name)} does not name a workspace under root`)
  return path
}
