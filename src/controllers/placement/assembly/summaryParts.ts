/** Parts of the room summaries. */
import { Summaries } from '../summaries/summaries.ts'
import { isPlacingKnown, workStatuses } from './answers.ts'
import type { Parts, Setup, SummaryParts } from './parts.ts'

/** Made last. */
export function summaryParts(setup: Setup, parts: Parts): SummaryParts {
  const { client, turns } = setup
  const { join, sources, kinds, mailboxes, outcomes, locations, collectors } = parts
  const summaries = new Summaries({
    client,
    join,
    sources,
    kinds,
    mailbox: name => mailboxes.get(name),
    isStale: name => {
      const mailbox = mailboxes.get(name)
      const outcome = mailbox && outcomes.of(mailbox.space)
      return !outcome?.live || outcome.unreachable === true
    },
    locations,
    collectors,
    statuses: workStatuses(setup, parts, { isNamespaced: true }),
    turns,
    isKnown: space => isPlacingKnown(space, parts),
  })
  return { summaries }
}
