/** Parts of the rooms copies and feedback, and the router of tasks. */
import { standsInMailbox } from '../../placedSource.ts'
import { Convergence } from '../convergence.ts'
import { CopiesTogether } from '../copies/copiesTogether.ts'
import { CopyChecks } from '../copies/copyChecks.ts'
import type { CopyDeps } from '../copies/copyDeps.ts'
import { CopyMaking } from '../copies/copyMaking.ts'
import { CopyNotes } from '../copies/copyNotes.ts'
import { CopyReconciler } from '../copies/copyReconciler.ts'
import { CopyRemovals } from '../copies/copyRemovals.ts'
import { CopyWriter } from '../copies/copyWriter.ts'
import { type DecisionFacts, isNeededThere } from '../copies/decide.ts'
import { SharedCopies } from '../copies/sharedCopies.ts'
import { FeedbackReconciler } from '../feedback/feedbackReconciler.ts'
import type { OwnershipRules } from '../mailboxes/copyOwnership.ts'
import { explainedClient } from '../mailboxes/explainedClient.ts'
import { TaskRouter } from '../taskRouter.ts'
import type { CopyParts, Parts, Setup } from './parts.ts'

/** Made last: copies need mailboxes, and all that comes before these. */
export function copyParts(setup: Setup, parts: Parts): CopyParts {
  const { places, turns, clock, events } = setup
  const {
    inventory,
    join,
    queue,
    inHand,
    consents,
    cache,
    sources,
    unschedulable,
    brake,
    pauses,
    retained,
    mailboxes,
    readiness,
    remarks,
  } = parts
  const known = (name: string) => mailboxes.known(name)
  const rules: OwnershipRules = {
    isReleased: (mailbox, space) =>
      inventory.target(mailbox)?.releases.some(reference => rules.isSpace(reference, space)) === true,
    isSpace: (reference, space) => reference === space || places.pathOf(space) === reference,
  }
  const client = explainedClient(setup.client, {
    join,
    places,
    cameFrom: (mailbox, key) => mailboxes.get(mailbox)?.copies.get(key)?.owner,
  })
  const isGoneFrom = (space: string, key: string) =>
    standsInMailbox(places, space) === true || (parts.workloads.isSynced(space) && join.fact(space, key) === undefined)
  const facts: DecisionFacts = {
    join,
    rules,
    pauses,
    isLeaving: mailbox => inventory.isLeaving(mailbox),
    isUnschedulable: (mailbox, key) => unschedulable.isUnschedulable(mailbox, key),
    isFollowed: space => parts.closing.isFollowed(space),
    isNeeded: (mailbox, key, copy) => isNeededThere({ join, isGoneFrom }, mailbox, key, copy),
  }
  const deps: CopyDeps = {
    client,
    facts,
    join,
    cache,
    sources,
    again: (mailbox, key) => queue.add(inHand.again(mailbox, key)),
    rules,
    brake,
    maySecure: source => {
      const { clusterScoped, isUncertain } = consents.allowance(source.space, source.location)
      return clusterScoped || (isUncertain ? undefined : false)
    },
    written: (mailbox, key) => mailboxes.written(mailbox, key),
    wrote: (...what) => mailboxes.wrote(...what),
    remarks,
    copyChanged: parts.signals.copyChanged,
    mailbox: name => (readiness.knowsMailbox(name) ? mailboxes.get(name) : undefined),
  }
  const making = new CopyMaking(deps)
  const notes = new CopyNotes(deps)
  const writer = new CopyWriter({ ...deps, clock })
  const copyChecks = new CopyChecks({ facts, remarks, making, notes })
  const converge = (...what: Parameters<CopyReconciler['reconcile']>) => copies.reconcile(...what)
  const sharedCopies = new SharedCopies({ facts, making, notes, writer })
  const removals = new CopyRemovals({ ...deps, notes, writer, converge })
  const copies: CopyReconciler = new CopyReconciler({ ...deps, making, notes, writer, removals })
  const feedback = new FeedbackReconciler({
    client,
    join,
    cache,
    kinds: parts.kinds,
    sources,
    mailbox: known,
    isKept: (...what) => retained.keeps(...what),
    remarks,
    events,
    withheld: parts.withheld,
    turns,
    clock,
  })
  const convergence = new Convergence({
    copies,
    copyChanged: parts.signals.copyChanged,
    add: task => queue.add(task),
    isReportAwaited: mailbox => parts.clusterReports.isAwaited(mailbox),
  })
  const router = new TaskRouter({
    client,
    join,
    mailboxes,
    readiness,
    facts,
    pendingCopies: parts.pendingCopies,
    convergence,
    records: parts.records,
    clusterReports: parts.clusterReports,
    feedback,
    reports: parts.reports,
    report: parts.report,
    brake,
    closing: parts.closing,
  })
  const together = new CopiesTogether({
    facts,
    remarks,
    sharedCopies,
    removals,
    mailbox: deps.mailbox,
    converged: copies => convergence.converged(copies),
  })
  return { facts, client, copyChecks, feedback, router, together }
}
