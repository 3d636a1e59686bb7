/** Content of a stored Workspace about its space. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { RecentlyOf } from '../../apimachinery/recentlyOf.ts'
import { mentions } from '../../storage/sharedStored.ts'
import type { Stored } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'

export const WORKSPACE_FINALIZER = 'core.kcp.io/logicalcluster'
/** The creator's name and groups as JSON, set by admission. */
export const OWNER_ANNOTATION = 'experimental.tenancy.kcp.io/owner'

export interface WorkspaceView {
  /** Id of its space; `''` when it has none. */
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

/** Remaining work for a space. */
export type SpaceWork = 'provision' | 'empty'

/** Followers of Workspaces, and their workers, need the same ones soon after one another. */
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
  const status = isRecord(object.status) ? object.status : {}
  return {
    ...spaceIn(object.spec),
    parent: stored.key.space,
    name: stored.key.name,
    object,
    phase: typeof status.phase === 'string' ? status.phase : '',
    deleting: object.metadata.deletionTimestamp !== undefined,
  }
}

/** Glance at one of many Workspaces, without an expected second read. */
export interface WorkspaceGlance extends Pick<WorkspaceView, 'id' | 'parent' | 'name' | 'type' | 'deleting'> {
  /** At least those that tell a budget, where there are any. */
  annotations: Readonly<Record<string, unknown>> | undefined
}

/** Keeps nothing, and parses no metadata where they say nothing of it: they are the greater part of the text. */
export function glanceAt(stored: Stored): WorkspaceGlance {
  const { space: parent, name } = stored.key
  const isPlain = !mentions(stored, '"deletionTimestamp"') && !mentions(stored, BUDGET_MARK)
  const members = isPlain ? membersBehindMetadata(stored) : undefined
  if (members !== undefined) return { ...spaceIn(members.spec), parent, name, deleting: false, annotations: undefined }
  const { spec, metadata } = decodeObject(stored)
  const deleting = metadata.deletionTimestamp !== undefined
  return { ...spaceIn(spec), parent, name, deleting, annotations: metadata.annotations }
}

/** As {@link BUDGET_ANNOTATIONS} begin in a text. */
const BUDGET_MARK = '"tenancy.kcp.io/budget-'
/** How a canonical text goes on behind the digits of its revision, which end the metadata. */
const METADATA_END = '"},'

/** `undefined` where the text is another one than codec.ts writes. */
function membersBehindMetadata({ bytes, headBytes, revision }: Stored): Record<string, unknown> | undefined {
  const text = bytes.toString('utf8', headBytes + String(revision).length)
  return text.startsWith(METADATA_END) ? JSON.parse(`{${text.slice(METADATA_END.length)}`) : undefined
}

function spaceIn(value: unknown): Pick<WorkspaceView, 'id' | 'type'> {
  const spec = isRecord(value) ? value : {}
  return {
    id: typeof spec.cluster === 'string' ? spec.cluster : '',
    type: isRecord(spec.type) && typeof spec.type.name === 'string' ? spec.type.name : '',
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
