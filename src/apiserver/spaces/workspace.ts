/** What a stored Workspace says about its space. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { RecentlyOf } from '../../apimachinery/recentlyOf.ts'
import type { Stored } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'

export const WORKSPACE_FINALIZER = 'core.kcp.io/logicalcluster'
/** The creator's name and groups as JSON, set by admission. */
export const OWNER_ANNOTATION = 'experimental.tenancy.kcp.io/owner'

export interface WorkspaceView {
  /** Of its space; `''` when it has none. */
  id: string
  /** Id of the space that it is in. */
  parent: string
  name: string
  /** Name of the space's type. */
  type: string
  object: Readonly<KubeObject>
  phase: string
  deleting: boolean
}

/** What remains to be done for a space. */
export type SpaceWork = 'provision' | 'empty'

/** Who follows Workspaces, and whoever works for them, asks for the same ones soon after one another. */
const views = new RecentlyOf<Stored, WorkspaceView>({ entries: 512, weight: 1024 * 1024, of: () => 0 })

/** Nobody changes what this answers. */
export function viewOf(stored: Stored): Readonly<WorkspaceView> {
  const known = views.get(stored)
  if (known !== undefined) return known
  const view = readView(stored)
  views.set(stored, view)
  return view
}

function readView(stored: Stored): WorkspaceView {
  const object = decodeObject(stored)
  const spec = isRecord(object.spec) ? object.spec : {}
  const status = isRecord(object.status) ? object.status : {}
  return {
    id: typeof spec.cluster === 'string' ? spec.cluster : '',
    parent: stored.key.space,
    name: stored.key.name,
    type: isRecord(spec.type) && typeof spec.type.name === 'string' ? spec.type.name : '',
    object,
    phase: typeof status.phase === 'string' ? status.phase : '',
    deleting: object.metadata.deletionTimestamp !== undefined,
  }
}

export function workFor({ id, phase, deleting }: WorkspaceView): SpaceWork | undefined {
  if (id === '') return undefined
  if (deleting) return 'empty'
  return phase === 'Ready' ? undefined : 'provision'
}

/** `undefined` when the annotation does not tell a user: then nobody is made administrator of the space. */
export function ownerName({ object }: { object: Readonly<KubeObject> }): string | undefined {
  const text = object.metadata.annotations?.[OWNER_ANNOTATION]
  if (typeof text !== 'string') return undefined
  let owner: unknown
  try {
    owner = JSON.parse(text)
  } catch {
    return undefined
  }
  return isRecord(owner) && typeof owner.username === 'string' && owner.username !== '' ? owner.username : undefined
}
