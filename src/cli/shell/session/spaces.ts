/** Spaces as the server knows them: whether one may be entered, making one, waiting for one. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { str } from '../../../apimachinery/fields.ts'
import { nearest as alike, didYouMean } from '../../../apimachinery/nearest.ts'
import { apiVersionOf, type KubeObject } from '../../../apimachinery/object.ts'
import { LOGICAL_CLUSTERS, WORKSPACES } from '../../../apimachinery/resources.ts'
import type { Client } from '../../../client/client.ts'
import { spacePath } from '../../../client/http/paths.ts'
import { CommandError } from '../commandError.ts'
import type { Terminal } from '../terminal.ts'
import { waitFor } from '../waitFor.ts'
import { ROOT_SPACE, splitPath } from './spacePath.ts'

export const READY_TIMEOUT_MS = 60_000
/** Names that are looked at for one that may have been meant. */
const ALIKE_PAGE = 2_000

/** `root:universal`, from a Workspace. */
export function typeOf(workspace: KubeObject): string {
  const parts = ['path', 'name'].map(part => str(workspace, 'spec', 'type', part))
  return parts.filter(part => part !== '').join(':')
}

export function phaseOf(workspace: KubeObject | undefined): string {
  return str(workspace, 'status', 'phase')
}

/** The URL of one space, by that of all. */
export function serverOf(base: string, path: string): string {
  return `${base}${spacePath(base, path)}`
}

/**
 * Makes sure that the user may enter, by asking the space what it serves and the parent what the space is.
 * @returns the type of the space, `''` when the user may not see it
 * @throws CommandError "not found" with the nearest space that exists, or "denied", or "not ready"
 */
export async function enterable(client: Client, path: string): Promise<string> {
  const [seen, workspace] = await Promise.all([discovers(client, path), workspaceOf(client, path)])
  if (seen === 'missing' || (seen === 'denied' && workspace === 'missing')) {
    // the server tells strangers no more
    const how = seen === 'denied' ? 'not found, or closed to you' : 'not found'
    throw new CommandError(`workspace "${path}" ${how}${await nearest(client, path)}`)
  }
  if (seen === 'denied') throw new CommandError(`access to workspace "${path}" denied`)
  if (path === ROOT_SPACE) return ROOT_SPACE
  if (typeof workspace === 'string') return ''
  const phase = phaseOf(workspace)
  if (phase !== 'Ready') throw new CommandError(`workspace "${path}" is not ready: it is ${phase || 'still new'}`)
  return typeOf(workspace)
}

interface NewWorkspace {
  name: string
  /** `universal` or `root:universal`; absent: the server chooses. */
  type?: string
}

/** Creates a child of the space at `parent`. @throws StatusError */
export async function createWorkspace(client: Client, parent: string, wanted: NewWorkspace): Promise<KubeObject> {
  const { name, type } = wanted
  const parts = type === undefined ? undefined : splitPath(type)
  const typeSpec = parts && { name: parts.name.toLowerCase(), ...(parts.parent && { path: parts.parent }) }
  const object: KubeObject = {
    apiVersion: apiVersionOf(WORKSPACES),
    kind: 'Workspace',
    metadata: { name },
    spec: typeSpec ? { type: typeSpec } : {},
  }
  return await client.in(parent).create(WORKSPACES, object, { fieldManager: 'kubectl-ws' })
}

/** @throws CommandError when it is deleted meanwhile, or not ready after {@link READY_TIMEOUT_MS} */
export async function waitReady(
  client: Client,
  parent: string,
  name: string,
  terminal: Pick<Terminal, 'err'>,
): Promise<KubeObject> {
  const { reached, object } = await waitFor({
    client: client.in(parent),
    resource: WORKSPACES,
    ref: { name },
    done: workspace => {
      if (!workspace) throw new CommandError(`workspace "${name}" was deleted before it was ready`)
      return phaseOf(workspace) === 'Ready'
    },
    progress: (workspace, seconds) =>
      terminal.err(`Workspace "${name}" is ${phaseOf(workspace) || 'still new'} after ${seconds} s; waiting...`),
    signal: AbortSignal.timeout(READY_TIMEOUT_MS),
  })
  if (reached && object) return object
  throw new CommandError(
    `workspace "${name}" is not ready after ${READY_TIMEOUT_MS / 1000} s: it is ${phaseOf(object) || 'still new'}`,
  )
}

