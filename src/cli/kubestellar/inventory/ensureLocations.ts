/** `ensure location -f`: what {@link ensureBoth} makes, for each row of a file, several at a time. */
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { CommandError, NOT_MADE } from '../../shell/commandError.ts'
import type { Terminal } from '../../shell/terminal.ts'
import { ensureBoth, removeDefault } from './inventory.ts'
import type { InventoryRow } from './inventoryFile.ts'

const AT_ONCE = 8
/** After so many no further row is tried: the cause is rarely in the rows. */
const FAILURES_LIMIT = 10

/**
 * The last line sums up. A row that fails is named with its reason, and does not keep the others.
 * @returns the objects of all rows, in their order
 * @throws CommandError, whose message is the sum, when a row failed
 */
export async function ensureLocations(
  space: SpaceClient,
  rows: readonly InventoryRow[],
  terminal: Terminal,
): Promise<KubeObject[]> {
  const made: (KubeObject[] | undefined)[] = []
  const failed: { row: number; exitCode: number }[] = []
  const sums = { created: 0, changed: 0, unchanged: 0 }
  let next = 0
  const work = async (): Promise<void> => {
    while (next < rows.length && failed.length < FAILURES_LIMIT) {
      const at = next++
      const entry = rows[at]!
      const lines: string[] = []
      // what a row says stays together, although several are made at once
      const collecting = { ...terminal, out: (line: string) => void lines.push(line) }
      try {
        made[at] = await ensureBoth(space, entry, collecting)
        const isNew = lines.some(line => line.endsWith(' created'))
        sums[isNew ? 'created' : lines.length > 0 ? 'changed' : 'unchanged'] += 1
      } catch (error) {
        failed.push({ row: entry.row, exitCode: error instanceof CommandError ? error.exitCode : NOT_MADE })
        terminal.err(`row ${entry.row}: ${entry.name}: ${messageOf(error)}`)
      }
      for (const line of lines) terminal.out(line)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const sum = `${rows.length} ${rows.length === 1 ? 'location' : 'locations'}: ${sums.created} created, ${sums.changed} changed, ${sums.unchanged} unchanged`
  if (failed.length > 0) {
    const untried = rows.length - failed.length - sums.created - sums.changed - sums.unchanged
    const left = untried > 0 ? `, ${untried} not tried` : ''
    throw new CommandError(
      `${sum}, ${failed.length} failed${left}; the same command again goes on with what is missing`,
      failed[0]!.exitCode,
    )
  }
  await removeDefault(space, terminal)
  terminal.out(sum)
  return made.flatMap(objects => objects ?? [])
}
