/**
 * Result of `kubectl apply` on files, by kubectl's own dry run in the server. Files, folders, defaults, merges, rights and refusals are
 * exactly those of the later apply.
 */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { list } from '../../../apimachinery/fields.ts'
import { isRecord, type KubeObject, parseApiVersion } from '../../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../../apimachinery/resources.ts'
import type { DiscoveredResource } from '../../../client/client.ts'
import { CommandError } from '../../shell/commandError.ts'
import { serverOf } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import type { AnswerOptions, Scope } from './answerSession.ts'
import { TROUBLE } from './exitCodes.ts'

/** Objects as they are to be previewed. @throws CommandError with kubectl's words */
export async function applied(args: readonly string[], terminal: Terminal): Promise<KubeObject[]> {
  return (await objectsOf(['apply', '--dry-run=server', '-o', 'json', ...args], terminal)).map(asPreviewed)
}

/** The files of an answer. */
export interface FileOptions extends AnswerOptions {
  filename?: string[]
  recursive?: boolean
}

/** The flags by which kubectl finds the same files. */
export function fileFlags({ filename = [], recursive = false }: FileOptions): string[] {
  return [...filename.flatMap(file => ['-f', file]), ...(recursive ? ['-R'] : [])]
}

/** Objects of files as the space holds them. @throws CommandError with kubectl's words */
export async function stored(scope: Scope, options: FileOptions, terminal: Terminal): Promise<KubeObject[]> {
  return await objectsOf(['get', '-o', 'json', ...fileFlags(options), ...whereTo(scope, options)], terminal)
}

/** Objects as files have them, without a question to a server. @throws CommandError with kubectl's words */
export async function written(files: readonly string[], terminal: Terminal): Promise<KubeObject[]> {
  // the one command of kubectl that prints what it reads, whatever kinds there are: nothing is taken off
  return await objectsOf(['annotate', '--local', '-o', 'json', ...files, 'orrery.invalid/none-'], terminal)
}

/** The flags by which kubectl speaks to the same space. */
export function whereTo({ session, path }: Scope, { kubeconfig, namespace }: AnswerOptions): string[] {
  return [
    '--server',
    serverOf(session.base, path),
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]),
    ...(namespace === undefined ? [] : ['-n', namespace]),
  ]
}

/** JSON output of a kubectl command. @throws CommandError with kubectl's words */
async function objectsOf(args: readonly string[], terminal: Terminal): Promise<KubeObject[]> {
  const input = terminal.input ?? (args.includes('-') ? await text(process.stdin) : '')
  const child = spawn('kubectl', args, { stdio: ['pipe', 'pipe', 'pipe'] })
  // one that does not read all has its own word about that
  child.stdin.on('error', () => {}).end(input)
  const failed = new Promise<never>((_, reject) => child.on('error', reject))
  const ended = new Promise<number>(resolve => child.on('close', code => resolve(code ?? TROUBLE)))
  let result: [string, string, number]
  try {
    result = await Promise.race([Promise.all([text(child.stdout), text(child.stderr), ended]), failed])
  } catch (error) {
    throw new CommandError('kubectl is needed to read files, and cannot be run', TROUBLE, { cause: error })
  }
  const [out, err, code] = result
  const words = err.trimEnd()
  if (code !== 0)
    throw new CommandError(
      words === ''
        ? `kubectl ${args[0]} ended with ${code}`
        : words.replace(/^(?:error|Error from server(?: \(\w+\))?): /gm, ''),
      TROUBLE,
    )
  if (words !== '') terminal.err(words)
  return documentsIn(out).flatMap(itemsOf)
}

/** The kind of an object of a file. @throws CommandError where the space does not serve it */
export function resourceOf(
  object: KubeObject,
  resources: readonly DiscoveredResource[],
  path: string,
): DiscoveredResource {
  const { group, version } = parseApiVersion(object.apiVersion) ?? { group: '', version: '' }
  const ofKind = resources.filter(one => one.group === group && one.kind === object.kind)
  const found = ofKind.find(one => one.version === version) ?? ofKind[0]
  if (!found) throw new CommandError(`${path} serves no ${object.kind} of ${object.apiVersion}`, TROUBLE)
  return found
}

/** Several are printed one behind the other, each from a brace at the beginning of a line. */
function documentsIn(out: string): unknown[] {
  return out
    .split(/^(?=\{)/m)
    .filter(text => text.trim() !== '')
    .map(text => JSON.parse(text))
}

function itemsOf(answer: unknown): KubeObject[] {
  if (!isRecord(answer)) return []
  const items = answer.kind === 'List' ? list(answer, 'items') : [answer]
  return items.filter((item): item is KubeObject => isRecord(item) && isRecord(item.metadata))
}

/**
 * An existing object enters the question in its future form, which shows the changes. A new object enters as it was written: defaults have
 * no author, and do not travel.
 */
function asPreviewed(object: KubeObject): KubeObject {
  if (object.metadata.resourceVersion !== undefined) return object
  const applied = object.metadata.annotations?.[LAST_APPLIED_ANNOTATION]
  if (applied === undefined) return object
  const written = JSON.parse(applied) as KubeObject
  const annotations = { ...written.metadata.annotations, [LAST_APPLIED_ANNOTATION]: applied }
  return { ...written, metadata: { ...written.metadata, annotations } }
}
