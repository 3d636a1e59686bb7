/** `kubectl kubestellar status`: asks a workload space for its placements and locations, and inventories where that is allowed. */
import { str } from '../../../../apimachinery/fields.ts'
import { systemClock } from '../../../../client/clock.ts'
import {
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  SLICES,
  SYNC_TARGETS,
} from '../../../../placement/words/placement.ts'
import { CommandError } from '../../../shell/commandError.ts'
import { type Format, printAnswer } from '../../../shell/output.ts'
import { currentPath } from '../../../shell/session/session.ts'
import { ROOT_SPACE } from '../../../shell/session/spacePath.ts'
import { enterable } from '../../../shell/session/spaces.ts'
import type { Terminal } from '../../../shell/terminal.ts'
import { inSession } from '../../sessions.ts'
import { type AnswerOptions, checkPlaces, withSpace } from '../answerSession.ts'
import { beyondNamed, mayName, PROGRESSING, STALE } from '../brokenPlaces.ts'
import { CHANGE, comparing, NO_CHANGE, TROUBLE } from '../exitCodes.ts'
import { followAnswers, type Watched } from '../followAnswers.ts'
import { known, knownStatuses } from '../known.ts'
import { namingOwners } from '../namingOwners.ts'
import { yours } from '../wrongSpace.ts'
import { inventoryOf, statusOfSpaces } from './allSpaces.ts'
import type { Trouble } from './clusterStatus.ts'
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
    await printStatus(status, options.output, terminal)
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
      const named = beyondNamed(placements.items)
      const status = fleetStatus({
        placements,
        granted,
        bindings,
        slices,
        inventories,
        ...(named.length > 0 && { beyond: await knownStatuses(space, named) }),
        ...(mayName('stale', placements.items) && { stale: await knownStatuses(space, [STALE]) }),
        ...(mayName('progressing', placements.items) && { progressing: await knownStatuses(space, [PROGRESSING]) }),
      })
      return await namingOwners(status, session.client)
    }
    const print = (status: StatusAnswer) => printStatus(status, options.output, terminal)
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

async function printStatus(answer: StatusAnswer, format: Format | undefined, terminal: Terminal): Promise<void> {
  const forms = { document: answer, names: () => troubledNames(answer) }
  await printAnswer({ ...forms, text: options => statusText(answer, options) }, format, terminal)
}

function* troubledNames({ placements, clusters }: StatusAnswer): Generator<string> {
  const isTroubled = ({ trouble }: { trouble: Trouble }): boolean => trouble !== 'none'
  for (const { space, name } of placements.items.filter(isTroubled))
    yield `${space === undefined ? '' : `${space}/`}edgeplacement/${name}`
  for (const { inventory, location } of clusters.items.filter(isTroubled))
    yield inventory === undefined ? `grantedlocation/${location}` : `${inventory}/location/${location}`
}
