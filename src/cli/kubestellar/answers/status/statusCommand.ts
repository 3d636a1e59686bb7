/** `kubectl kubestellar status`: asks a workload space for its placements and locations, and inventories where that is allowed. */
import { isStatusError } from '../../../../apimachinery/errors.ts'
import { str } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import type { SpaceClient } from '../../../../client/client.ts'
import { systemClock } from '../../../../client/clock.ts'
import {
  CLUSTER_WORK_STATUSES,
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  SLICES,
  SYNC_TARGETS,
  WORK_STATUSES,
} from '../../../../placement/words/placement.ts'
import { CommandError } from '../../../shell/commandError.ts'
import { type Format, printDocument } from '../../../shell/output.ts'
import { currentPath } from '../../../shell/session/session.ts'
import { ROOT_SPACE } from '../../../shell/session/spacePath.ts'
import { enterable } from '../../../shell/session/spaces.ts'
import type { Terminal } from '../../../shell/terminal.ts'
import { inSession } from '../../sessions.ts'
import { type AnswerOptions, checkPlaces, withSpace } from '../answerSession.ts'
import { beyondNamed, mayName, PROGRESSING, STALE } from '../brokenPlaces.ts'
import { CHANGE, comparing, NO_CHANGE, TROUBLE } from '../exitCodes.ts'
import { followAnswers, type Watched } from '../followAnswers.ts'
import { type Known, known } from '../known.ts'
import { namingOwners } from '../namingOwners.ts'
import { textOptions } from '../why/whyText.ts'
import { yours } from '../wrongSpace.ts'
import { inventoryOf, statusOfSpaces } from './allSpaces.ts'
import { fleetStatus, type StatusAnswer } from './status.ts'
import { statusText } from './statusText.ts'

interface StatusOptions extends AnswerOptions {
  output?: Format
  watch?: boolean
  exitCode?: boolean
  allSpaces?: boolean
}

/** Resolves to the exit code. */
export async function statusCommand(options: StatusOptions, terminal: Terminal): Promise<number> {
  const print = options.allSpaces ? printAllSpaces : printSpace
  if (options.allSpaces && options.watch)
    throw new CommandError('--watch follows one space: leave out --all-spaces', options.exitCode ? TROUBLE : 1)
  if (!options.exitCode) return await print(options, terminal)
  if (options.watch) throw new CommandError('--exit-code says nothing with --watch, which does not end', TROUBLE)
  return await comparing(() => print(options, terminal))
}

/** From the root, and from the current space, which somebody may see who does not see that; with `--space` from there alone. */
async function printAllSpaces(options: StatusOptions, terminal: Terminal): Promise<number> {
  return await inSession(options, terminal, async session => {
    const path = await currentPath(session)
    // zeros would stand for a space that is not there
    if (options.space !== undefined) await enterable(session.client, path)
    const from = options.space === undefined ? [ROOT_SPACE, path] : [path]
    const status = await namingOwners(await statusOfSpaces(session.client, from), session.client)
    await printStatus(status, options.output ?? 'text', terminal)
    return options.exitCode ? statusExit(status) : NO_CHANGE
  })
}

async function printSpace(options: StatusOptions, terminal: Terminal): Promise<number> {
  return await withSpace(options, terminal, async scope => {
    if (options.namespace !== undefined)
      terminal.err('Note: placements have no namespace: the answer is about the whole space, whatever -n says.')
    await checkPlaces(scope, terminal)
    const { space, session } = scope
    const bindings = await known(space, INVENTORY_BINDINGS)
    const paths = [...new Set(bindings.items.map(binding => str(binding, 'spec', 'path')).filter(path => path !== ''))]
    const answer = async (): Promise<StatusAnswer> => {
      const [placements, granted, slices, inventories] = await Promise.all([
        known(space, EDGE_PLACEMENTS),
        known(space, GRANTED_LOCATIONS),
        known(space, SLICES),
        Promise.all(paths.map(inventory => inventoryOf(session.client, inventory))),
      ])
      // of a space that is closed, or not there, an answer in numbers would be one
      if (placements.refusal !== undefined && granted.refusal !== undefined)
        throw new CommandError(`${placements.refusal}${await yours(session.client)}`)
      // placements name some of what is broken
      const beyond = await statusesOf(space, beyondNamed(placements.items))
      const stale = await statusesOf(space, mayName('stale', placements.items) ? [STALE] : [])
      const progressing = await statusesOf(space, mayName('progressing', placements.items) ? [PROGRESSING] : [])
      const status = fleetStatus({
        placements,
        granted,
        bindings,
        slices,
        inventories,
        ...(beyond && { beyond }),
        ...(stale && { stale }),
        ...(progressing && { progressing }),
      })
      return await namingOwners(status, session.client)
    }
    const print = (status: StatusAnswer) => printStatus(status, options.output ?? 'text', terminal)
    if (options.watch !== true) {
      const status = await answer()
      await print(status)
      return options.exitCode ? statusExit(status) : NO_CHANGE
    }
    const watched: Watched[] = [{ resource: EDGE_PLACEMENTS }, { resource: GRANTED_LOCATIONS }]
    for (const path of paths) watched.push({ resource: SYNC_TARGETS, of: session.client.in(path) })
    await followAnswers({ clock: systemClock, random: Math.random, space, watched, answer, print, warn: terminal.err })
    return NO_CHANGE
  })
}

/** Unknown is not well. */
function statusExit({ placements, clusters, unknown }: StatusAnswer): number {
  return placements.troubled + clusters.troubled + unknown.length > 0 ? CHANGE : NO_CHANGE
}

/** Bound on one list. */
const MOST_BYTES = 16 * 1024 * 1024

/** WorkStatuses of each field selector; `undefined` where there is none to ask for. */
async function statusesOf(space: SpaceClient, selectors: readonly string[]): Promise<Known | undefined> {
  if (selectors.length === 0) return undefined
  const items: KubeObject[] = []
  try {
    for (const fieldSelector of selectors) {
      for (const resource of [WORK_STATUSES, CLUSTER_WORK_STATUSES]) {
        const found = await known(space, resource, { fieldSelector, mostBytes: MOST_BYTES })
        if (found.unknown !== undefined) return found
        items.push(...found.items)
      }
    }
  } catch (error) {
    if (!isStatusError(error, 'RequestEntityTooLarge')) throw error
    return { items: [], unknown: 'it is too much to be read' }
  }
  return { items }
}

async function printStatus(answer: StatusAnswer, format: Format, terminal: Terminal): Promise<void> {
  if (format === 'json' || format === 'yaml') return await printDocument(answer, format, terminal)
  if (format === 'name') {
    const troubled = <T extends { trouble: string }>(items: readonly T[]) =>
      items.filter(({ trouble }) => trouble !== 'none')
    const within = (space: string | undefined) => (space === undefined ? '' : `${space}/`)
    for (const { space, name } of troubled(answer.placements.items))
      terminal.out(`${within(space)}edgeplacement/${name}`)
    for (const { inventory, location } of troubled(answer.clusters.items))
      terminal.out(inventory === undefined ? `grantedlocation/${location}` : `${inventory}/location/${location}`)
    return
  }
  for (const line of statusText(answer, textOptions(format, terminal))) terminal.out(line)
}
