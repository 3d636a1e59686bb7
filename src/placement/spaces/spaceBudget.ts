/** How much a space, with all spaces below it, may hold: what its type says, unless its Workspace says otherwise. Pure. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import type { GroupResource } from '../../apimachinery/object.ts'
import { formatQuantity, parseQuantity, QUANTITY_SHAPE_MESSAGE, quantityValue } from '../../apimachinery/quantity.ts'
import { CRDS, LOGICAL_CLUSTERS, WORKSPACES } from '../../apimachinery/resources.ts'
import {
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  LOCATIONS,
  PLACEMENT_CONTENTS,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
  SLICES,
  SYNC_TARGETS,
} from '../words/placement.ts'
import { isFirstContent } from './firstContent.ts'

/** Absent: as much as the server can hold. */
export interface SpaceBudget {
  readonly objects?: number
  readonly bytes?: number
  /** Clusters: the server keeps a mailbox for each. */
  readonly syncTargets?: number
  /** Share of these that a syncer carried up from its cluster. */
  readonly carriedObjects?: number
  readonly carriedBytes?: number
}

export type Measure = keyof SpaceBudget

/** Quantities of a Workspace, such as `50k` and `2Gi`, that replace those of its type. */
export const BUDGET_ANNOTATIONS: Readonly<Record<Measure, string>> = {
  objects: 'tenancy.kcp.io/budget-objects',
  bytes: 'tenancy.kcp.io/budget-bytes',
  syncTargets: 'tenancy.kcp.io/budget-synctargets',
  carriedObjects: 'tenancy.kcp.io/budget-upsynced-objects',
  carriedBytes: 'tenancy.kcp.io/budget-upsynced-bytes',
}

export const DEFAULT_SPACE_OBJECTS = 200_000
export const DEFAULT_SPACE_BYTES = 1024 * 1024 * 1024
/** A fleet of ten thousand, each with a Location, fits in these objects and bytes. */
export const DEFAULT_SYNC_TARGETS = 11_000
export const DEFAULT_UPSYNCED_OBJECTS = 20_000
export const DEFAULT_UPSYNCED_BYTES = 256 * 1024 * 1024
/** Counted for each Workspace, beside its own text: what a space costs that holds nothing yet. */
export const WORKSPACE_OVERHEAD_BYTES = 20 * 1024
/** Counted for each SyncTarget, beside itself: its mailbox in the core space, with a syncer that is connected. */
export const MAILBOX_OVERHEAD_BYTES = 60 * 1024
export const MAILBOX_OVERHEAD_OBJECTS = 17
/** Memory of a CustomResourceDefinition, relative to its size: its kinds with their schemas, compiled once an object is written. */
export const DEFINITION_TIMES = 4
/** Selectors and tests, compiled by each controller that follows them. */
export const PLACEMENT_TIMES = 9
/** Expressions of policies and of webhooks' conditions, compiled. */
export const POLICY_TIMES = 9
export const WEBHOOK_TIMES = 4
/** Quantities and names of many resources, parsed. */
export const QUOTA_TIMES = 4
/** The part of its bytes by which a space may pass its budget with updates: of states, leases, finalizers. */
export const UPDATE_RESERVE = 0.1
/** A Workspace or SyncTarget may always be updated while its text is this part of its weight beside that: its status goes on. */
export const ALWAYS_UPDATED = 0.5
/** By how much a step of an object's removal may lengthen its text although there is no room: by the mark of the deletion. */
export const REMOVAL_BYTES = 16 * 1024

/** The reason of a cause, in the refusal of a write that would pass a budget. */
export const BUDGET_EXCEEDED = 'BudgetExceeded'

const UNBOUNDED: SpaceBudget = {}
const DEFAULT: SpaceBudget = {
  objects: DEFAULT_SPACE_OBJECTS,
  bytes: DEFAULT_SPACE_BYTES,
  syncTargets: DEFAULT_SYNC_TARGETS,
}
const MAILBOX: SpaceBudget = {
  ...DEFAULT,
  carriedObjects: DEFAULT_UPSYNCED_OBJECTS,
  carriedBytes: DEFAULT_UPSYNCED_BYTES,
}

/** The weight of each object of a kind in a budget. */
export interface Weight {
  /** How often its text counts. */
  readonly times: number
  /** Beside its text and itself. */
  readonly bytes: number
  readonly objects: number
  readonly syncTargets: number
  /** Spaces that come with it. */
  readonly spaces: number
}

