/** `kubectl ws tree` and `kubectl ws list`: the spaces below the one that the user is in. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { ANSWERS_VERSION, columns, type DocumentOptions, listOf, printDocument } from '../shell/output.ts'
import { currentPath, type SessionOptions, withSession } from '../shell/session/session.ts'
import { splitPath } from '../shell/session/spacePath.ts'
import { phaseOf, typeOf } from '../shell/session/spaces.ts'
import { spacesFrom } from '../shell/session/spaceTree.ts'
import type { Terminal } from '../shell/terminal.ts'

interface TreeNode {
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

async function growTree(client: Client, path: string): Promise<TreeNode> {
  const spaces = await spacesFrom(client, path)
  const nodeOf = (at: string): TreeNode => {
    const { children = [], hidden } = spaces.get(at) ?? {}
    return { path: at, children: children.map(nodeOf), hidden }
  }
  return nodeOf(path)
}

function pathsOf({ path, children }: TreeNode): string[] {
  return [path, ...children.flatMap(pathsOf)]
}

/** One line for each node. `full`: whole paths instead of names. */
function drawTree(nodes: readonly TreeNode[], full: boolean, indent = ''): string[] {
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
