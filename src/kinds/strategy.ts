/**
 * Differences between kinds in the order of a write. The order itself is `createPreparation.ts` and `updatePreparation.ts`; a strategy is
 * small, pure and does no I/O. Objects are given already decoded, pruned and named; hooks change them in place.
 */
import type { FieldError } from '../apimachinery/fieldErrors.ts'
import type { KubeObject } from '../apimachinery/object.ts'
import type { Steps } from '../apimachinery/steps.ts'

/** The metadata that belongs to clients. */
export const CLIENT_METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const
export type ClientMetadata = (typeof CLIENT_METADATA)[number]

export interface Strategy {
  /**
   * Finishes decoding where the schema leaves the object open, in place. The first wrong type in words of Go's JSON package;
   * `undefined` when all is well.
   */
  decode?(object: KubeObject): Steps<string | undefined>
  /**
   * Puts what can only be written, and is never read, into the fields that are stored, in place. It runs before the requested values are
   * noted: these are among them. Idempotent.
   */
  takeIn?(object: KubeObject): void
  /** Fills what the user left out, as upstream's defaulting functions of the storage version do. Idempotent. */
  applyDefaults?(object: KubeObject): void
  /** Clears or sets what a client may not say at creation (status, allocated fields). Generation is done by the registry. */
  prepareForCreate?(object: KubeObject): void
  /** The same for updates of the main resource: carries over what only sub-resources may change. */
  prepareForUpdate?(object: KubeObject, old: KubeObject): void
  /** Effects of a deletion that begins at `now` (RFC 3339) on the object: finalizers that it waits for, conditions. */
  prepareForDelete?(object: KubeObject, now: string): void
  /** True when dependents stay, without their owner, if neither the deletion nor a finalizer says what becomes of them. */
  orphansByDefault?: boolean
  /** Upstream's warning (text of a `Warning` header) when a deletion leaves dependents to the default. */
  orphanWarning?: string
  /**
   * Errors of an object, metadata excluded, in upstream's words and order. `old` is what it replaces: what was there before
   * may stay where upstream lets it.
   */
  validate?(object: KubeObject, old?: KubeObject): FieldError[]
  /** The same, yielding between its steps, for kinds whose objects take long: large ones are judged in slices of the loop. */
  validateInSteps?(object: KubeObject, old?: KubeObject): Steps<FieldError[]>
  /** Errors of the change alone (immutable fields). `validate` runs too, before it. */
  validateUpdate?(object: KubeObject, old: KubeObject): FieldError[]
  /** Upstream's warnings (texts of `Warning` headers) when a valid object is created, or replaces `old`. */
  warnings?(object: KubeObject, old?: KubeObject): string[]
  /** Rules of further sub-resources (`resize`) that change a part of the object; of `status` only what is prepared. */
  subresources?: Readonly<Record<string, SubresourceStrategy>>
  /** Errors of an update of `/status`. */
  validateStatusUpdate?(object: KubeObject, old: KubeObject): FieldError[]
  /** True for kinds of our own whose creation may say the status. */
  createdWithStatus?: boolean
  /**
   * Metadata that `/status` leaves alone. Upstream's servers let it change the rest; default for Kubernetes' own kinds: none,
   * for all others: all.
   */
  statusKeeps?: readonly ClientMetadata[]
  /** How names of this kind must look. Default: DNS-1123 subdomain. */
  nameRule?: 'dns1123Subdomain' | 'dns1123Label' | 'dns1035Label' | 'pathSegment'
  /** Values for field selectors beside metadata.name and metadata.namespace; the keys are all that are allowed. */
  selectableFields?(object: KubeObject): Record<string, string>
  /** True when every change of the object raises `metadata.generation` (else: changes outside metadata and status do). */
  generationOnMetadata?: boolean
  /** True for kinds without `metadata.generation`. */
  noGeneration?: boolean
  /** True when an update without resourceVersion is refused, as most built-in kinds allow but some (leases, …) do not. */
  requireResourceVersion?: boolean
  /** True when PUT on a missing name creates it (leases, services' endpoints, events and such). */
  createOnUpdate?: boolean
}

export interface SubresourceStrategy {
  /** Takes back what the sub-resource does not change. */
  prepareForUpdate(object: KubeObject, old: KubeObject): void
  /** Errors of the change, in place of those of an update of the object itself. `validate` runs too, before it. */
  validateUpdate?(object: KubeObject, old: KubeObject): FieldError[]
  /** Leaves in an applied configuration what the sub-resource changes: nobody comes to own the rest through it. */
  narrow?(configuration: KubeObject): void
}
