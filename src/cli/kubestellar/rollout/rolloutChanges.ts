/**
 * Commands that steer rollouts. They write the few fields of revisions and rollouts that the server leaves to people. The user's
 * objects, which a pipeline applies again, stay as they are.
 */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { at, num, objects, records, str } from '../../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS } from '../../../placement/words/placement.ts'
import { singular } from '../../shell/changes.ts'
import { CommandError } from '../../shell/commandError.ts'
import { type ConfirmOptions, confirm } from '../../shell/confirm.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { withSpace } from '../answers/answerSession.ts'
import { checkObjectName } from '../arguments.ts'
import type { CommonOptions } from '../sessions.ts'
import { noRevision } from './revisions.ts'
import { newestRollout, noRollout, revisionOf, revisionsOf, rolloutsOf } from './rollouts.ts'

export interface ChangeOptions extends CommonOptions, ConfirmOptions {
  group?: string
  revision?: number
}

type Change = (options: ChangeOptions, terminal: Terminal, placement: string) => Promise<KubeObject | KubeObject[]>

const MANAGER = 'kubectl-kubestellar'
/** Times that a write is repeated because the server wrote meanwhile. */
const ATTEMPTS = 10

/** States in which nothing begins any more, whatever people say. */
const ENDED: readonly string[] = ['Done', 'RolledBack', 'Superseded']

export const pause: Change = (options, terminal, placement) => setPaused(options, terminal, placement, true)
export const resume: Change = (options, terminal, placement) => setPaused(options, terminal, placement, false)

export const approve: Change = async (options, terminal, placement) =>
  await inPlacement(options, placement, terminal, async space => {
    const rollout = await newestRollout(space, placement)
    const group = options.group ?? waitingGroup(rollout)
    const approved = objects(rollout.spec, 'approvals')
    if (approved.some(one => str(one, 'group') === group)) {
      const { by, at } = approved.find(one => str(one, 'group') === group)!
      return reported(terminal, PLACEMENT_ROLLOUTS, rollout, `already approved for group ${group} by ${by} at ${at}`)
    }
    const written = await patch(space, PLACEMENT_ROLLOUTS, rollout, one => ({
      approvals: [...objects(one.spec, 'approvals'), { group }],
    }))
    return reported(terminal, PLACEMENT_ROLLOUTS, written, `approved for group ${group}`)
  })

export const expedite: Change = async (options, terminal, placement) =>
  await inPlacement(options, placement, terminal, async space => {
    const rollout = await newestRollout(space, placement)
    if (at(rollout.spec, 'urgent') === true) return reported(terminal, PLACEMENT_ROLLOUTS, rollout, 'already expedited')
    checkRuns(rollout)
    const left = num(rollout.status, 'total') - num(rollout.status, 'done')
    const what = `This gives revision ${revisionOf(rollout)} to ${left} more clusters at once, past all stages.`
    await confirm(what, options, terminal)
    const written = await patch(space, PLACEMENT_ROLLOUTS, rollout, one => {
      checkRuns(one)
      return { urgent: true }
    })
    return reported(terminal, PLACEMENT_ROLLOUTS, written, 'expedited')
  })

export const undo: Change = async (options, terminal, placement) =>
  await inPlacement(options, placement, terminal, async space => {
    const rollouts = await rolloutsOf(space, placement)
    const [newest] = rollouts
    if (!newest) return await noRollout(space, placement)
    const revision = options.revision ?? lastFinished(rollouts, newest)
    const what = `This brings the clusters of EdgePlacement "${placement}" from revision ${revisionOf(newest)} to revision ${revision} and holds them there.`
    return await pinAt(space, placement, revision, terminal, () => confirm(what, options, terminal))
  })

export const pin: Change = async (options, terminal, placement) =>
  await inPlacement(options, placement, terminal, async space => {
    const revision = options.revision ?? revisionOf(await newestRollout(space, placement))
    return await pinAt(space, placement, revision, terminal)
  })

export const unpin: Change = async (options, terminal, placement) =>
  await inPlacement(options, placement, terminal, async space => {
    const revisions = await revisionsOf(space, placement)
    const pinned = revisions.filter(isPinned)
    if (revisions.length === 0) return await noRollout(space, placement)
    if (pinned.length === 0) terminal.out(`EdgePlacement "${placement}" is pinned at no revision`)
    return await unpinAll(space, pinned, terminal)
  })

async function inPlacement<R>(
  options: ChangeOptions,
  placement: string,
  terminal: Terminal,
  use: (space: SpaceClient) => Promise<R>,
): Promise<R> {
  checkObjectName(placement)
  return await withSpace(options, terminal, async ({ space }) => await use(space))
}

