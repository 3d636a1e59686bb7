/** `orrery restore status` and `settle`: clusters may hold what an archive does not know; it stays there until somebody decides. */

import { at, str, strings } from '../../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { CLUSTER_ANNOTATION } from '../../../apimachinery/resources.ts'
import { RESTORATION_PATH } from '../../../apiserver/backup/restorationPath.ts'
import { listAll } from '../../../client/listWatch.ts'
import { SYNC_TARGETS } from '../../../placement/words/placement.ts'
import { askServer, type Session, withSession } from '../../shell/session/session.ts'
import { type Host, printFound } from '../host.ts'

interface Restored {
  readonly takenAt: string
  readonly restoredAt: string
}

interface Cluster {
  readonly space: string
  readonly syncTarget: string
  /** Whether its syncer has reported since the restore; else nobody knows yet. */
  readonly reporting: boolean
  readonly objects: number
  readonly examples: readonly string[]
  readonly message: string
}

/** Exit code 1 while anything is held or unknown. */
export async function restoreStatus(settings: Record<string, unknown>, host: Host): Promise<number> {
  return await withSession(settings, async session => {
    const { restored, open } = await look(session)
    const found = { kind: 'RestoreStatus', restored: restored ?? null, clusters: open }
    await printFound(
      settings,
      [aboutRestore(restored), ...open.flatMap(linesOf), ...advice(restored, open)],
      found,
      host,
    )
    return open.length > 0 ? 1 : 0
  })
}

/** The clusters that hold objects, or have not reported since the restore. */
async function look(session: Session): Promise<{ restored: Restored | undefined; open: Cluster[] }> {
  const restored = await restoreReport(session, 'GET')
  const all = session.client.in('*')
  const { items } = await listAll(all, SYNC_TARGETS, { limit: 500 }, item => clusterOf(item, restored))
  const open = items.filter(({ objects, reporting }) => objects > 0 || (restored !== undefined && !reporting))
  return { restored, open }
}

/** @throws Error while anything is held or unknown, unless the settings accept that */
export async function settleRestore(settings: Record<string, unknown>, host: Host): Promise<number> {
  return await withSession(settings, async session => {
    const { restored: unsettled, open } = await look(session)
    if (unsettled !== undefined && open.length > 0 && settings.anyway !== true)
      throw new Error(
        `${open.length} clusters hold objects or have not reported: "orrery restore status" lists them; --anyway settles all the same, ` +
          'and then a syncer without a state may remove objects that the archive does not know',
      )
    const restored = await restoreReport(session, 'DELETE')
    const line =
      restored === undefined
        ? 'there is no restore to settle'
        : `settled the restore of ${restored.restoredAt}; objects that clusters hold stay until their owners confirm`
    await printFound(settings, [line], { kind: 'RestoreSettled', restored: restored ?? null }, host)
    return 0
  })
}

async function restoreReport(session: Session, method: 'GET' | 'DELETE'): Promise<Restored | undefined> {
  const restored = at(await askServer(session, { method, path: RESTORATION_PATH }), 'restored')
  return isRecord(restored) ? { takenAt: str(restored, 'takenAt'), restoredAt: str(restored, 'restoredAt') } : undefined
}

function clusterOf({ metadata, status }: KubeObject, restored: Restored | undefined): Cluster {
  const held = at(status, 'outcome', 'heldDeletions')
  // the archive brought words of its own time
  const isOfNow = restored === undefined || str(status, 'outcome', 'sinceRestore') === restored.restoredAt
  return {
    space: metadata.annotations?.[CLUSTER_ANNOTATION] ?? '',
    syncTarget: metadata.name ?? '',
    reporting: isOfNow && at(status, 'outcome', 'reporting') === true,
    objects: Number(at(held, 'objects') ?? 0),
    examples: strings(at(held, 'examples')),
    message: str(held, 'message'),
  }
}

function aboutRestore(restored: Restored | undefined): string {
  return restored === undefined
    ? 'no restore is unsettled'
    : `restored ${restored.restoredAt} from an archive of ${restored.takenAt}: clusters keep what it does not know`
}

function linesOf({ space, syncTarget, reporting, objects, examples, message }: Cluster): string[] {
  const name = `${syncTarget} (${space})`
  const more = objects > examples.length ? ', …' : ''
  if (objects === 0) return [`${name}: unknown, its syncer has not reported since the restore`]
  return [
    `${name}: holds ${objects}: ${examples.join(', ')}${more}${reporting ? '' : ' (its syncer has not reported since)'}`,
    `  ${message}`,
  ]
}

function advice(restored: Restored | undefined, open: readonly Cluster[]): string[] {
  if (restored === undefined) return []
  if (open.length === 0) return ['nothing is held, and all syncers report: "orrery restore settle" ends this state']
  return [
    'make again in its space what shall stay, or confirm in the cluster what shall go; then "orrery restore settle" ends this state',
  ]
}
