/** `kubectl ws tree` and `kubectl ws list`: the spaces below the one that the user is in. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import type { Client } from '../../client/client.ts'
import { listAll } from '../../client/listWatch.ts'
import { ANSWERS_VERSION, columns, type DocumentOptions, listOf, printAnswer } from '../shell/output.ts'
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
    const document = { apiVersion: ANSWERS_VERSION, kind: 'SpaceTree', ...root }
    const text = () => ['.', ...drawTree([root], options.full === true)]
    await printAnswer({ document, names: () => pathsOf(root), text }, options.output, terminal)
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
    if (items.length === 0 && options.output === undefined) return terminal.err(`No workspaces found in ${path}.`)
    const names = () => items.map(({ metadata }) => `${path}:${metadata.name}`)
    const text = () => columns([['NAME', 'TYPE', 'PHASE', 'URL'], ...items.map(rowOf)])
    await printAnswer({ document: listOf(items), names, text }, options.output, terminal)
  })
}

function rowOf(workspace: KubeObject): string[] {
  const url = isRecord(workspace.spec) ? String(workspace.spec.URL ?? '') : ''
  const phase = workspace.metadata.deletionTimestamp ? 'Deleting' : phaseOf(workspace)
  return [workspace.metadata.name ?? '', typeOf(workspace), phase, url]
}
