/** Entering a space: the kubeconfig leads there from now on, and the user is shown where that is. */
import { splitServer } from '../../../client/kubeconfig.ts'
import { ANSWERS_VERSION, type DocumentOptions, printDocument } from '../output.ts'
import type { Terminal } from '../terminal.ts'
import { enterServer } from './contexts.ts'
import { editKubeconfig } from './editKubeconfig.ts'
import type { Session } from './session.ts'
import { enterable, serverOf } from './spaces.ts'

/** How the current space is shown. */
export interface ShownOptions extends DocumentOptions {
  /** Print the bare path only. */
  short?: boolean
}

/** Makes the space at `path` (from the root) current and says so. */
export async function enter(session: Session, path: string, options: ShownOptions, terminal: Terminal): Promise<void> {
  const type = await enterable(session.client, path)
  const server = serverOf(session.base, path)
  await editKubeconfig(session.paths, files => enterServer(files, server, session.context))
  await printCurrent(server, { ...options, type }, terminal)
}

export async function printCurrent(
  server: string,
  options: ShownOptions & { type?: string },
  terminal: Terminal,
): Promise<void> {
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
