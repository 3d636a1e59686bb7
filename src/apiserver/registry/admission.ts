/** The contract between the registry and the checks and changes that stand between a request and the store. */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Stored } from '../../storage/store.ts'
import type { UserInfo } from '../auth/types.ts'
import type { WriteContext } from './context.ts'

/**
 * When a step runs, in this order. `gate`: before anything is done, changes nothing. `mutate`: on the decoded and defaulted
 * object, before the strategy prepares it; may run twice (see {@link MutationRounds}). `prepare` (the default): where the
 * server adds what only it may say. `validate`: on the object as it is going to be stored; changes nothing.
 */
export type AdmissionStage = 'gate' | 'mutate' | 'prepare' | 'validate'
export const ADMISSION_STAGES: readonly AdmissionStage[] = ['gate', 'mutate', 'prepare', 'validate']

type Operation = AdmissionRequest['operation']

/** A check or change by the server on the way to the store. May throw StatusError to refuse. */
export interface Admission {
  readonly stage?: AdmissionStage
  /** The requests that may concern it, from any user and anywhere: it is called once. `type` is the version of the request. */
  handles(type: ResourceType, operation: Operation, subresource: string): boolean
  /** Whether it concerns one of these; asynchronous steps elsewhere must not slow writes down. Absent: all of them. */
  reaches?(target: AdmissionTarget, type: ResourceType, operation: Operation): boolean
  /** Whether an update as it stands concerns the step: synchronous and cheap. Absent: every one does. */
  concerns?(request: Pick<AdmissionRequest, 'object' | 'old' | 'context'>): boolean
  /**
   * Its verdict on one creation holds for all of that kind in that place. It looks at space and namespace alone, changes nothing, and waits
   * for nothing but the store's memory. One call serves many.
   */
  readonly judgesPlaces?: true
  /** A `mutate` step that adds what every cluster adds for itself: its values do not travel. */
  readonly fillsIn?: true
  admit(request: AdmissionRequest): void | Promise<void>
}
/** Facts about a request before its object. */
export interface AdmissionTarget {
  /** Logical-cluster id. */
  space: string
  /** `''` for cluster-scoped objects. */
  namespace: string
  subresource: string
  user: UserInfo
  /** The created object is answered or acted upon, never stored: it counts for nothing. */
  unstored?: true
}
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE'
  context: WriteContext
  /** Storage version for CREATE, else the version of the request. */
  type: ResourceType
  /** The version of the request. */
  requestType: ResourceType
  /** `''`, `status`, `scale`, … */
  subresource: string
  /** In the storage version. May be changed for CREATE and UPDATE. */
  object: KubeObject
  old: KubeObject | undefined
  /** The caller's options: CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  options: Record<string, unknown>
  /** The sub-resource is an object of its own (`scale`) that shows a part of this one. */
  view?: SubresourceView
  /** For `mutate` steps. */
  rounds?: MutationRounds
  /** Outcome of a write; absent where nothing is stored as it is sent, and for DELETE. */
  outcome?: Outcome
}

/** Tells steps that took something for a write what became of it. */
export class Outcome {
  readonly #listeners: ((stored: Stored | undefined) => void)[] = []

  /** Called once, when the write is over: with what was stored, or with nothing if nothing was. */
  onSettled(listener: (stored: Stored | undefined) => void): void {
    this.#listeners.push(listener)
  }

  settle(stored: Stored | undefined): void {
    if (this.#listeners.length > 0) for (const listener of this.#listeners.splice(0)) listener(stored)
  }
}
interface MutationRounds {
  /** 1, or 2 after a step requested it. */
  readonly round: number
  /** Steps that keep something between the rounds keep it here, under themselves. */
  readonly memory: Map<object, unknown>
  /** Has the steps run once more after this round; asking in round 2 changes nothing. */
  runAgain(): void
  /** Brings a changed object into shape: unknown fields go, defaults come. @throws Error when a field has the wrong type */
  settle(object: KubeObject): void
}
/** A sub-resource as an object of its own kind. */
export interface SubresourceView {
  group: string
  version: string
  kind: string
  of(object: KubeObject): KubeObject
  /** Writes a changed view into its object. */
  into(object: KubeObject, view: KubeObject): void
}

/** The steps that may concern requests, by operation and sub-resource. */
type Handled = Map<Operation, Map<string, readonly Admission[]>>
const handledBy = new WeakMap<readonly Admission[], WeakMap<ResourceType, Handled>>()

/** The steps that a request passes, in their order. `admission` never changes; a definition that does is another type. */
export function stepsFor(
  admission: readonly Admission[],
  type: ResourceType,
  operation: Operation,
  target: AdmissionTarget,
): readonly Admission[] {
  const mayPass = handled(admission, type, operation, target.subresource)
  return mayPass.filter(step => step.reaches === undefined || step.reaches(target, type, operation))
}

function handled(
  admission: readonly Admission[],
  type: ResourceType,
  operation: Operation,
  subresource: string,
): readonly Admission[] {
  const byType = handledBy.get(admission) ?? new WeakMap<ResourceType, Handled>()
  const known: Handled = byType.get(type) ?? new Map()
  const ofOperation = known.get(operation) ?? new Map<string, readonly Admission[]>()
  const steps = ofOperation.get(subresource)
  if (steps !== undefined) return steps
  const found = admission.filter(step => step.handles(type, operation, subresource))
  handledBy.set(admission, byType.set(type, known.set(operation, ofOperation.set(subresource, found))))
  return found
}

/** A promise only where a step has to wait. @throws StatusError of the step that refuses, also by the promise */
export function runStage(
  steps: readonly Admission[],
  stage: AdmissionStage,
  request: AdmissionRequest,
): Promise<void> | undefined {
  for (let at = 0; at < steps.length; at++) {
    const step = steps[at]!
    const admitted = (step.stage ?? 'prepare') === stage ? step.admit(request) : undefined
    if (admitted) return admitted.then(() => runStage(steps.slice(at + 1), stage, request))
  }
  return undefined
}

/** The `mutate` steps, and once more when one of them asks for it. `turn`: called before each, and at the end. */
export async function runMutations(
  steps: readonly Admission[],
  request: AdmissionRequest,
  settle: MutationRounds['settle'],
  turn?: (next: Admission | undefined) => void,
): Promise<void> {
  const mutations = steps.filter(({ stage }) => stage === 'mutate')
  const memory = new Map<object, unknown>()
  let again = true
  for (let round = 1; again && round <= 2; round++) {
    again = false
    const runAgain = (): void => {
      again = true
    }
    const inRound = { ...request, rounds: { round, memory, runAgain, settle } }
    for (const step of mutations) {
      turn?.(step)
      await step.admit(inRound)
    }
  }
  turn?.(undefined)
}

/** The caller's options as an object, as admission shows them. */
export function optionsOf(kind: string, context: WriteContext, more?: object): Record<string, unknown> {
  const options: Record<string, unknown> = { kind, apiVersion: 'meta.k8s.io/v1' }
  if (context.dryRun) options.dryRun = ['All']
  if (kind !== 'DeleteOptions') {
    options.fieldManager = context.fieldManager
    if (context.fieldValidation !== 'Warn') options.fieldValidation = context.fieldValidation
  }
  return more === undefined ? options : Object.assign(options, more)
}