interface EnsureListeners {
  /** Gets a line for every new space. */
  created: (line: string) => void
  /** Gets a line when it takes long. */
  progress: (line: string) => void
}

/**
 * Makes what is missing of `path` below the root, and waits for each. `type` is for the last one; the server chooses all others'.
 * @returns their Workspaces, from the top; without those that the user may not see
 */
export async function ensureSpace(
  client: Client,
  path: string,
  { created, progress }: EnsureListeners,
  type?: string,
): Promise<KubeObject[]> {
  const [top = '', ...names] = path.split(':')
  const workspaces: KubeObject[] = []
  let parent = top
  for (const [index, name] of names.entries()) {
    let workspace = await workspaceOf(client, `${parent}:${name}`)
    if (workspace === 'missing') {
      const isLast = index === names.length - 1
      const wanted = { name, ...(isLast && type !== undefined && { type }) }
      workspace = (await createOrGet(client, parent, wanted)).workspace
      created(`Workspace "${name}" (type ${typeOf(workspace)}) created in ${parent}.`)
    }
    if (typeof workspace === 'object') {
      const ready = phaseOf(workspace) === 'Ready'
      workspaces.push(ready ? workspace : await waitReady(client, parent, name, { err: progress }))
    }
    parent = `${parent}:${name}`
  }
  return workspaces
}

/** Somebody else may make it at the same moment. */
export async function createOrGet(
  client: Client,
  parent: string,
  wanted: NewWorkspace,
): Promise<{ workspace: KubeObject; existed: boolean }> {
  try {
    return { workspace: await createWorkspace(client, parent, wanted), existed: false }
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
    return { workspace: await client.in(parent).get(WORKSPACES, { name: wanted.name }), existed: true }
  }
}

/** Whether somebody may enter a space that may be there. */
export async function discovers(client: Client, path: string): Promise<'yes' | 'denied' | 'missing'> {
  try {
    return (await client.in(path).discover()).length > 0 ? 'yes' : 'denied'
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return 'denied'
    if (isStatusError(error, 'NotFound')) return 'missing'
    throw error
  }
}

/** The Workspace of the space at `path`; `unknown` when the parent does not tell, or there is none. */
async function workspaceOf(client: Client, path: string): Promise<KubeObject | 'missing' | 'unknown'> {
  const { parent, name } = splitPath(path)
  if (parent === undefined) return 'unknown'
  try {
    return await client.in(parent).get(WORKSPACES, { name })
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return 'missing'
    if (isStatusError(error, 'Forbidden')) return 'unknown'
    throw error
  }
}

/** Hint for a mistyped path; empty when no part of it can be seen. */
async function nearest(client: Client, path: string): Promise<string> {
  for (let { parent: at, name } = splitPath(path); at !== undefined; { parent: at, name } = splitPath(at)) {
    if (!(await exists(client, at))) continue
    return `; the nearest workspace that exists is "${at}"${await alikeBelow(client, at, name)}`
  }
  if (path.startsWith(`${ROOT_SPACE}:`)) return ''
  const [top = '', ...below] = path.split(':')
  if (alike(top, [ROOT_SPACE]).length > 0) return `; did you mean ":${[ROOT_SPACE, ...below].join(':')}"?`
  const fromRoot = `${ROOT_SPACE}:${path}`
  return (await exists(client, fromRoot)) ? `; did you mean ":${fromRoot}"?` : ''
}

/** `; did you mean …?` when workspaces with names like this one are there, and may be listed. */
export async function alikeBelow(client: Client, parent: string, name: string): Promise<string> {
  try {
    // a slip of a finger is not worth a walk over a hundred thousand names
    const { items } = await client.in(parent).list(WORKSPACES, { limit: ALIKE_PAGE })
    return didYouMean(
      name,
      items.map(({ metadata }) => metadata.name ?? ''),
    )
  } catch (error) {
    if (isStatusError(error, 'NotFound', 'Forbidden')) return ''
    throw error
  }
}

async function exists(client: Client, path: string): Promise<boolean> {
  try {
    await client.in(path).get(LOGICAL_CLUSTERS, { name: 'cluster' })
    return true
  } catch (error) {
    if (isStatusError(error, 'NotFound', 'Forbidden')) return false
    throw error
  }
}
