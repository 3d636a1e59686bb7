/** `kubectl kubestellar wait`: follows the objects of files until they are in all clusters where they are placed. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../../client/client.ts'
import { systemClock } from '../../../client/clock.ts'
import { CLUSTER_WORK_STATUSES, EDGE_PLACEMENTS, SLICES, WORK_STATUSES } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { checkPlaces, type Scope, withSpace } from './answerSession.ts'
import { CHANGE, comparing, NO_CHANGE, TROUBLE } from './exitCodes.ts'
import { followAnswers, type Watched } from './followAnswers.ts'
import { type FileOptions, resourceOf, stored } from './kubectlApply.ts'
import { nameOfObject } from './objectArgument.ts'
import { type Goal, missingText, type Progress, progressOf } from './wait.ts'
import { gather, sharedFacts } from './why/whyFacts.ts'

interface WaitOptions extends FileOptions {
  for: Goal
  /** Seconds. */
  timeout: number
}

interface Awaited {
  readonly object: KubeObject
  readonly resource: DiscoveredResource
}

/** Namespaces that are watched one by one. */
const MAX_NAMESPACES = 10

/** Resolves to the exit code. */
export async function waitCommand(options: WaitOptions, terminal: Terminal): Promise<number> {
  return await comparing(async () => {
    if (!options.filename) throw new CommandError('say what is waited for with -f FILE; "-" is standard input', TROUBLE)
    return await withSpace(options, terminal, async scope => {
      await checkPlaces(scope, terminal)
      const objects = await stored(scope, options, terminal)
      const resources = await scope.space.discover()
      const awaited = objects.map(object => ({ object, resource: resourceOf(object, resources, scope.path) }))
      return await follow(scope, awaited, resources, options, terminal)
    })
  })
}

async function follow(
  scope: Scope,
  awaited: readonly Awaited[],
  resources: readonly DiscoveredResource[],
  { for: goal, timeout }: WaitOptions,
  terminal: Terminal,
): Promise<number> {
  const stop = new AbortController()
  const cancel = systemClock.after(timeout * 1000, () => stop.abort())
  const open = new Set(awaited)
  let last: readonly Progress[] | undefined
  const answer = async (): Promise<readonly Progress[]> => {
    const shared = await sharedFacts(scope)
    if (shared.placements.unknown !== undefined) throw new CommandError(shared.placements.unknown, TROUBLE)
    const found: Progress[] = []
    for (const one of open) {
      const facts = await gather(
        scope,
        { ...one, object: await newest(scope, one), resources, cluster: undefined },
        shared,
      )
      if (facts.workStatuses.unknown !== undefined) throw new CommandError(facts.workStatuses.unknown, TROUBLE)
      const progress = progressOf(facts, one.object.metadata.resourceVersion ?? '', goal)
      if (progress.state === 'there') {
        const { object, clusters } = progress
        terminal.out(`${object} is ${goal} in ${clusters} ${clusters === 1 ? 'cluster' : 'clusters'}`)
        open.delete(one)
      } else if (progress.state === 'stays') {
        for (const line of progress.lines) terminal.err(line)
        open.delete(one)
      } else found.push(progress)
    }
    return found
  }
  const print = (progress: readonly Progress[]): void => {
    last = progress
    if (progress.length === 0 || progress.some(({ state }) => state === 'unplaced')) stop.abort()
  }
  try {
    const { space } = scope
    await followAnswers({
      clock: systemClock,
      random: Math.random,
      space,
      watched: watchedOf(awaited),
      answer,
      print,
      warn: terminal.err,
      signal: stop.signal,
    })
  } finally {
    cancel()
  }
  return outcome(last, timeout, terminal)
}

function outcome(last: readonly Progress[] | undefined, timeout: number, terminal: Terminal): number {
  if (last?.length === 0) return NO_CHANGE
  const unplaced = (last ?? []).filter(({ state }) => state === 'unplaced')
  const missing = (last ?? []).filter(({ state }) => state !== 'unplaced')
  if (unplaced.length > 0) {
    terminal.err('Error: no cluster gets these objects:')
    for (const line of missingText(unplaced)) terminal.err(line)
    if (missing.length > 0) terminal.err('and these are not there yet:')
  } else terminal.err(`Error: after ${timeout} s these objects are not everywhere:`)
  for (const line of missingText(missing)) terminal.err(line)
  return CHANGE
}

/** As it is now; its deletion ends the wait. */
async function newest({ space, path }: Scope, { object, resource }: Awaited): Promise<KubeObject> {
  const { name = '', namespace = '' } = object.metadata
  try {
    return await space.get(resource, { name, ...(namespace !== '' && { namespace }) })
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    throw new CommandError(`${path} has no ${nameOfObject(resource, namespace, name)} any more`, TROUBLE, {
      cause: error,
    })
  }
}

function watchedOf(awaited: readonly Awaited[]): Watched[] {
  const namespaces = [...new Set(awaited.map(({ object }) => object.metadata.namespace ?? ''))]
  const namespaced = namespaces.filter(name => name !== '')
  const of: Watched[] =
    namespaced.length > MAX_NAMESPACES
      ? [{ resource: WORK_STATUSES }]
      : namespaced.map(namespace => ({ resource: WORK_STATUSES, namespace }))
  const clusterScoped = namespaces.includes('') ? [{ resource: CLUSTER_WORK_STATUSES }] : []
  return [{ resource: EDGE_PLACEMENTS }, { resource: SLICES }, ...of, ...clusterScoped]
}
