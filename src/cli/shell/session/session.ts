/** Common start of every command of the plugins: the kubeconfig, the user's space, and a client. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isStatusError } from '../../../apimachinery/errors.ts'
import { LOGICAL_CLUSTERS, PATH_ANNOTATION } from '../../../apimachinery/resources.ts'
import type { Client } from '../../../client/client.ts'
import { type ClosableClient, httpClient, httpServer } from '../../../client/http/httpClient.ts'
import type { HttpClientOptions } from '../../../client/http/options.ts'
import { leadsThroughHost } from '../../../client/http/paths.ts'
import { type LoadedKubeconfig, loadKubeconfig } from '../../../client/kubeconfig.ts'
import { CommandError } from '../commandError.ts'
import { flag } from '../settings.ts'
import { KubeconfigFiles, kubeconfigPaths } from './kubeconfigFiles.ts'
import { namingSpaces } from './namingSpaces.ts'
import { parseTarget, ROOT_SPACE, resolveDots, type Target } from './spacePath.ts'
import { serverOf } from './spaces.ts'

/** Contexts that a message offers. */
const NAMED = 5

/** A flag of all commands but those that move. */
export const SPACE = flag('--space <path>', 'act as in this workspace instead of the current one')

export interface SessionOptions {
  /** `--kubeconfig` */
  kubeconfig?: string
  /** `--context` */
  context?: string
  /** `--space`: the one that counts as the current one. */
  space?: string
  /** Gets what the server warns of. */
  warn?: (line: string) => void
}

export interface Session {
  /** Candidates for the kubeconfig, in the order of their precedence. */
  readonly paths: readonly string[]
  /** Name of the context that is used. */
  readonly context: string
  /** The URL of all spaces, through a host cluster where the kubeconfig leads through one. */
  readonly base: string
  /** URL as the kubeconfig has it. */
  readonly server: string
  /** Path or id from that URL. */
  readonly space: string | undefined
  /** Namespace of the context. */
  readonly namespace: string | undefined
  /** How to reach the server; `server` is the base. */
  readonly options: HttpClientOptions
  readonly client: ClosableClient
}

/** Gives the session to `use` and closes its connections afterwards. */
export async function withSession<R>(options: SessionOptions, use: (session: Session) => Promise<R>): Promise<R> {
  const session = await openSession(options)
  try {
    return await use(options.space === undefined ? session : await movedTo(session, options.space))
  } catch (error) {
    throw (await import('./kubeconfigFault.ts')).kubeconfigFault(error, session, new Date())
  } finally {
    session.client.close()
  }
}

/** The server's answer about a space or itself, beside the objects of spaces. */
export async function askServer(
  { options }: Session,
  request: { method: 'GET' | 'DELETE'; path: string },
): Promise<unknown> {
  const server = httpServer(options)
  try {
    return await server.json(request)
  } finally {
    server.close()
  }
}

async function openSession({ kubeconfig, context, warn }: SessionOptions): Promise<Session> {
  const paths = kubeconfigPaths(kubeconfig, process.env.KUBECONFIG)
  const files = await KubeconfigFiles.read(paths)
  const name = context ?? files.currentContext
  if (name === '') throw noCurrentContext(files)
  const loaded = await load(files, name)
  const options = {
    ...loaded.options,
    server: loaded.base,
    userAgent: 'orrery-kubectl',
    ...(warn && { onWarning: (text: string) => warn(`Warning: ${text}`) }),
  }
  const { base, space, namespace } = loaded
  const { server } = loaded.options
  const client = namingSpaces(httpClient(options))
  return { paths, context: name, base, server, space, namespace, options, client }
}

async function movedTo(session: Session, argument: string): Promise<Session> {
  const space = await pathOf(session, argument)
  return { ...session, space, server: serverOf(session.base, space) }
}

function noCurrentContext({ paths, contexts }: KubeconfigFiles): CommandError {
  const why = `no context is current in ${paths.join(', ')}`
  const [first] = contexts
  if (first === undefined)
    return new CommandError(`${why}, and none is there; "orrery kubeconfig" prints one that has some`)
  const more = contexts.length > NAMED ? ', …' : ''
  const remedy = `run "kubectl config use-context ${first}" or name one with --context`
  return new CommandError(`${why}; ${remedy}; there is: ${contexts.slice(0, NAMED).join(', ')}${more}`)
}

async function load(files: KubeconfigFiles, context: string): Promise<LoadedKubeconfig> {
  const [only, ...others] = files.paths
  if (only !== undefined && others.length === 0) return await loadKubeconfig(only, context)
  const folder = await mkdtemp(join(tmpdir(), 'orrery-kubeconfig-'))
  try {
    const path = join(folder, 'merged')
    await writeFile(path, files.merged(), { mode: 0o600 })
    return await loadKubeconfig(path, context)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * The path from the root of the space that the user is in; an id is translated when the user may see the translation.
 * @throws CommandError when the kubeconfig's URL names no space
 */
export async function currentPath({ client, space, server }: Session): Promise<string> {
  if (space === undefined) throw noSpace(server)
  return space === ROOT_SPACE || space.startsWith(`${ROOT_SPACE}:`) ? space : await pathOfId(client, space)
}

/** The id itself to those who may not see the space. */
export async function pathOfId(client: Client, id: string): Promise<string> {
  try {
    const cluster = await client.in(id).get(LOGICAL_CLUSTERS, { name: 'cluster' })
    return cluster.metadata.annotations?.[PATH_ANNOTATION] ?? id
  } catch (error) {
    if (isStatusError(error, 'NotFound', 'Forbidden')) return id
    throw error
  }
}

/** @throws CommandError where the kubeconfig leads through a host cluster, whose address and users are not those of the server */
export function requireOrdinaryAddress({ base }: Session): void {
  if (!leadsThroughHost(base)) return
  throw new CommandError(
    'this kubeconfig leads through a host cluster, which knows no credential of Orrery: take one with the ordinary address of the server',
  )
}

/** An error for a kubeconfig whose URL names no space: mostly that of a plain cluster. */
export function noSpace(server: string): CommandError {
  const remedy = 'take one of Orrery ("orrery kubeconfig" prints it), or name a space: kubectl ws :root'
  return new CommandError(`this kubeconfig leads to no space of Orrery: its URL is "${server}"; ${remedy}`)
}

/**
 * The path in a flag like `--imw`: `.` is the user's space, all else as in `kubectl ws`. The empty text, which is home there, is refused:
 * an unset variable gives it, and it would mean the root with every space below it.
 */
export async function pathOf(session: Session, argument: string): Promise<string> {
  if (argument.trim() === '') throw new CommandError('the name of a workspace is empty; write "." for the current one')
  const target = parseTarget(argument, '')
  if (target.kind === 'previous') throw new CommandError(`${JSON.stringify(argument)} does not name a workspace here`)
  return await targetPath(session, target)
}

/** @throws CommandError where it leads above the top, or holds something that is no name */
export async function targetPath(session: Session, target: Exclude<Target, { kind: 'previous' }>): Promise<string> {
  if (target.kind === 'absolute') return resolveDots(target.path)
  const current = await currentPath(session)
  if (target.kind === 'relative') return resolveDots(`${current}:${target.path}`)
  return target.kind === 'top' ? current.split(':')[0]! : current
}
