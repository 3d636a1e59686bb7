/**
 * `--ensure-imw` and `--ensure-wmw`: inventory and workload spaces that a start makes where they are missing, with what is missing above
 * them. A new workload space uses the named inventories, or the first one, and may place anything there. An existing space is left as it
 * is.
 */

import { WORKSPACES } from '../../../apimachinery/resources.ts'
import type { Client } from '../../../client/client.ts'
import type { Logger } from '../../../client/logger.ts'
import { EVERYTHING } from '../../../placement/consent/consentObjects.ts'
import { ROOT_SPACE, splitPath } from '../../shell/session/spacePath.ts'

interface EnsuredSpaces {
  readonly inventories: readonly string[]
  readonly workloads: readonly string[]
}

const FIRST_INVENTORY = `${ROOT_SPACE}:imw1`
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

/** @throws Error naming flag and value when one is no path below the root */
export function ensuredSpaces(settings: Readonly<Record<string, unknown>>): EnsuredSpaces {
  const paths = (flag: string, value: unknown): string[] => [
    ...new Set(((value as string[] | undefined) ?? []).map(text => pathOf(flag, text)).filter(path => path !== '')),
  ]
  return {
    inventories: paths('--ensure-imw', settings.ensureImw),
    workloads: paths('--ensure-wmw', settings.ensureWmw),
  }
}

/** A path without the root is below it, as KubeStellar's chart has it. */
function pathOf(flag: string, text: string): string {
  const names = text
    .trim()
    .split(':')
    .filter((name, i) => i > 0 || name !== '')
  if (names[0] === ROOT_SPACE) names.shift()
  if (text.trim() === '') return ''
  if (names.length === 0 || names.some(name => !NAME.test(name)))
    throw new Error(
      `${flag}: ${JSON.stringify(text)} is no path of a space below the root, such as root:${NAMES[flag]}`,
    )
  return [ROOT_SPACE, ...names].join(':')
}

const NAMES: Readonly<Record<string, string>> = { '--ensure-imw': 'imw1', '--ensure-wmw': 'wmw1' }

/** A failure is logged and skipped: it stops no server. */
export async function ensureSpaces(
  client: Client,
  { inventories, workloads }: EnsuredSpaces,
  log: Pick<Logger, 'info' | 'warn' | 'error'>,
): Promise<void> {
  if (inventories.length + workloads.length === 0) return
  const { ensureSpace, typeOf } = await import('../../shell/session/spaces.ts')
  const { ensureBinding, ensureGrant } = await import('../../kubestellar/grants/grants.ts')
  const ensure = async (path: string, type: string, made: () => Promise<void>): Promise<void> => {
    const lines: string[] = []
    try {
      const progress = (line: string): void => log.info({ path }, line)
      await ensureSpace(client, path, { created: line => lines.push(line), progress }, `${ROOT_SPACE}:${type}`)
      for (const line of lines) log.info({ path }, line)
      const { parent = ROOT_SPACE, name } = splitPath(path)
      const is = typeOf(await client.in(parent).get(WORKSPACES, { name }))
      if (is !== `${ROOT_SPACE}:${type}`)
        log.warn(
          { path, type: is },
          `a space that shall be there for ${type} is there, and of another type; it stays so`,
        )
      else if (lines.length > 0) await made()
    } catch (error) {
      const remedy = 'mend what the cause names, or leave it out'
      log.error({ path, type, err: error }, `a space that shall be there could not be made: ${remedy}`)
    }
  }
  for (const path of inventories) await ensure(path, 'inventory', async () => {})
  for (const path of workloads)
    await ensure(path, 'workload', async () => {
      for (const inventory of inventories.length > 0 ? inventories : [FIRST_INVENTORY]) {
        await ensureBinding(client.in(path), inventory)
        await ensureGrant(client.in(inventory), { path }, EVERYTHING)
      }
    })
}
