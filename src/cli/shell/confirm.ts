/** A destructive command needs a confirmation where a person can answer; a script, which cannot, has been explicit. */
import { CommandError } from './commandError.ts'
import { flag } from './settings.ts'
import type { Terminal } from './terminal.ts'

export interface ConfirmOptions {
  /** `--yes` */
  yes?: boolean
}

export const CONFIRM = flag('-y, --yes', 'do not ask; without a terminal there is no question')

/** @param what "This deletes …", a sentence @throws CommandError unless it is confirmed: nothing was done yet */
export async function confirm(what: string, { yes }: ConfirmOptions, terminal: Terminal): Promise<void> {
  if (yes === true || terminal.ask === undefined) return
  const answer = await terminal.ask(`${what} Go on? [y/N] `)
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new CommandError('nothing was changed')
}
