/** `kubectl ws <path>`: prints the current space or makes another one current. */
import { homedir } from 'node:os'
import { serverOfContext, swapWithPrevious } from '../shell/session/contexts.ts'
import { editKubeconfig } from '../shell/session/editKubeconfig.ts'
import { enter, printCurrent, type ShownOptions } from '../shell/session/enter.ts'
import { KubeconfigFiles, kubeconfigPaths } from '../shell/session/kubeconfigFiles.ts'
import { type SessionOptions, targetPath, withSession } from '../shell/session/session.ts'
import { parseTarget, ROOT_SPACE } from '../shell/session/spacePath.ts'
import type { Terminal } from '../shell/terminal.ts'

export interface UseOptions extends SessionOptions, ShownOptions {}

/** @throws CommandError when there is no such space, or the user may not enter it */
export async function useSpace(options: UseOptions, terminal: Terminal, argument?: string): Promise<void> {
  const target = parseTarget(argument, homedir())
  // these two need no server, and work while it is down
  if (target.kind === 'here') return await printCurrent(await serverNow(options), options, terminal)
  if (target.kind === 'previous') {
    const paths = kubeconfigPaths(options.kubeconfig, process.env.KUBECONFIG)
    const server = await editKubeconfig(paths, files =>
      swapWithPrevious(files, options.context ?? files.currentContext),
    )
    return await printCurrent(server, options, terminal)
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
    await enter(session, await targetPath(session, target), options, terminal)
    if (target.kind === 'absolute' && target.home) terminal.err('Note: there are no home workspaces; ~ is root.')
  })
}

async function serverNow(options: SessionOptions): Promise<string> {
  const files = await KubeconfigFiles.read(kubeconfigPaths(options.kubeconfig, process.env.KUBECONFIG))
  return serverOfContext(files, options.context ?? files.currentContext)
}
