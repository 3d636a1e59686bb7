/** Parts that take in streams: topology, workloads and mailboxes; and the readiness that follows from them. */

import { WORKSPACES } from '../../../apimachinery/resources.ts'
import { StreamSource } from '../../../client/streamSource.ts'
import {
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  MAILBOX_PARENT,
  PLACEMENT_GRANTS,
  SLICES,
  STATUS_COLLECTORS,
  SYNC_TARGETS,
} from '../../../placement/words/placement.ts'
import { PlacedSource } from '../../placedSource.ts'
import { SourceReader } from '../copies/sourceReader.ts'
import { ServedKinds } from '../inventory/servedKinds.ts'
import { ObjectCache } from '../join/objectCache.ts'
import { Readiness } from '../join/readiness.ts'
import { SpaceClosing } from '../join/spaceClosing.ts'
import { taskId } from '../join/task.ts'
import { Workloads } from '../join/workloads.ts'
import { CopiesInHand } from '../mailboxes/copiesInHand.ts'
import { newStageTimes } from '../mailboxes/copyTimings.ts'
import { MailboxChecks } from '../mailboxes/mailboxChecks.ts'
import { contentKeys, contentTasks } from '../mailboxes/mailboxContent.ts'
import { Mailboxes } from '../mailboxes/mailboxes.ts'
import { UnschedulableMailboxes } from '../mailboxes/unschedulableMailboxes.ts'
import { UpsyncRecords } from '../mailboxes/upsyncRecords.ts'
import { mailboxListener } from '../mailboxListener.ts'
import { keyOf, TopologyIntake } from '../topologyIntake.ts'
import type { MailboxParts, Parts, Setup } from './parts.ts'

/** Owner of tasks from checks of mailboxes: it takes turns with the spaces, whose changes name copies. */
const MAILBOXES = 'mailboxes'
/** Owner of checks of mailboxes: it takes turns with the streams that feed them. */
const CHECKS = 'checks of mailboxes'
/** Whole objects kept at hand; the rest is read again when needed. */
const CACHED_OBJECTS = 2000

