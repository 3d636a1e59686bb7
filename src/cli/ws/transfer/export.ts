/** `kubectl ws export`: the objects of a space, for another one, on this server or elsewhere. Changes nothing. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { groupResourceName, type KubeObject } from '../../../apimachinery/object.ts'
import { isServersKey } from '../../../apimachinery/resources.ts'
import type { DiscoveredResource, SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { definedBy } from '../../../placement/select/eligibility.ts'
import { isInMailbox } from '../../../placement/words/placement.ts'
import { programVersion } from '../../../program/programVersion.ts'
import { CommandError } from '../../shell/commandError.ts'
import { pathOf, type SessionOptions, withSession } from '../../shell/session/session.ts'
import { enterable } from '../../shell/session/spaces.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { writeWhole } from '../../shell/wholeFile.ts'
import { comparePlaces, exported, goesAlong, placeOf, stays } from './exported.ts'
import { type ExportFormat, exportText } from './exportFile.ts'

export interface ExportOptions extends SessionOptions {
  selector?: string
  output?: ExportFormat
  file?: string
  withSecrets?: boolean
}

const PAGE = 500
const SECRETS = 'secrets'
/** On each Namespace, by its server. */
const NAME_LABEL = 'kubernetes.io/metadata.name'

interface Found {
  readonly kind: DiscoveredResource
  readonly object: KubeObject
}

/** @throws CommandError where a kind may not be read: an export lacks nothing without a word */
export async function exportSpace(options: ExportOptions, terminal: Terminal, argument = '.'): Promise<void> {
  const { selector, output = 'yaml', file, withSecrets = false } = options
  if (output === 'archive' && file === undefined)
    throw new CommandError('an archive goes into a file: name it by --file')
  await withSession({ ...options, warn: terminal.err }, async session => {
    const path = await pathOf(session, argument)
    if (isInMailbox(path)) throw new CommandError(`${path} is a mailbox: the center makes its content of placements`)
    const type = await enterable(session.client, path)
    const space = session.client.in(path)
    const kinds = (await space.discover()).filter(goesAlong)
    const found: Found[] = []
    const labelled: string[] = []
    let secrets = 0
    for (const kind of kinds)
      for (const object of await allOf(space, kind, selector))
        if (stays(kind, object)) {
          if (isLabelledNamespace(kind, object)) labelled.push(object.metadata.name ?? '')
        } else if (groupResourceName(kind) === SECRETS && !withSecrets) secrets++
        else found.push({ kind, object })
    if (selector !== undefined) found.push(...(await neededBy(space, kinds, found)))
    const objects = found
      .map(({ kind, object }) => ({
        place: placeOf(kind, object),
        name: nameOf(kind, object),
        object: exported(object),
      }))
      .sort((a, b) => comparePlaces(a.place, b.place) || (a.name < b.name ? -1 : 1))
      .map(({ object }) => object)
    const head = {
      path,
      type,
      takenAt: new Date().toISOString(),
      program: `orrery ${programVersion().version}`,
      ...(selector !== undefined && { selector }),
      secrets: secrets === 0,
    }
    const bytes = exportText({ head, objects }, output)
    if (file === undefined) terminal.out(bytes.toString().trimEnd())
    else {
      await writeWhole(file, async write => await write(bytes))
      terminal.out(`wrote ${file}: ${objects.length} objects of ${path}`)
    }
    if (secrets > 0)
      terminal.err(`Note: ${secrets} Secrets are not in it: --with-secrets takes them along, as they are.`)
    if (labelled.length > 0)
      terminal.err(
        `Note: labels of Namespaces that each space has are not in it: ${labelled.join(', ')}. Placements may select by them.`,
      )
  })
}

async function allOf(space: SpaceClient, kind: DiscoveredResource, labelSelector?: string): Promise<KubeObject[]> {
  try {
    return (await listAll(space, kind, { limit: PAGE, ...(labelSelector !== undefined && { labelSelector }) })).items
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error
    throw new CommandError(`${error.message}; an export needs the right to list all kinds`, 1, { cause: error })
  }
}

/** Placements may select by its labels, and the other space has none of them. */
function isLabelledNamespace(kind: DiscoveredResource, { metadata }: KubeObject): boolean {
  if (groupResourceName(kind) !== 'namespaces' || metadata.deletionTimestamp !== undefined) return false
  return Object.keys(metadata.labels ?? {}).some(key => key !== NAME_LABEL && !isServersKey(key))
}

function nameOf(kind: DiscoveredResource, { metadata }: KubeObject): string {
  return `${groupResourceName(kind)}/${metadata.namespace ?? ''}/${metadata.name}`
}

/** Namespaces and definitions that the chosen objects need, and that the selector has not chosen. */
async function neededBy(
  space: SpaceClient,
  kinds: readonly DiscoveredResource[],
  chosen: readonly Found[],
): Promise<Found[]> {
  const named = new Set(chosen.map(({ kind, object }) => nameOf(kind, object)))
  const namespaces = new Set(chosen.map(({ object }) => object.metadata.namespace))
  const used = new Set(chosen.map(({ kind }) => groupResourceName(kind)))
  const needed: Found[] = []
  for (const kind of kinds.filter(one => /^(namespaces|customresourcedefinitions\..*)$/.test(groupResourceName(one))))
    for (const object of await allOf(space, kind)) {
      const { name } = object.metadata
      const isNeeded =
        namespaces.has(name) || definedBy(kind, object).some(defined => used.has(groupResourceName(defined)))
      if (isNeeded && !stays(kind, object) && !named.has(nameOf(kind, object))) needed.push({ kind, object })
    }
  return needed
}