const PLAIN: Weight = { times: 1, bytes: 0, objects: 0, syncTargets: 0, spaces: 0 }
const ADMISSION = 'admissionregistration.k8s.io'
/** Kinds whose objects cost the server more memory than their text. */
const WEIGHTS: readonly (readonly [GroupResource, Partial<Weight>])[] = [
  [WORKSPACES, { bytes: WORKSPACE_OVERHEAD_BYTES, spaces: 1 }],
  [SYNC_TARGETS, { bytes: MAILBOX_OVERHEAD_BYTES, objects: MAILBOX_OVERHEAD_OBJECTS, syncTargets: 1, spaces: 1 }],
  [CRDS, { times: DEFINITION_TIMES }],
  [EDGE_PLACEMENTS, { times: PLACEMENT_TIMES }],
  [LOCATIONS, { times: PLACEMENT_TIMES }],
  [{ group: ADMISSION, resource: 'validatingadmissionpolicies' }, { times: POLICY_TIMES }],
  [{ group: ADMISSION, resource: 'mutatingadmissionpolicies' }, { times: POLICY_TIMES }],
  [{ group: ADMISSION, resource: 'validatingwebhookconfigurations' }, { times: WEBHOOK_TIMES }],
  [{ group: ADMISSION, resource: 'mutatingwebhookconfigurations' }, { times: WEBHOOK_TIMES }],
  [{ group: '', resource: 'resourcequotas' }, { times: QUOTA_TIMES }],
  [{ group: '', resource: 'limitranges' }, { times: QUOTA_TIMES }],
]
const BY_RESOURCE: ReadonlyMap<string, Weight & Pick<GroupResource, 'group'>> = new Map(
  WEIGHTS.map(([{ group, resource }, weight]) => [resource, { ...PLAIN, ...weight, group }]),
)

export function weightOf({ group, resource }: GroupResource): Weight {
  const weight = BY_RESOURCE.get(resource)
  return weight?.group === group ? weight : PLAIN
}

/** Kinds that the server makes of what others made: without them it neither goes on nor heals. Users need certificates to make room. */
const OF_SERVER: readonly GroupResource[] = [
  SLICES,
  GRANTED_LOCATIONS,
  PLACEMENT_REVISIONS,
  PLACEMENT_CONTENTS,
  PLACEMENT_ROLLOUTS,
  LOGICAL_CLUSTERS,
  { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' },
  { group: 'coordination.k8s.io', resource: 'leases' },
  { group: '', resource: 'events' },
]

/** Whether a server that is full takes it all the same. */
export function isOfServer(key: GroupResource & { readonly name: string }): boolean {
  return isFirstContent(key) || OF_SERVER.some(one => one.resource === key.resource && one.group === key.group)
}

/** Budget of a space of a type. The core space holds the mailboxes, which have budgets of their own. */
export function defaultBudget(type: string): SpaceBudget {
  return type === 'core' ? UNBOUNDED : type === 'mailbox' ? MAILBOX : DEFAULT
}

/** `type` as the Workspace names it. A malformed annotation counts as absent. */
export function budgetOf(type: string, annotations: Readonly<Record<string, unknown>> | undefined): SpaceBudget {
  const own = defaultBudget(type)
  if (annotations === undefined) return own
  const declared: Partial<Record<Measure, number>> = {}
  for (const measure of MEASURES) {
    const value = amountOf(annotations[BUDGET_ANNOTATIONS[measure]])
    if (value !== undefined) declared[measure] = value
  }
  return Object.keys(declared).length === 0 ? own : { ...own, ...declared }
}

/** Faults of the annotations of a Workspace. */
export function budgetErrors(annotations: Readonly<Record<string, unknown>> = {}): FieldError[] {
  return MEASURES.flatMap(measure => {
    const name = BUDGET_ANNOTATIONS[measure]
    const text = annotations[name]
    if (text === undefined || amountOf(text) !== undefined) return []
    const isQuantity = typeof text === 'string' && parseQuantity(text) !== undefined
    const why = isQuantity
      ? 'must be a whole number of 0 or more, such as 50k or 2Gi'
      : `${QUANTITY_SHAPE_MESSAGE}: a whole number such as 50k or 2Gi`
    return [fieldError.invalid(`metadata.annotations[${name}]`, text, why)]
  })
}

/** Annotations that are named nearly as those of budgets are, and say nothing. */
export function misspeltBudgets(annotations: Readonly<Record<string, unknown>> = {}): string[] {
  return Object.keys(annotations).filter(name => name.startsWith(PREFIX) && !NAMES.has(name))
}

/** Fault of one of those. */
export function misspeltError(name: string): FieldError {
  const why = `says nothing of a budget; there are ${[...NAMES].join(', ')}`
  return fieldError.forbidden(`metadata.annotations[${name}]`, why)
}

/** How they all begin. */
const PREFIX = 'tenancy.kcp.io/budget'
const NAMES: ReadonlySet<string> = new Set(Object.values(BUDGET_ANNOTATIONS))

export const MEASURES = Object.keys(BUDGET_ANNOTATIONS) as readonly Measure[]

/** Bytes with a binary suffix where that is shorter and as exact. */
export function bytesText(bytes: number): string {
  return formatQuantity({ nanos: BigInt(Math.round(bytes)) * NANO, format: 'BinarySI' })
}

const NANO = 1_000_000_000n

function amountOf(text: unknown): number | undefined {
  const quantity = typeof text === 'string' ? parseQuantity(text) : undefined
  if (quantity === undefined || quantity.nanos < 0n || quantity.nanos % NANO !== 0n) return undefined
  const value = quantityValue(quantity)
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value)
}
