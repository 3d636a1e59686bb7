/** `kubectl ws <path>`: prints the current space or makes another one current. */
import { homedir } from 'node:os'
import { splitServer } from '../../client/kubeconfig.ts'
import { type DocumentOptions, printDocument } from '../shell/output.ts'
import type { Terminal } from '../shell/runProgram.ts'
import { enterServer, serverOfContext, swapWithPrevious } from '../shell/session/contexts.ts'
import { editKubeconfig } from '../shell/session/editKubeconfig.ts'
import { KubeconfigFiles, kubeconfigPaths } from '../shell/session/kubeconfigFiles.ts'
import { currentPath, type Session, type SessionOptions, withSession } from '../shell/session/session.ts'
import { parseTarget, ROOT_SPACE, resolveDots, type Target } from '../shell/session/spacePath.ts'
import { enterable, serverOf } from '../shell/session/spaces.ts'
import { ANSWERS_VERSION } from '../shell/version.ts'

export interface UseOptions extends SessionOptions, DocumentOptions {
  /** Print the bare path only. */
  short?: boolean
}

/** How the current space is told. */
type Shown = Pick<UseOptions, 'short' | 'output'>

/** @throws CommandError when there is no such space, or the user may not enter it */
export async function useSpace(argument: string | undefined, options: UseOptions, terminal: Terminal): Promise<void> {
  const shown: Shown = options
  const target = parseTarget(argument, homedir())
  // these two need no server, and work while it is down
  if (target.kind === 'here') return await printCurrent(await serverNow(options), shown, terminal)
  if (target.kind === 'previous') {
    const paths = kubeconfigPaths(options.kubeconfig, process.env.KUBECONFIG)
    const server = await editKubeconfig(paths, files =>
      swapWithPrevious(files, options.context ?? files.currentContext),
    )
    return await printCurrent(server, shown, terminal)
  }
  await withSession(options, async session => {
    // An empty one is what a variable that was not set leaves.
    if ((argument === undefined || argument === '') && session.space !== ROOT_SPACE) {
      const from = session.space === undefined ? `the URL "${session.server}"` : `'${session.space}'`
      terminal.err(
        `Note: 'kubectl ws' without a path goes home, away from ${from}. ` +
          "'kubectl ws -' goes back, 'kubectl ws .' prints where you are.",
      )
    }
    await enter(session, await absolute(session, target), shown, terminal)
    if (target.kind === 'absolute' && target.home) terminal.err('Note: there are no home workspaces; ~ is root.')
  })
}

/** Makes the space at `path` (from the root) current and says so. */
export async function enter(session: Session, path: string, options: Shown, terminal: Terminal): Promise<void> {
  const type = await enterable(session.client, path)
  const server = serverOf(session.base, path)
  await editKubeconfig(session.paths, files => enterServer(files, server, session.context))
  await printCurrent(server, { ...options, type }, terminal)
}

async function printCurrent(server: string, options: Shown & { type?: string }, terminal: Terminal): Promise<void> {
  const { space } = splitServer(server)
  if (options.output === 'name' || (options.short && options.output === undefined)) {
    if (space !== undefined) terminal.out(space)
  } else if (options.output !== undefined) {
    const { type } = options
    const found = {
      apiVersion: ANSWERS_VERSION,
      kind: 'CurrentSpace',
      server,
      ...(space && { path: space }),
      ...(type && { type }),
    }
    await printDocument(found, options.output, terminal)
  } else if (space === undefined) terminal.out(`Current workspace is the URL "${server}".`)
  else terminal.out(`Current workspace is '${space}'${options.type ? ` (type ${options.type})` : ''}.`)
}

async function absolute(session: Session, target: Exclude<Target, { kind: 'here' | 'previous' }>): Promise<string> {
  if (target.kind === 'absolute') return resolveDots(target.path)
  const current = await currentPath(session)
  return target.kind === 'top' ? current.split(':')[0]! : resolveDots(`${current}:${target.path}`)
}

async function serverNow(options: SessionOptions): Promise<string> {
  const files = await KubeconfigFiles.read(kubeconfigPaths(options.kubeconfig, process.env.KUBECONFIG))
  return serverOfContext(files, options.context ?? files.currentContext)
}
