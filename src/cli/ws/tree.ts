/** `kubectl ws tree` and `kubectl ws list`: the spaces below the one that the user is in. */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { ANSWERS_VERSION, columns, type DocumentOptions, listOf, printDocument } from '../shell/output.ts'
import { currentPath, type SessionOptions, withSession } from '../shell/session/session.ts'
import { splitPath } from '../shell/session/spacePath.ts'
import { discovers, phaseOf, typeOf } from '../shell/session/spaces.ts'
import type { Terminal } from '../shell/terminal.ts'

export interface TreeNode {
  readonly path: string
  readonly children: readonly TreeNode[]
  /** Why there are no children: they may not be seen, or nothing of the space may. */
  readonly hidden: 'children' | 'space' | undefined
}

const PAGE = 500
const HIDDEN = { children: ' (you may not list workspaces here)', space: ' (no access)' }

export async function treeCommand(
  options: SessionOptions & DocumentOptions & { full?: boolean },
  terminal: Terminal,
): Promise<void> {
  await withSession(options, async session => {
    const root = await growTree(session.client, await currentPath(session))
    if (options.output === 'name') {
      for (const path of pathsOf(root)) terminal.out(path)
      return
    }
    if (options.output !== undefined)
      return printDocument({ apiVersion: ANSWERS_VERSION, kind: 'SpaceTree', ...root }, options.output, terminal)
    terminal.out('.')
    for (const line of drawTree([root], options.full === true)) terminal.out(line)
  })
}

/** Branches that the user may not see, or that vanish meanwhile, do not hide the others. */
async function growTree(client: Client, path: string): Promise<TreeNode> {
  try {
    const { items } = await listAll(client.in(path), WORKSPACES, { limit: PAGE })
    const names = items.filter(item => !item.metadata.deletionTimestamp).map(item => item.metadata.name ?? '')
    const children = await Promise.all(names.map(name => growTree(client, `${path}:${name}`)))
    return { path, children, hidden: undefined }
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return { path, children: [], hidden: undefined }
    // who works in a space need not be one who may list those below it
    if (isStatusError(error, 'Forbidden'))
      return { path, children: [], hidden: (await discovers(client, path)) === 'yes' ? 'children' : 'space' }
    throw error
  }
}

function pathsOf({ path, children }: TreeNode): string[] {
  return [path, ...children.flatMap(pathsOf)]
}

/** One line for each node. `full`: whole paths instead of names. */
export function drawTree(nodes: readonly TreeNode[], full: boolean, indent = ''): string[] {
  return nodes.flatMap((node, index) => {
    const last = index === nodes.length - 1
    const label = full ? node.path : splitPath(node.path).name
    const line = `${indent}${last ? '└── ' : '├── '}${label}${node.hidden === undefined ? '' : HIDDEN[node.hidden]}`
    return [line, ...drawTree(node.children, full, indent + (last ? '    ' : '│   '))]
  })
}

export async function listCommand(options: SessionOptions & DocumentOptions, terminal: Terminal): Promise<void> {
  await withSession(options, async session => {
    const path = await currentPath(session)
    const { items } = await listAll(session.client.in(path), WORKSPACES, { limit: PAGE })
    if (options.output === 'name') {
      for (const { metadata } of items) terminal.out(`${path}:${metadata.name}`)
      return
    }
    if (options.output !== undefined) return printDocument(listOf(items), options.output, terminal)
    if (items.length === 0) terminal.err(`No workspaces found in ${path}.`)
    else for (const line of columns([['NAME', 'TYPE', 'PHASE', 'URL'], ...items.map(rowOf)])) terminal.out(line)
  })
}

function rowOf(workspace: KubeObject): string[] {
  const url = isRecord(workspace.spec) ? String(workspace.spec.URL ?? '') : ''
  const phase = workspace.metadata.deletionTimestamp ? 'Deleting' : phaseOf(workspace)
  return [workspace.metadata.name ?? '', typeOf(workspace), phase, url]
}
