/** The tools of `orrery mcp`: commands of `kubectl kubestellar` with arguments that are checked, and answers that are bounded. */
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { didYouMean } from '../../../apimachinery/nearest.ts'
import type { Check } from '../../../apimachinery/ownDocuments.ts'
import type { Format } from '../../shell/output.ts'
import { shownText, type Terminal } from '../../shell/terminal.ts'
import type { GetArguments } from './getObjects.ts'
import { RpcError } from './jsonRpc.ts'

/** Flags of `orrery mcp`, which hold where a call names nothing else. */
export interface ToolSettings {
  readonly kubeconfig?: string
  readonly space?: string
  readonly namespace?: string
}

/** Arguments of one call, checked against its tool's schema. */
interface ToolArguments extends ToolSettings, GetArguments {
  readonly object?: string
  readonly cluster?: string
  readonly manifest?: string
  readonly format?: 'text' | 'json'
}

/** Characters of one answer. */
export const MAX_ANSWER = 60_000
/** Characters of a manifest. */
const MAX_MANIFEST = 1024 * 1024
const MAX_OBJECTS = 100

const text = (description: string, maxLength = 1024) => ({ type: 'string', minLength: 1, maxLength, description })
const SPACE = text('path of the workload space, such as root:team-a; default: the one of the kubeconfig')
const NAMESPACE = text("namespace; default: the kubeconfig's, else default")
const OBJECT = text('KIND/NAME as kubectl takes it, such as deployment/web')
const CLUSTER = text('only about this location')
const FORMAT = { enum: ['text', 'json'], description: 'json has all fields; default: text' }

interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly properties: object; readonly [key: string]: unknown }
  readonly annotations: object
}

function tool(name: string, description: string, properties: object, required: readonly string[] = []): Tool {
  const inputSchema = { type: 'object', properties, required, additionalProperties: false }
  return { name, description, inputSchema, annotations: { readOnlyHint: true, openWorldHint: false } }
}

export const TOOLS: readonly Tool[] = [
  tool('status', 'Show placements of a workload space and the clusters that it may use, troubles first.', {
    space: SPACE,
    format: FORMAT,
  }),
  tool(
    'why',
    'Explain where an object of a workload space goes, where not and why, and what became of it in each cluster.',
    { object: OBJECT, namespace: NAMESPACE, space: SPACE, cluster: CLUSTER, format: FORMAT },
    ['object'],
  ),
  tool(
    'preview',
    'Show what kubectl apply of a manifest would change in which clusters. Nothing is changed. Needs the right to apply it.',
    {
      manifest: text('objects as YAML or JSON', MAX_MANIFEST),
      namespace: NAMESPACE,
      space: SPACE,
      format: FORMAT,
    },
    ['manifest'],
  ),
  tool(
    'diff',
    'Compare what clusters should have of an object with what they have now.',
    { object: OBJECT, namespace: NAMESPACE, space: SPACE, cluster: CLUSTER, format: FORMAT },
    ['object'],
  ),
  tool(
    'get',
    'Read objects of a space as YAML, one by its name or a list. Values of Secrets are left out.',
    {
      kind: text('kind as kubectl takes it, such as deploy, deployments.apps or edgeplacements'),
      name: text('name of one object; without it a list is read'),
      namespace: NAMESPACE,
      allNamespaces: { type: 'boolean', description: 'list all namespaces' },
      labelSelector: text('labels of listed objects, such as app=web'),
      limit: { type: 'integer', minimum: 1, maximum: MAX_OBJECTS, description: 'listed objects at most; default: 20' },
      space: SPACE,
    },
    ['kind'],
  ),
]

interface ToolResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[]
  readonly isError?: true
}

/** Whatever goes wrong for the tool is its result, so that the assistant reads it. @throws RpcError where there is no such tool */
export async function callTool(name: string, args: object, settings: ToolSettings): Promise<ToolResult> {
  const tool = TOOLS.find(one => one.name === name)
  if (!tool) {
    const names = TOOLS.map(one => one.name)
    throw new RpcError('InvalidParams', `there is no tool ${JSON.stringify(name)}${didYouMean(name, names)}`)
  }
  const lines: string[] = []
  const collect = (line: string): void => void lines.push(line)
  // the program's own standard input is the protocol's
  const terminal = { out: collect, err: collect, input: '' }
  try {
    const checked = (await checkOf(tool))(args)
    await run(name, { ...settings, ...checked }, terminal)
    return result(lines)
  } catch (error) {
    return { ...result([...lines, `Error: ${messageOf(error)}`]), isError: true }
  }
}

async function checkOf({ name, inputSchema }: Tool): Promise<Check<ToolArguments>> {
  const { checkerOf } = await import('../../../apimachinery/ownDocuments.ts')
  return checkerOf<ToolArguments>(inputSchema, `the call of ${name}`)
}

async function run(name: string, args: ToolArguments, terminal: Terminal): Promise<void> {
  const { kubeconfig, space, namespace, object = '', cluster, manifest = '', format = 'text' } = args
  const options = {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(space !== undefined && { space }),
    // an answer about placements is about the whole space
    ...(namespace !== undefined && name !== 'status' && { namespace }),
    ...(cluster !== undefined && { cluster }),
    output: format satisfies Format,
  }
  if (name === 'status') {
    await (await import('../../kubestellar/answers/status/statusCommand.ts')).statusCommand(options, terminal)
  } else if (name === 'why') {
    await (await import('../../kubestellar/answers/why/whyCommand.ts')).whyCommand(options, terminal, object)
  } else if (name === 'preview') {
    const { previewCommand } = await import('../../kubestellar/answers/preview/previewCommand.ts')
    await previewCommand({ ...options, filename: ['-'] }, { ...terminal, input: manifest })
  } else if (name === 'diff') {
    await (await import('../../kubestellar/answers/preview/diffCommand.ts')).diffCommand(options, terminal, object)
  } else await (await import('./getObjects.ts')).getObjects(options, args, terminal)
}

function result(lines: readonly string[]): ToolResult {
  return { content: [{ type: 'text', text: bounded(shownText(lines.join('\n'))) }] }
}

function bounded(all: string): string {
  if (all.length <= MAX_ANSWER) return all
  const left = all.length - MAX_ANSWER
  return `${all.slice(0, MAX_ANSWER)}\n… ${left} more characters are left out; ask about one object, one cluster or fewer objects`
}
