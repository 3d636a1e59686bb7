/** `kubectl kubestellar diff … --revision`: an object, or all of an EdgePlacement, in a revision and now. */
import { groupResourceName } from '../../../apimachinery/object.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'
import { ANSWERS_VERSION, type Format, printAnswer, type TextOptions } from '../../shell/output.ts'
import type { Terminal } from '../../shell/terminal.ts'
import type { Scope } from '../answers/answerSession.ts'
import { CHANGE, NO_CHANGE } from '../answers/exitCodes.ts'
import { nameOfObject, parseObjectArgument, resolveKind } from '../answers/objectArgument.ts'
import {
  type ComparisonAnswer,
  compareRevisions,
  comparisonText,
  headOf,
  headText,
  namedRevisions,
  noRevision,
  type RevisionHead,
} from './revisions.ts'
import { revisionOf, revisionsOf } from './rollouts.ts'

interface Compared extends RevisionHead, ComparisonAnswer {}

interface RevisionDiffOptions {
  readonly revision: string
  readonly output?: Format
}

/** Resolves to the exit code. */
export async function revisionDiff(
  scope: Scope,
  { revision, output }: RevisionDiffOptions,
  args: readonly string[],
  terminal: Terminal,
): Promise<number> {
  const { space } = scope
  const { kind, name } = parseObjectArgument(args)
  const resource = resolveKind(kind, await space.discover())
  const isPlacement = resource.group === EDGE_PLACEMENTS.group && resource.resource === EDGE_PLACEMENTS.resource
  const compared = isPlacement
    ? [await wholePlacement(scope, name, revision)]
    : await oneObject(scope, { ...resource, namespace: resource.namespaced ? scope.namespace : '', name }, revision)
  const changed = compared.flatMap(({ objects }) => objects).filter(({ action }) => action !== 'Unchanged')
  const differs = changed.length > 0 || compared.some(({ hidden, more }) => hidden + more > 0)
  const document = { apiVersion: ANSWERS_VERSION, kind: 'RevisionDiff', differs, revisions: compared }
  const names = () => changed.map(one => `${groupResourceName(one)}/${one.name}`)
  const text = (options: TextOptions) =>
    compared.flatMap(one => [
      options.paint(`${headText(one, options.nowMs)}, and now`, 'bold'),
      ...comparisonText(one, [`revision ${one.revision}`, 'now'], options),
    ])
  await printAnswer({ document, names, text }, output, terminal)
  return differs ? CHANGE : NO_CHANGE
}

async function wholePlacement({ space }: Scope, placement: string, revision: string): Promise<Compared> {
  const all = await revisionsOf(space, placement)
  const found = all.find(one => revision === String(revisionOf(one)) || revision === one.metadata.name)
  if (!found) throw noRevision(placement, revision, all)
  return { ...headOf(found), ...(await compareRevisions(space, { placement, from: revisionOf(found) })) }
}

interface Named {
  readonly group: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

/** In each placement whose revision has it. */
async function oneObject({ space }: Scope, named: Named, revision: string): Promise<Compared[]> {
  const { group, resource, namespace, name } = named
  const objects = [{ group, resource, namespace, name }]
  const compared: Compared[] = []
  for (const one of await namedRevisions(space, revision)) {
    const head = headOf(one)
    const { placement, revision: from } = head
    const comparison = await compareRevisions(space, { placement, from, objects })
    if (comparison.objects.some(({ since }) => since !== undefined)) compared.push({ ...head, ...comparison })
  }
  if (compared.length > 0) return compared
  const what = nameOfObject(named, namespace, name)
  throw new CommandError(`${what} is in no revision ${revision} of a placement here`)
}
