/**
 * `-o` of commands that make, change or delete: the objects, for programs. They have standard output for themselves, once all is done;
 * progress goes to standard error.
 */
import {
  type GroupVersionResource,
  groupResourceName,
  type KubeObject,
  parseApiVersion,
} from '../../apimachinery/object.ts'
import { DOCUMENT_FORMATS, type DocumentFormat, listOf, printDocument, shown } from './output.ts'
import { flag } from './settings.ts'
import type { Terminal } from './terminal.ts'

interface ChangesOptions {
  output?: DocumentFormat
}

export const CHANGES = flag(
  '-o, --output <format>',
  'print the objects that it made, changed or deleted; name: names alone',
  { choices: DOCUMENT_FORMATS },
)

/**
 * Runs a command and prints what it answers: one object as itself, several as a List. Its own output on the given terminal is for people.
 */
export async function printingChanges(
  { output }: ChangesOptions,
  terminal: Terminal,
  run: (terminal: Terminal) => Promise<KubeObject | readonly KubeObject[]>,
): Promise<void> {
  if (output === undefined) await run(terminal)
  else await printObjects(await run({ ...terminal, out: terminal.err }), output, terminal)
}

export async function printObjects(
  objects: KubeObject | readonly KubeObject[],
  format: DocumentFormat,
  terminal: Terminal,
): Promise<void> {
  const isList = Array.isArray(objects)
  const all = (isList ? objects : [objects]) as readonly KubeObject[]
  if (format === 'name') for (const object of all) terminal.out(nameOf(object))
  else await printDocument(isList ? listOf(all) : shown(all[0]!), format, terminal)
}

/** `workspace.tenancy.kcp.io/shop`, as kubectl has it. */
function nameOf({ apiVersion, kind, metadata }: KubeObject): string {
  const { group = '' } = parseApiVersion(apiVersion) ?? {}
  return `${kind.toLowerCase()}${group === '' ? '' : `.${group}`}/${metadata.name}`
}

/** `synctarget.edge.kubestellar.io`: the singular, as in "synctarget.edge.kubestellar.io/x created". */
export function singular(resource: GroupVersionResource): string {
  return groupResourceName({ group: resource.group, resource: resource.resource.replace(/s$/, '') })
}

/** Format in `-o` of commands where it has always been a file; `./json` is a file again. */
export function formatIn(output: string | undefined): DocumentFormat | undefined {
  return DOCUMENT_FORMATS.find(format => format === output)
}
