/** `kubectl kubestellar why … --at`: an object in a revision of its placements, who made it so, and what became of the revision. */
import { groupResourceName } from '../../../apimachinery/object.ts'
import { CommandError } from '../../shell/commandError.ts'
import { ANSWERS_VERSION, ago, type Format, printAnswer, type TextOptions } from '../../shell/output.ts'
import type { Terminal } from '../../shell/terminal.ts'
import type { Scope } from '../answers/answerSession.ts'
import { nameOfObject, parseObjectArgument, resolveKind } from '../answers/objectArgument.ts'
import { compareRevisions, headOf, namedRevisions, type RevisionHead } from './revisions.ts'
import { type RolloutAnswer, rolloutsAnswer, rolloutText } from './rolloutStatus.ts'
import { placementOf, revisionOf, revisionsOf, rolloutsOf } from './rollouts.ts'

interface WhyAtOptions {
  readonly at: string
  readonly cluster?: string | undefined
  readonly output?: Format | undefined
}

/** An object in one revision. */
interface RevisedHead extends RevisionHead {
  /** The revision that made it so. Its author and time are absent where it is kept no more. */
  readonly since: { readonly revision: number; readonly by?: string; readonly at?: string }
  /** `same`, `other` or `gone`. */
  readonly now: string
  readonly rollout?: RolloutAnswer
}

const NOW: Readonly<Record<string, string>> = { Unchanged: 'same', Update: 'other', Delete: 'gone' }

export async function whyAt(
  { space, namespace }: Scope,
  { at, cluster, output }: WhyAtOptions,
  args: readonly string[],
  terminal: Terminal,
): Promise<void> {
  const { kind, name } = parseObjectArgument(args)
  const resource = resolveKind(kind, await space.discover())
  const named = { namespace: resource.namespaced ? namespace : '', name }
  const objects = [{ group: resource.group, resource: resource.resource, ...named }]
  const revisions: RevisedHead[] = []
  const elsewhere: number[] = []
  for (const revision of await namedRevisions(space, at)) {
    const [placement, number] = [placementOf(revision), revisionOf(revision)]
    const [found] = (await compareRevisions(space, { placement, from: number, objects })).objects
    if (found?.since === undefined) continue
    const [all, rollouts] = await Promise.all([revisionsOf(space, placement), rolloutsOf(space, placement)])
    const made = all.find(one => revisionOf(one) === found.since)
    const { by, at } = made ? headOf(made) : {}
    const [whole] = rolloutsAnswer(rollouts.filter(one => revisionOf(one) === number)).rollouts
    const rollout = whole && inCluster(whole, cluster)
    if (whole && !rollout) {
      elsewhere.push(number)
      continue
    }
    revisions.push({
      ...headOf(revision),
      since: { revision: found.since, ...(by && { by }), ...(at && { at }) },
      now: NOW[found.action] ?? found.action,
      ...(rollout && { rollout }),
    })
  }
  const what = nameOfObject(resource, named.namespace, name)
  if (revisions.length === 0 && elsewhere.length > 0)
    throw new CommandError(`the rollout of revision ${elsewhere[0]} has no location called ${JSON.stringify(cluster)}`)
  if (revisions.length === 0) throw new CommandError(`${what} is in no revision ${at} of a placement here`)
  const where = named.namespace === '' ? '' : ` -n ${named.namespace}`
  const command = `kubectl kubestellar diff ${groupResourceName(resource)}/${name}${where}`
  const object = { kind: resource.kind, ...objects[0]! }
  const document = { apiVersion: ANSWERS_VERSION, kind: 'WhyAt', object, revisions }
  const names = () => revisions.map(({ placement, revision }) => `${placement}.${revision}`)
  const text = (options: TextOptions) =>
    revisions.flatMap((one, i) => [
      ...(i > 0 ? [''] : []),
      ...sentences(what, one, { command, nowMs: options.nowMs }),
      ...(one.rollout ? ['', ...rolloutText(one.rollout, options)] : []),
    ])
  await printAnswer({ document, names, text }, output, terminal)
}

/** `undefined`: the rollout is not about the cluster. */
function inCluster(rollout: RolloutAnswer, cluster: string | undefined): RolloutAnswer | undefined {
  if (cluster === undefined) return rollout
  const clusters = rollout.clusters.filter(({ location }) => location === cluster)
  return clusters.length > 0 ? { ...rollout, clusters } : undefined
}

/** @param command shows the difference of a revision and now */
function sentences(
  what: string,
  { placement, revision, by, at, since, now }: RevisedHead,
  { command, nowMs }: { readonly command: string; readonly nowMs: number },
): string[] {
  const when = (time: string | undefined): string => (time ? `, ${ago(time, nowMs)} ago` : '')
  const who = (name: string | undefined): string => (name ? ` by ${name}` : '')
  const made =
    since.revision === revision
      ? 'which made it so'
      : `as revision ${since.revision} made it${who(since.by)}${when(since.at)}`
  const lines = [`${what} is in revision ${revision} of placement ${placement}${who(by)}${when(at)}, ${made}`]
  if (now === 'same') lines.push('it is the same now')
  if (now === 'gone') lines.push('it is not in this space any more')
  if (now === 'other') lines.push(`it is otherwise now: ${command} --revision ${placement}.${revision} shows how`)
  return lines
}