/** Made after {@link retentionParts}. */
export function mailboxParts(setup: Setup, parts: Parts): MailboxParts {
  const { client, places, guard, turns, logger, clock, common, signal, writtenAtMs, schema } = setup
  const { signals, inventory, join, queue, consents, brake, pauses, intakes, naming, report, pendingCopies } = parts
  const kinds = new ServedKinds(client)
  const stages = newStageTimes()
  const records = new UpsyncRecords(client, (mailbox, key) => queue.add({ type: 'asked', mailbox, key }))
  const cache = new ObjectCache(CACHED_OBJECTS)
  const workloads: Workloads = new Workloads({
    ...common,
    signal,
    cache,
    workload: space => join.workload(space),
    waits: (space, objects) => intakes.ofSpace(space, objects),
    synced: space => {
      pendingCopies.release(space)
      readiness.release()
      brake.release()
      closing.closeIfIdle(space)
    },
    gone: (space, key, byName) => brake.sourceGone(space, key, byName),
    came: (space, key) => brake.sourceCame(space, key),
    selected: revision => {
      const atMs = writtenAtMs(revision)
      if (atMs !== undefined) stages.selected.add(Math.max(0, clock.now() - atMs) / 1000)
    },
    pauseChanged: (space, key) => {
      for (const name of join.placementNames(space)) report(space, name)
      for (const { name } of mailboxes.all()) queue.addAll(inHand.ownedBy(space, [name], key), space)
    },
    namespaceGoing: (space, namespace) =>
      brake.namespaceGoing(space, namespace, join.workload(space).inNamespace(namespace)),
    changed: (space, key) => {
      if (key) queue.add({ type: 'source', space, key })
      closing.closeIfIdle(space)
    },
    seen: (space, ref, revision) => join.observed.seen(space, keyOf(ref), revision),
    kindsChanged: space => kinds.forget(space),
  })
  const listener = mailboxListener({
    add: task => queue.add(task),
    addAll: (tasks, owner) => queue.addAll(naming(owner, tasks), owner),
    look: mailbox => checks.ask(mailbox),
    join,
    mailbox: name => mailboxes.get(name),
  })
  const synced = (name: string) => {
    const mailbox = mailboxes.get(name)
    if (mailbox) unschedulable.opened(mailbox)
    listener.synced(name)
    readiness.moreIsKnown()
  }
  const mailboxes: Mailboxes = new Mailboxes(
    {
      ...common,
      signal,
      cache,
      stages,
      waits: (mailbox, objects) => intakes.ofMailbox(mailbox, objects),
      closed: mailbox => parts.remarks.forget(mailbox),
    },
    { ...listener, synced },
    signals,
  )
  const inHand = new CopiesInHand(join, mailboxes)
  const readiness: Readiness = new Readiness({
    join,
    workloads,
    topology: () => topology,
    mailboxes: () => mailboxes.all(),
    addAll: tasks => queue.addAll(tasks),
    released: () => checks.release(),
    startIsWhole: () => {
      // also where nobody has anything to be judged: copies of the start are looked at now
      queue.add({ type: 'judge', space: '' })
      brake.release()
    },
  })
  const content = { join, mailbox: (name: string) => mailboxes.get(name) }
  const checks: MailboxChecks = new MailboxChecks({
    work: turns.begin({ owner: CHECKS }),
    mailbox: content.mailbox,
    knows: mailbox => readiness.knowsMailbox(mailbox),
    keys: mailbox => contentKeys(content, mailbox),
    isRight: (mailbox, key) =>
      guard?.suspects?.(() => taskId({ type: 'copy', mailbox: mailbox.name, key })) !== true &&
      parts.copyChecks.isRight(mailbox, key),
    found: (mailbox, keys) => queue.addAll(naming(mailbox, contentTasks(content, mailbox, keys)), MAILBOXES),
    done: () => mailboxes.looked(),
    failed: (mailbox, error) => logger.error({ mailbox, err: error }, 'not all of a mailbox could be looked at'),
  })
  const closing: SpaceClosing = new SpaceClosing({
    join,
    workloads,
    places,
    isPending: space => brake.isPending(space),
    // behind all that the space's changes have named
    ask: space => {
      pendingCopies.settle(space)
      queue.addAll([{ type: 'close', space }], space)
    },
  })
  const unschedulable = new UnschedulableMailboxes(mailbox => mailboxes.known(mailbox)?.space)
  const { remarks, reports, collectors } = parts
  const intake = new TopologyIntake({
    signals,
    inventory,
    consents,
    join,
    queue,
    pauses,
    brake,
    unschedulable,
    mailboxes,
    listener,
    inHand,
    workloads,
    closing,
    readiness,
    intakes,
    remarks,
    reports,
    collectors,
  })
  const sources = new SourceReader({
    client,
    cache,
    turns,
    location: (cluster, name) => inventory.location(cluster, name),
    customizer: (space, reference) => intake.customizer(space, reference),
    schema,
  })
  const topology: PlacedSource = new PlacedSource({
    ...common,
    places,
    space: '*',
    resources: [
      ...[EDGE_PLACEMENTS, SLICES, LOCATIONS, SYNC_TARGETS, CUSTOMIZERS, INVENTORY_BINDINGS, PLACEMENT_GRANTS],
      STATUS_COLLECTORS,
    ],
    handler: intake,
  })
  const workspaces = new StreamSource({
    ...common,
    space: MAILBOX_PARENT,
    resources: [WORKSPACES],
    handler: {
      change: event => {
        mailboxes.workspaceChanged(event)
        readiness.moreIsKnown()
      },
      vanished: ref => mailboxes.close(ref.name),
      synced: () => readiness.workspacesAreWhole(),
    },
  })
  return {
    records,
    cache,
    kinds,
    stages,
    workloads,
    listener,
    mailboxes,
    inHand,
    readiness,
    checks,
    closing,
    unschedulable,
    intake,
    sources,
    topology,
    workspaces,
  }
}