async function setPaused(options: ChangeOptions, terminal: Terminal, placement: string, paused: boolean) {
  return await inPlacement(options, placement, terminal, async space => {
    const rollout = await newestRollout(space, placement)
    const word = paused ? 'paused' : 'resumed'
    if ((at(rollout.spec, 'paused') === true) === paused)
      return reported(terminal, PLACEMENT_ROLLOUTS, rollout, paused ? 'already paused' : 'is not paused')
    const written = await patch(space, PLACEMENT_ROLLOUTS, rollout, one => {
      // one that a newer rollout superseded meanwhile holds nothing
      if (paused) checkRuns(one)
      return { paused: paused || null }
    })
    return reported(terminal, PLACEMENT_ROLLOUTS, written, word)
  })
}

/** @throws CommandError */
function checkRuns(rollout: KubeObject): void {
  const state = str(rollout.status, 'state')
  if (!ENDED.includes(state)) return
  throw new CommandError(`the rollout of revision ${revisionOf(rollout)} has come to its end: it is ${state}`)
}

/** @throws CommandError unless it is clear which is meant */
function waitingGroup(rollout: KubeObject): string {
  const clusters = records(rollout.status, 'clusters').filter(one => str(one, 'reason') === 'ApprovalRequired')
  const approved = new Set(objects(rollout.spec, 'approvals').map(one => str(one, 'group')))
  const gated = objects(rollout.spec, 'strategy', 'decisionGroups').filter(one => at(one, 'approval') === true)
  const open = gated.map(one => str(one, 'groupName')).filter(name => !approved.has(name))
  const [only, ...more] = open.filter(name => clusters.some(one => str(one, 'group') === name))
  if (only !== undefined && more.length === 0) return only
  const known = open.length === 0 ? 'none of its groups takes one' : `name one with --group: ${open.join(', ')}`
  throw new CommandError(`no group of the rollout of revision ${revisionOf(rollout)} waits for an approval; ${known}`)
}

/** @throws CommandError where there is none */
function lastFinished(rollouts: readonly KubeObject[], newest: KubeObject): number {
  const finished = rollouts
    .filter(one => str(one.status, 'state') === 'Done' && revisionOf(one) < revisionOf(newest))
    .map(revisionOf)
  if (finished.length > 0) return Math.max(...finished)
  const from = num(newest.spec, 'from')
  if (from > 0) return from
  throw new CommandError(
    `no revision before ${revisionOf(newest)} was finished; name one of \`rollout history\` with --revision`,
  )
}

/** Holds clusters at one revision, and no more at others. */
async function pinAt(
  space: SpaceClient,
  placement: string,
  revision: number,
  terminal: Terminal,
  before: () => Promise<void> = async () => {},
): Promise<KubeObject[]> {
  const revisions = await revisionsOf(space, placement)
  const wanted = revisions.find(one => revisionOf(one) === revision)
  if (!wanted) {
    if (revisions.length === 0) return await noRollout(space, placement)
    throw noRevision(placement, revision, revisions)
  }
  const others = revisions.filter(one => one !== wanted && isPinned(one))
  if (isPinned(wanted) && others.length === 0)
    return [reported(terminal, PLACEMENT_REVISIONS, wanted, 'already pinned')]
  await before()
  // the new pin first: at no time do clusters go on to what is newest
  const written = isPinned(wanted) ? wanted : await patch(space, PLACEMENT_REVISIONS, wanted, () => ({ pinned: true }))
  return [reported(terminal, PLACEMENT_REVISIONS, written, 'pinned'), ...(await unpinAll(space, others, terminal))]
}

async function unpinAll(space: SpaceClient, pinned: readonly KubeObject[], terminal: Terminal): Promise<KubeObject[]> {
  const written: KubeObject[] = []
  for (const one of pinned) {
    const changed = await patch(space, PLACEMENT_REVISIONS, one, () => ({ pinned: null }))
    written.push(reported(terminal, PLACEMENT_REVISIONS, changed, 'unpinned'))
  }
  return written
}

function isPinned(revision: KubeObject): boolean {
  return at(revision.spec, 'pinned') === true
}

function reported(terminal: Terminal, resource: GroupVersionResource, object: KubeObject, what: string): KubeObject {
  terminal.out(`${singular(resource)}/${object.metadata.name} ${what}`)
  return object
}

/** Lists are replaced whole, so what is written rests on what was read. */
async function patch(
  space: SpaceClient,
  resource: GroupVersionResource,
  { metadata: { name = '' } }: KubeObject,
  specOf: (object: KubeObject) => object,
): Promise<KubeObject> {
  for (let attempt = 1; ; attempt++) {
    const object = await space.get(resource, { name })
    const { resourceVersion } = object.metadata
    const body = { metadata: { resourceVersion }, spec: specOf(object) }
    try {
      return await space.patch(resource, { name }, 'merge', body, { fieldManager: MANAGER })
    } catch (error) {
      if (!isStatusError(error, 'Conflict') || attempt === ATTEMPTS) throw error
    }
  }
}
