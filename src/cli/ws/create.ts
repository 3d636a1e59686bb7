/** `kubectl ws create`, `create-context` and `ensure`. */
import { homedir } from 'node:os'
import type { KubeObject } from '../../apimachinery/object.ts'
import { ABOVE_ROOT, BAD_PATH, CommandError } from '../shell/commandError.ts'
import { ANSWERS_VERSION } from '../shell/output.ts'
import { addContext } from '../shell/session/contexts.ts'
import { editKubeconfig } from '../shell/session/editKubeconfig.ts'
import { enter } from '../shell/session/enter.ts'
import { currentPath, noSpace, type SessionOptions, withSession } from '../shell/session/session.ts'
import { parseTarget, ROOT_SPACE, resolveDots } from '../shell/session/spacePath.ts'
import {
  createOrGet,
  createWorkspace,
  ensureSpace,
  phaseOf,
  serverOf,
  typeOf,
  waitReady,
} from '../shell/session/spaces.ts'
import type { Terminal } from '../shell/terminal.ts'

interface CreateOptions extends SessionOptions {
  type?: string
  enter?: boolean
  ignoreExisting?: boolean
  /** Name of a context for the new space. */
  createContext?: string
}

/** @returns the Workspace, ready */
export async function createCommand(options: CreateOptions, terminal: Terminal, name: string): Promise<KubeObject> {
  const { type, ignoreExisting = false } = options
  if (ignoreExisting && type !== undefined && !type.startsWith(`${ROOT_SPACE}:`)) {
    throw new CommandError('--ignore-existing must not be used with non-absolute type path')
  }
  return await withSession({ ...options, warn: terminal.err }, async session => {
    const { client } = session
    const parent = await currentPath(session)
    const wanted = { name, ...(type !== undefined && { type }) }
    const { workspace, existed } = ignoreExisting
      ? await createOrGet(client, parent, wanted)
      : { workspace: await createWorkspace(client, parent, wanted), existed: false }
    const reference = `Workspace "${name}" (type ${typeOf(workspace)})`
    if (existed && type !== undefined && type !== typeOf(workspace)) {
      throw new CommandError(
        `workspace "${name}" cannot be created with type ${type}, it already exists with different type ${typeOf(workspace)}`,
      )
    }
    const ready = phaseOf(workspace) === 'Ready'
    if (existed) terminal.out(`${reference} already exists.${ready ? '' : ' Waiting for it to be ready...'}`)
    else if (!ready) terminal.out(`${reference} created. Waiting for it to be ready...`)
    const made = ready ? workspace : await waitReady(client, parent, name, terminal)
    terminal.out(`${reference} is ready to use.`)

    const path = `${parent}:${name}`
    if (options.createContext !== undefined) {
      const wanted = { name: options.createContext, overwrite: ignoreExisting, enter: options.enter === true }
      const from = session.context
      await writeContext(session.paths, { ...wanted, from, server: serverOf(session.base, path) }, terminal)
    } else if (options.enter) await enter(session, path, {}, terminal)
    else terminal.out(`Enter it with: kubectl ws ${path}`)
    return made
  })
}

/** A context for the space that the user is in, named after its path unless a name is given; becomes current. */
export async function createContextCommand(
  options: SessionOptions & { overwrite?: boolean },
  terminal: Terminal,
  name?: string,
): Promise<KubeObject> {
  return await withSession(options, async session => {
    if (session.space === undefined) throw noSpace(session.server)
    const { paths, context: from, server, space } = session
    const wanted = { name: name ?? space, from, server, overwrite: options.overwrite === true, enter: true }
    await writeContext(paths, wanted, terminal)
    return {
      apiVersion: ANSWERS_VERSION,
      kind: 'KubeconfigContext',
      metadata: { name: wanted.name },
      server,
      path: space,
    }
  })
}

/**
 * Makes what is missing of a path. The kubeconfig is touched only to enter the space in the end.
 * @returns the Workspaces of the path, as far as the user may see them
 */
export async function ensureCommand(
  options: SessionOptions & { enter?: boolean; verbose?: boolean },
  terminal: Terminal,
  argument: string,
): Promise<readonly KubeObject[]> {
  const names = argument.replaceAll('/', ':').replace(/^:/, '').split(':')
  if (names.lastIndexOf(ROOT_SPACE) > 0) {
    throw new CommandError(`"${ROOT_SPACE}" workspace can only be used at the beginning!`, BAD_PATH)
  }
  return await withSession(options, async session => {
    const target = parseTarget(argument, homedir())
    const start = target.kind === 'absolute' ? '' : `${await currentPath(session)}:`
    const path = resolveFrom(start + (target.kind === 'absolute' ? target.path : argument.replaceAll('/', ':')))
    const print = (line: string) => options.verbose && terminal.out(line)
    print(`Ensuring workspace tree "${path}"...`)
    const spaces = await ensureSpace(session.client, path, { created: print, progress: terminal.err })
    if (options.enter) await enter(session, path, {}, terminal)
    return spaces
  })
}

/** Above the root is exit code 3 here, as scripts know it. */
function resolveFrom(path: string): string {
  try {
    return resolveDots(path)
  } catch (error) {
    if (error instanceof CommandError && error.message.startsWith('cannot go up')) {
      throw new CommandError(`Cannot change to the parent of "${ROOT_SPACE}" workspace!`, ABOVE_ROOT, { cause: error })
    }
    throw error
  }
}

async function writeContext(
  paths: readonly string[],
  wanted: Parameters<typeof addContext>[1],
  terminal: Terminal,
): Promise<void> {
  const { existed, switched } = await editKubeconfig(paths, files => {
    const before = files.currentContext
    return { existed: addContext(files, wanted), switched: wanted.enter && before !== wanted.name }
  })
  const verb = existed ? 'Updated' : 'Created'
  terminal.out(`${verb} context "${wanted.name}"${switched ? ' and switched to it' : ''}.`)
}
