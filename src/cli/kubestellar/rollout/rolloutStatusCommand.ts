/** `kubectl kubestellar rollout status`: reads rollouts, or follows one until it ends. */
import { conditionOf } from '../../../apimachinery/conditions.ts'
import { num, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { systemClock } from '../../../client/clock.ts'
import { NOT_STAGED, ROLLED_BACK, ROLLED_OUT } from '../../../placement/rollout/rolloutStates.ts'
import { EDGE_PLACEMENTS, PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS } from '../../../placement/words/placement.ts'
import { CommandError } from '../../shell/commandError.ts'
import { type Format, printAnswer, type TextOptions } from '../../shell/output.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { checkPlaces, type Scope, withSpace } from '../answers/answerSession.ts'
import { CHANGE, comparing, NO_CHANGE, TROUBLE, UNFINISHED } from '../answers/exitCodes.ts'
import { followAnswers } from '../answers/followAnswers.ts'
import { type FileOptions, resourceOf, stored } from '../answers/kubectlApply.ts'
import { why } from '../answers/why/why.ts'
import { gather, sharedFacts } from '../answers/why/whyFacts.ts'
import {
  type RolloutAnswer,
  type RolloutsAnswer,
  rolloutExit,
  rolloutsAnswer,
  rolloutsText,
  rolloutText,
} from './rolloutStatus.ts'
import { newestRollouts, noRollout, revisionOf, revisionsOf, rolloutsOf } from './rollouts.ts'

export interface RolloutStatusOptions extends FileOptions {
  output?: Format
  revision?: number
  /** Seconds. */
  timeout?: number
  watch?: boolean
}

/** Resolves to the exit code. */
export async function rolloutStatusCommand(
  options: RolloutStatusOptions,
  terminal: Terminal,
  placement?: string,
): Promise<number> {
  const { filename, timeout, watch, revision } = options
  return await comparing(async () => {
    if (placement === undefined && (watch || filename || revision !== undefined))
      throw new CommandError('name the placement whose rollout is meant', TROUBLE)
    if (timeout !== undefined && !watch) throw new CommandError('--timeout is about --watch', TROUBLE)
    return await withSpace(options, terminal, async scope => {
      await checkPlaces(scope, terminal)
      if (placement === undefined) {
        const all = rolloutsAnswer(await newestRollouts(scope.space))
        await print(all, options.output, terminal)
        return rolloutExit(all)
      }
      const applied = filename && (await appliedTo(scope, placement, options, terminal))
      return await statusOf({ scope, placement, applied, options, terminal })
    })
  })
}

interface Applied {
  /** The newest resourceVersion of all that was applied. */
  readonly version: number
  /** The same without the placement, of which its own status makes newer versions. */
  readonly ofObjects: number
  /** The generation of the placement's spec; 0 where the placement was not applied. */
  readonly generation: number
}

interface Followed {
  readonly scope: Scope
  readonly placement: string
  /** Versions that the revision has to hold. */
  readonly applied: Applied | undefined
  readonly options: RolloutStatusOptions
  readonly terminal: Terminal
}

async function statusOf(followed: Followed): Promise<number> {
  const { scope, placement, options, terminal } = followed
  const format = options.output
  if (!options.watch) {
    const answer = await answerOf(followed)
    if (answer.rollouts.length === 0) return await noRollout(scope.space, placement)
    await print(answer, format, terminal)
    return await exitOf(followed, answer)
  }
  const stop = new AbortController()
  const cancel =
    options.timeout === undefined ? () => {} : systemClock.after(options.timeout * 1000, () => stop.abort())
  let code = UNFINISHED
  try {
    await followAnswers({
      clock: systemClock,
      random: Math.random,
      space: scope.space,
      watched: [PLACEMENT_ROLLOUTS, PLACEMENT_REVISIONS, EDGE_PLACEMENTS].map(resource => ({ resource })),
      answer: async () => {
        const answer = await answerOf(followed)
        return { answer, code: await exitOf(followed, answer) }
      },
      print: async ({ answer, code: now }) => {
        code = now
        await print(answer, format, terminal)
        if (code !== UNFINISHED) stop.abort()
      },
      warn: terminal.err,
      signal: stop.signal,
    })
  } finally {
    cancel()
  }
  if (code === UNFINISHED && options.timeout !== undefined)
    terminal.err(`Error: after ${options.timeout} s the rollout has not come to its end`)
  return code
}

async function answerOf({ scope, placement, options: { revision } }: Followed): Promise<RolloutsAnswer> {
  const all = await rolloutsOf(scope.space, placement)
  const found = revision === undefined ? all[0] : all.find(one => revisionOf(one) === revision)
  if (found) return rolloutsAnswer([found])
  if (all.length > 0) {
    const known = all.map(revisionOf).join(', ')
    throw new CommandError(`there is no rollout of revision ${revision}; there are those of ${known}`, TROUBLE)
  }
  // whoever follows the first one may be early
  await scope.space.get(EDGE_PLACEMENTS, { name: placement })
  return rolloutsAnswer([])
}

/** A rollout of an earlier revision than what was applied says nothing of that. So it is with one whose successor is about to begin. */
async function exitOf({ scope, placement, applied, options }: Followed, answer: RolloutsAnswer): Promise<number> {
  const [rollout] = answer.rollouts
  if (!rollout) return UNFINISHED
  const isNewest = options.revision === undefined
  if (isNewest && rollout.reason === NEWER_REVISION) return UNFINISHED
  const stored = await scope.space.get(EDGE_PLACEMENTS, { name: placement })
  const code = (isNewest ? endOf(stored, rollout) : undefined) ?? rolloutExit(answer)
  if (!applied || code === UNFINISHED) return code
  const revisions = await revisionsOf(scope.space, placement)
  const own = revisions.find(one => revisionOf(one) === rollout.revision)
  const isIn = own !== undefined && Number(str(own, 'spec', 'resourceVersion')) >= applied.version
  return isIn || (isTakenIn(stored, applied) && concerns(stored, rollout, code)) ? code : UNFINISHED
}

/** The end of a placement's newest rollout where its own state does not give that. */
function endOf(placement: KubeObject, { reason }: RolloutAnswer): number | undefined {
  // the way back is done, and the edit is not
  if (conditionOf(placement, ROLLED_OUT)?.reason === ROLLED_BACK) return CHANGE
  return reason === NOT_STAGED ? NO_CHANGE : undefined
}

/** Whether the placement has taken in what was applied: an edit that changes no content makes no revision. */
function isTakenIn({ status }: KubeObject, { ofObjects, generation }: Applied): boolean {
  return Number(str(status, 'observedResourceVersion')) >= ofObjects && num(status, 'observedGeneration') >= generation
}

/** Whether an end is that of all edits which the placement has taken in. */
function concerns(placement: KubeObject, { reason }: RolloutAnswer, code: number): boolean {
  const condition = conditionOf(placement, ROLLED_OUT)
  if (code === NO_CHANGE) return condition?.status === 'True'
  return condition?.reason === ROLLED_BACK || condition?.reason === reason
}

/** Reason of a superseded rollout. */
const NEWER_REVISION = 'NewerRevision'

/** About those objects of the files that the placement selects. */
async function appliedTo(
  scope: Scope,
  placement: string,
  options: RolloutStatusOptions,
  terminal: Terminal,
): Promise<Applied> {
  const objects = await stored(scope, options, terminal)
  const [resources, shared] = await Promise.all([scope.space.discover(), sharedFacts(scope)])
  if (shared.placements.unknown !== undefined) throw new CommandError(shared.placements.unknown, TROUBLE)
  const versions: number[] = []
  let own: KubeObject | undefined
  for (const object of objects) {
    if (isPlacement(object)) {
      if (object.metadata.name === placement) own = object
      continue
    }
    const resource = resourceOf(object, resources, scope.path)
    const { placements } = why(await gather(scope, { resource, object, resources, cluster: undefined }, shared))
    if (placements.some(({ name, selects }) => name === placement && selects)) versions.push(versionOf(object))
  }
  const ofObjects = Math.max(0, ...versions)
  if (own) {
    const version = Math.max(ofObjects, versionOf(own))
    return { version, ofObjects, generation: own.metadata.generation ?? 0 }
  }
  if (versions.length > 0) return { version: ofObjects, ofObjects, generation: 0 }
  throw new CommandError(`EdgePlacement "${placement}" selects no object of the files`, TROUBLE)
}

function isPlacement({ kind, apiVersion = '' }: KubeObject): boolean {
  return kind === 'EdgePlacement' && apiVersion.startsWith(`${EDGE_PLACEMENTS.group}/`)
}

function versionOf(object: KubeObject): number {
  return num({ version: Number(object.metadata.resourceVersion) }, 'version')
}

async function print(answer: RolloutsAnswer, format: Format | undefined, terminal: Terminal): Promise<void> {
  const [only, ...more] = answer.rollouts
  const names = () => answer.rollouts.map(({ placement, revision }) => `${placement}.${revision}`)
  const text = (options: TextOptions) =>
    only && more.length === 0 ? rolloutText(only, options) : rolloutsText(answer, options)
  await printAnswer({ document: answer, names, text }, format, terminal)
}
