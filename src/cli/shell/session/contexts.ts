/**
 * How spaces are recorded in a kubeconfig: the context and cluster `workspace.kcp.io/current` are where the user is,
 * `workspace.kcp.io/previous` is where they were. User and namespace go with them.
 */
import { CommandError } from '../commandError.ts'
import type { Entry, KubeconfigFiles } from './kubeconfigFiles.ts'

export const CURRENT = 'workspace.kcp.io/current'
export const PREVIOUS = 'workspace.kcp.io/previous'

/** Makes `server` current. `from`: the context whose user, namespace and trust are used; it becomes the previous one. */
export function enterServer(files: KubeconfigFiles, server: string, from: string): void {
  const { context, cluster } = contextOf(files, from)
  keepAsPrevious(files, context, cluster)
  files.set('clusters', CURRENT, { ...cluster, server })
  files.set('contexts', CURRENT, { ...context, cluster: CURRENT })
  files.currentContext = CURRENT
}

/** Goes back; the server that is current then. */
export function swapWithPrevious(files: KubeconfigFiles, from: string): string {
  const { context, cluster } = contextOf(files, from)
  if (!files.get('contexts', PREVIOUS)) throw new CommandError('no previous workspace found in kubeconfig')
  const previous = contextOf(files, PREVIOUS)
  keepAsPrevious(files, context, cluster)
  const own = previous.context.cluster === PREVIOUS
  if (own) files.set('clusters', CURRENT, previous.cluster)
  files.set('contexts', CURRENT, own ? { ...previous.context, cluster: CURRENT } : previous.context)
  files.currentContext = CURRENT
  return String(previous.cluster.server ?? '')
}

/** The URL that a context leads to. @throws CommandError when the context or its cluster is missing */
export function serverOfContext(files: KubeconfigFiles, name: string): string {
  return String(contextOf(files, name).cluster.server ?? '')
}

interface NewContext {
  name: string
  /** The context whose user, namespace and trust are used. */
  from: string
  server: string
  overwrite: boolean
  /** Whether to make it current. */
  enter: boolean
}

/** Adds a context and a cluster of one name. Whether the context was there before. */
export function addContext(files: KubeconfigFiles, { name, from, server, overwrite, enter }: NewContext): boolean {
  const existed = files.get('contexts', name) !== undefined
  if (existed && !overwrite) {
    throw new CommandError(`context "${name}" already exists in kubeconfig, use --overwrite to update it`)
  }
  const { context, cluster } = contextOf(files, from)
  files.set('clusters', name, { ...cluster, server })
  files.set('contexts', name, { ...context, cluster: name })
  if (enter) files.currentContext = name
  return existed
}

/** The cluster is copied only when it is the one that is about to be overwritten. */
function keepAsPrevious(files: KubeconfigFiles, context: Entry, cluster: Entry): void {
  const own = context.cluster === CURRENT
  if (own) files.set('clusters', PREVIOUS, cluster)
  files.set('contexts', PREVIOUS, own ? { ...context, cluster: PREVIOUS } : context)
}

function contextOf(files: KubeconfigFiles, name: string): { context: Entry; cluster: Entry } {
  const context = files.get('contexts', name)
  if (!context) throw new CommandError(`current "${name}" context not found`)
  const cluster = files.get('clusters', String(context.cluster))
  if (!cluster) throw new CommandError(`cluster "${String(context.cluster)}" not found in kubeconfig`)
  return { context, cluster }
}
